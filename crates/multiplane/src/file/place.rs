//! Places of files to be written: links, devices and pipes, and temporary files of writers that are gone.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Links followed before a path counts as a circle.
const MOST_LINKS: usize = 40;

/// Returns what `path` leads to through all links, also where nothing is there yet: what is written goes there, and a
/// link stays a link.
///
/// # Errors
///
/// A link that leads in a circle; whatever the system says of one that cannot be read.
pub fn leads_to(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink()) {
            return Ok(fs::canonicalize(&path).unwrap_or(path));
        }
        path = directory_of(&path).join(fs::read_link(&path)?); // an absolute one stands for itself
    }
    Err(io::Error::other("it is a link that leads in a circle"))
}

/// Returns true if `path` is a device or a pipe, which a file must not replace.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

pub(super) fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.into(),
        _ => ".".into(),
    }
}

/// Finds out whether a device can be written. A pipe is not touched: opening it may wait, and closing it would be the
/// end of the file to its reader.
///
/// # Errors
///
/// Whatever the system says.
pub(super) fn check_special(path: &Path) -> io::Result<()> {
    if is_pipe(path) { Ok(()) } else { OpenOptions::new().write(true).open(path).map(drop) }
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_path: &Path) -> bool {
    false
}

/// Returns true if the process that wrote a temporary file is gone. This process's own number may be that of one before
/// it: what it writes itself is locked.
pub(super) fn is_gone(process: u32) -> bool {
    process == std::process::id() || !is_running(process)
}

#[cfg(unix)]
fn is_running(process: u32) -> bool {
    use nix::errno::Errno;
    let Ok(process) = i32::try_from(process) else { return false };
    // No signal is sent; 0 would mean our own group.
    process > 0 && nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), None) != Err(Errno::ESRCH)
}

#[cfg(not(unix))]
fn is_running(_process: u32) -> bool {
    false
}

/// The names in a directory, as far as it can be read. The standard library's list panics where it cannot be closed.
#[cfg(unix)]
pub(super) fn names_in(directory: &Path) -> Vec<OsString> {
    use nix::{dir::Dir, fcntl::OFlag, sys::stat::Mode};
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let list = Dir::open(directory, OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty());
    let entries = list.into_iter().flatten().map_while(Result::ok);
    entries.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned()).collect()
}

#[cfg(not(unix))]
pub(super) fn names_in(directory: &Path) -> Vec<OsString> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect()
}

/// Returns true if a writer may hold the lock of its temporary file. Without locks, it may.
#[cfg(unix)]
pub(super) fn is_locked(path: &Path) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()); // a pipe would be waited for
    !(is_file && fs::File::open(path).is_ok_and(|file| file.try_lock().is_ok()))
}

/// Returns false: locks keep readers away on this system, so there are none.
#[cfg(not(unix))]
pub(super) fn is_locked(_path: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Links to what is there, to what is not yet, from other folders; a circle is refused.
    #[test]
    fn links_are_followed_to_what_is_not_there() {
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

    /// This process is there, but its own leavings are not in use; a number that no process can have is free.
    #[test]
    fn processes_that_are_gone() {
        assert!(is_running(std::process::id()) && is_gone(std::process::id()));
        assert!(is_gone(u32::MAX) && is_gone(i32::MAX as u32));
        assert!(!is_gone(std::os::unix::process::parent_id()));
    }
}
