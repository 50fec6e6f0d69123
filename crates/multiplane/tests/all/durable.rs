//! Files that replace others: whole or not at all, where links lead, and devices.

use std::fs;
use std::path::Path;

use multiplane::{DurableFile, check_writable, durable_write, leads_to};

/// A file that is written in pieces appears when it is complete; nothing is left of one that is given up.
#[test]
fn pieces_appear_when_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("text");
    let names = || fs::read_dir(dir.path()).unwrap().count();
    durable_write(&path, b"old").unwrap();
    let begin = || {
        let mut file = DurableFile::create(&path).unwrap();
        [&b"n"[..], b"", b"ew"].iter().for_each(|piece| file.write(piece).unwrap());
        assert_eq!((fs::read(&path).unwrap(), names()), (b"old".to_vec(), 2));
        file
    };
    drop(begin());
    assert_eq!(names(), 1);
    begin().finish(None).unwrap();
    assert_eq!((fs::read(&path).unwrap(), names()), (b"new".to_vec(), 1));
}

/// A write replaces the old file and leaves nothing else behind; a failed one leaves the old file.
#[test]
fn replaces_or_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model");
    durable_write(&path, b"old").unwrap();
    durable_write(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    assert!(durable_write(&dir.path().join("missing/model"), b"x").is_err());
    assert!(check_writable(&path).is_ok() && fs::read(&path).unwrap() == b"new");
    assert!(check_writable(dir.path()).is_err());
    assert!(check_writable(&dir.path().join("missing/model")).is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// A device stays a device.
#[test]
fn devices_are_not_replaced() {
    let null = Path::new("/dev/null");
    durable_write(null, b"x").unwrap();
    check_writable(null).unwrap();
    assert!(!fs::metadata(null).unwrap().is_file());
    assert!(durable_write(Path::new("/dev/full"), b"x").is_err());
}

/// Links to what is there, to what is not yet, from other folders; a circle is refused.
#[cfg(unix)]
#[test]
fn links_are_followed_to_what_is_not_there() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    symlink("../target", at("sub/link")).unwrap();
    symlink("sub/link", at("first")).unwrap();
    assert_eq!(leads_to(&at("first")).unwrap(), at("sub/../target"));
    fs::write(at("target"), "x").unwrap();
    assert_eq!(leads_to(&at("first")).unwrap(), at("target").canonicalize().unwrap());
    assert_eq!(leads_to(&at("none")).unwrap(), at("none"));
    symlink("b", at("a")).unwrap();
    symlink("a", at("b")).unwrap();
    assert!(leads_to(&at("a")).unwrap_err().to_string().contains("circle"));
}
