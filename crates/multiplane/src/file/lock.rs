//! One writer at a time: a lock beside a file, which the system gives back when its holder dies.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The file that locks a checkpoint while it is written.
pub fn lock_path(target: &Path) -> PathBuf {
    let mut path = target.as_os_str().to_owned();
    path.push(".lock");
    path.into()
}

/// A lock that is held; dropping it gives it back and removes its file.
pub(crate) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of `target`, in the file beside it that ends in `.lock` and holds the number of the process. The
    /// lock is the system's: one left behind by a process that was killed is free. A link has the lock of its file.
    pub(crate) fn take(target: &Path) -> Result<Lock, Error> {
        let path = lock_path(&fs::canonicalize(target).unwrap_or_else(|_| target.into()));
        let refuse = |reason: &dyn std::fmt::Display| Error::input(format!("{}: {reason}", path.display()));
        // A holder removes the file when it leaves: then what we have locked is no longer there, and we try again.
        for _ in 0..100 {
            // Another's file behind a link would be written, and a pipe waited for.
            if fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file()) {
                return Err(refuse(&"this is in the place of the checkpoint's lock, but is no regular file: move it"));
            }
            let mut file = open(&path).map_err(|error| refuse(&format!("cannot be written: {error}")))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    let _ = file.read_to_string(&mut holder);
                    let holder = holder.trim();
                    return Err(Error::input(format!(
                        "{}: another process ({holder}) is writing this checkpoint",
                        target.display()
                    )));
                }
                // A file system without locks: better no lock than no training.
                Err(TryLockError::Error(_)) => {}
            }
            if is_at(&file, &path) {
                let mut content = String::new();
                if file.read_to_string(&mut content).is_err() || !(content.is_empty() || content.starts_with("pid ")) {
                    return Err(refuse(&"this file is in the place of the checkpoint's lock, but is none: move it"));
                }
                let _ = file
                    .set_len(0)
                    .and_then(|()| file.rewind())
                    .and_then(|()| writeln!(file, "pid {}", std::process::id())); // for messages only
                return Ok(Lock { path, _file: file });
            }
        }
        Err(refuse(&"cannot be locked: others come and go too fast"))
    }
}

/// Opens the file of a lock, which may be new; a link that came this moment is not followed.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK);
    }
    options.read(true).write(true).create(true).truncate(false).open(path)
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // one that stays blocks no other process
    }
}

/// Returns true if `path` still names `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |one: fs::Metadata, other: fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|one| fs::metadata(path).is_ok_and(|other| same(one, other)))
}

/// Returns true if `path` still names `file`: an open file cannot be removed here.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cannot hold it, it comes back, and a file left behind does not block.
    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("c");
        let lock = Lock::take(&target).unwrap();
        let refused = Lock::take(&target).err().unwrap().to_string();
        assert!(refused.contains(&format!("(pid {})", std::process::id())), "{refused}");
        drop(lock);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        #[cfg(unix)]
        {
            let link = dir.path().join("link");
            fs::write(&target, "").unwrap();
            std::os::unix::fs::symlink(&target, &link).unwrap();
            let _lock = Lock::take(&target).unwrap();
            assert!(Lock::take(&link).is_err(), "a link to a file that is written");
        }
        fs::write(dir.path().join("c.lock"), "pid 1\n").unwrap();
        drop(Lock::take(&target).unwrap());
        fs::write(dir.path().join("c.lock"), "somebody's data\n").unwrap();
        assert!(Lock::take(&target).err().unwrap().to_string().contains("move it"));
        assert_eq!(fs::read_to_string(dir.path().join("c.lock")).unwrap(), "somebody's data\n");
    }
}
