//! The only way to write a file that may replace another: the old content stays until the new one is safe.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Writes `bytes` to `path`: temporary file beside it, fsync, read back, rename, fsync of the directory. The mode follows
/// the umask. Whatever fails, `path` holds either its old content or all of the new one. Devices are written to
/// directly.
///
/// # Errors
///
/// Whatever the system says; then the old content is still there.
pub fn durable_write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    durable_replace(path, &[bytes], None, || Ok(()))
}

/// The same for content in several parts, which `check` has parsed as its reader would. What `path` held before moves to
/// `previous` where that is given; then there is a moment at which only `previous` exists.
pub(crate) fn durable_replace(
    path: &Path,
    parts: &[&[u8]],
    previous: Option<&Path>,
    check: impl FnOnce() -> Result<(), String>,
) -> io::Result<()> {
    check().map_err(|reason| io::Error::other(format!("it could not be read back: {reason}")))?;
    if is_special(path) {
        let mut device = OpenOptions::new().write(true).open(path)?;
        return parts.iter().try_for_each(|part| device.write_all(part));
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.into()); // a link stays a link to the new content
    let path = target.as_path();
    let (temporary, file) = create_beside(path)?;
    let mut written = fill(file, parts).and_then(|()| read_back(&temporary, parts));
    if let Some(previous) = previous {
        written = written.and_then(|()| fs::rename(path, previous));
    }
    let written = written.and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary); // the first error is the one to tell
    }
    written?;
    File::open(directory_of(path))?.sync_all()
}

/// Finds out whether `path` could be written, without touching what is there.
///
/// # Errors
///
/// Why it could not be written.
pub fn check_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    if is_special(path) {
        return OpenOptions::new().write(true).open(path).map(drop);
    }
    let (temporary, _) = create_beside(path)?;
    fs::remove_file(temporary)
}

/// Whether there is something at `path` that must not be replaced by a file: a device, a pipe.
pub(crate) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

pub(crate) fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.into(),
        _ => ".".into(),
    }
}

/// How the name of a temporary file ends.
const TEMPORARY: &str = ".tmp";

/// How the names of a file's temporary files begin.
fn prefix_of_temporaries(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Removes the temporary files of `path` that killed writers left behind. Nobody else may be writing there.
pub(crate) fn sweep(path: &Path) {
    let Some(name) = path.file_name() else { return };
    let prefix = prefix_of_temporaries(name);
    for entry in fs::read_dir(directory_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let middle = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        if middle.is_some_and(|rest| rest.ends_with(TEMPORARY.as_bytes()) && rest[0].is_ascii_digit()) {
            let _ = fs::remove_file(entry.path()); // what stays does no harm
        }
    }
}

/// A new file in the directory of `path`, with the mode that the umask gives.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    for attempt in 0..100 {
        let mut temporary = prefix_of_temporaries(name);
        temporary.push(format!("{}-{attempt}{TEMPORARY}", std::process::id()));
        let temporary = directory_of(path).join(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
            Ok(file) => return Ok((temporary, file)),
        }
    }
    Err(io::Error::other("no free name for a temporary file"))
}

fn fill(mut file: File, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.sync_all()
}

/// Holds what the file has against what was written: what its reader has checked is then what it will read.
fn read_back(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    let differs = || io::Error::other("what was written is not what is read back");
    for chunk in parts.iter().flat_map(|part| part.chunks(1 << 16)) {
        let read = &mut buffer[..chunk.len()];
        file.read_exact(read)?;
        if read != chunk {
            return Err(differs());
        }
    }
    if file.read(&mut buffer)? == 0 { Ok(()) } else { Err(differs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What its reader refuses does not replace anything, nor does what is not read back as it was written.
    #[test]
    fn what_cannot_be_read_back_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model");
        durable_write(&path, b"old").unwrap();
        let error = durable_replace(&path, &[b"new"], None, || Err("too long".into())).unwrap_err();
        assert!(error.to_string().contains("read back: too long"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        read_back(&path, &[b"o", b"", b"ld"]).unwrap();
        for other in [&[b"o".as_slice(), b"l"][..], &[b"old!"], &[b"o", b"lD"]] {
            assert!(read_back(&path, other).is_err(), "{other:?}");
        }
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

    /// A link stays a link; what it points to is replaced.
    #[test]
    #[cfg(unix)]
    fn links_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        durable_write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        durable_write(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
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
}
