//! The only way to write a file that may replace another: the old content stays until the new one is safe. Links,
//! devices and pipes stay what they are; temporary files of writers that are gone are removed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// Writes `bytes` to `path`: temporary file beside it, fsync, read back, rename, fsync of the directory. A new file's
/// mode follows the umask, one that is replaced hands its mode on. Whatever fails, `path` holds either its old content
/// or all of the new one. A link stays a link, also one to what is not there yet. Devices and pipes are written to
/// directly; a pipe that nobody reads is waited for.
///
/// # Errors
///
/// [`Error::Failed`] with whatever the system says; then the old content is still there.
pub fn durable_write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    durable_replace(path, &[bytes], None, || Ok(()))
        .map_err(|error| Error::failed(format!("{}: could not be written: {error}", path.display())))
}

/// The same for content in several parts, which `check` has parsed as its reader would. What `path` held before moves
/// to `previous` where that is given; then there is a moment at which only `previous` exists.
pub(crate) fn durable_replace(
    path: &Path,
    parts: &[&[u8]],
    previous: Option<&Path>,
    check: impl FnOnce() -> Result<(), String>,
) -> io::Result<()> {
    check().map_err(|reason| io::Error::other(format!("it could not be read back: {reason}")))?;
    let mut file = DurableFile::create(path)?;
    parts.iter().try_for_each(|part| file.write(part))?;
    file.finish(previous)
}

/// Temporary files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files that are being written, for a program that is about to exit without unwinding.
pub fn abandon_unfinished() {
    for path in &*UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) {
        let _ = fs::remove_file(path); // what stays does no harm
    }
}

/// A file that is written piece by piece, as [`durable_write`] does at once: without [`finish`](DurableFile::finish)
/// nothing of it is left, unless it is a device or a pipe.
pub struct DurableFile {
    file: File,
    target: PathBuf,
    /// Open until it is renamed: its lock says that it is in use. `None` of a device or a pipe.
    temporary: Option<PathBuf>,
    written: DefaultHasher,
}

impl DurableFile {
    /// Begins to write to `path`; a pipe is waited for until somebody reads it.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub fn create(path: &Path) -> io::Result<DurableFile> {
        let written = DefaultHasher::new();
        if is_special(path) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(DurableFile { file, target: path.into(), temporary: None, written });
        }
        let target = leads_to(path)?; // a link stays a link to the new content
        refuse_unwritable(&target)?;
        let (temporary, file) = create_beside(&target)?;
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(temporary.clone());
        Ok(DurableFile { file, target, temporary: Some(temporary), written })
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written.write(bytes);
        self.file.write_all(bytes)
    }

    /// Puts the file in its place, and what was there to `previous` where that is given.
    ///
    /// # Errors
    ///
    /// Whatever the system says; what was there before is still there.
    pub fn finish(mut self, previous: Option<&Path>) -> io::Result<()> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        self.file.sync_all()?;
        read_back(temporary, self.written.finish())?;
        if let Some(previous) = previous {
            fs::rename(&self.target, previous)?;
        }
        fs::rename(temporary, &self.target)?;
        self.forget();
        File::open(directory_of(&self.target))?.sync_all()
    }

    /// Returns the temporary file, which is ours no more.
    fn forget(&mut self) -> Option<PathBuf> {
        let temporary = self.temporary.take()?;
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != temporary);
        Some(temporary)
    }
}

impl Drop for DurableFile {
    fn drop(&mut self) {
        if let Some(temporary) = self.forget() {
            let _ = fs::remove_file(temporary); // the first error is the one to tell
        }
    }
}

/// Finds out whether `path` could be written, without touching what is there. On Unix, temporary files that killed
/// writers left beside it are removed.
///
/// # Errors
///
/// [`Error::Input`] with the reason why it cannot be written.
pub fn check_writable(path: &Path) -> Result<(), Error> {
    try_writing(path).map_err(|error| Error::input(format!("{}: cannot be written: {error}", path.display())))
}

fn try_writing(path: &Path) -> io::Result<()> {
    if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::Error::other("it is a directory"));
    }
    if is_special(path) {
        return check_special(path);
    }
    let target = leads_to(path)?;
    refuse_unwritable(&target)?;
    if cfg!(unix) {
        sweep(&target); // elsewhere only who holds a checkpoint's lock knows that no writer lives
    }
    let (temporary, _) = create_beside(&target)?;
    fs::remove_file(temporary)
}

/// Writing puts another file in the place of the old one, which asks the permission of the folder alone. The temporary
/// file's name may be allowed where a longer one is not.
fn refuse_unwritable(target: &Path) -> io::Result<()> {
    match fs::metadata(target) {
        Ok(found) if found.permissions().readonly() => Err(io::Error::other("it is there and read-only")),
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => Err(error),
        _ => Ok(()),
    }
}

/// The end of a temporary file's name.
const TEMPORARY: &str = ".tmp";

/// Returns the beginning of the names of a file's temporary files: a long name is cut, as systems allow 255 bytes.
fn prefix_of_temporaries(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    format!(".{}.", &name[..(0..=name.len().min(200)).rfind(|&end| name.is_char_boundary(end)).unwrap_or(0)])
}

/// Removes the temporary files of `path` that killed writers left behind; those of processes that live are left alone,
/// and on Unix all that cannot be locked: their writer may have a number of another machine's or container's processes.
pub(crate) fn sweep(path: &Path) {
    let Ok(path) = leads_to(path) else { return };
    let Some(name) = path.file_name() else { return };
    let (directory, prefix) = (directory_of(&path), prefix_of_temporaries(name));
    for name in names_in(&directory) {
        let rest = name.as_encoded_bytes().strip_prefix(prefix.as_bytes());
        let path = directory.join(&name);
        if rest.and_then(writer_of).is_some_and(is_gone) && !is_locked(&path) {
            let _ = fs::remove_file(path); // what stays does no harm
        }
    }
}

/// The process that the rest of a temporary file's name speaks of; `None` of names that are none.
fn writer_of(rest: &[u8]) -> Option<u32> {
    let (process, attempt) = std::str::from_utf8(rest).ok()?.strip_suffix(TEMPORARY)?.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(process) && is_number(attempt) { process.parse().ok() } else { None }
}

/// A new file in the directory of `path`, with the mode of what is there, else the one that the umask gives.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    let mode = fs::metadata(path).ok().filter(|meta| meta.is_file()).map(|meta| meta.permissions());
    for attempt in 0..100 {
        let temporary = format!("{}{}-{attempt}{TEMPORARY}", prefix_of_temporaries(name), std::process::id());
        let temporary = directory_of(path).join(temporary);
        match create_with(&temporary, mode.as_ref()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
            Ok(file) => {
                #[cfg(unix)]
                // elsewhere a mode says no more than whether a file may be written, and locks keep readers away
                {
                    let _ = file.try_lock(); // a file system without locks has its processes' numbers
                    if let Err(error) = mode.map_or(Ok(()), |mode| file.set_permissions(mode)) {
                        let _ = fs::remove_file(&temporary); // the first error is the one to tell
                        return Err(error);
                    }
                }
                return Ok((temporary, file));
            }
        }
    }
    Err(io::Error::other("no free name for a temporary file"))
}

/// Creates a file that at no time can be read by more people than `mode` says.
#[cfg_attr(not(unix), expect(unused_variables))]
fn create_with(path: &Path, mode: Option<&fs::Permissions>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    if let Some(mode) = mode {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(mode.mode() & 0o777);
    }
    options.write(true).create_new(true).open(path)
}

/// Holds what the file has against what was written: what its reader has checked is then what it will read.
fn read_back(path: &Path, written: u64) -> io::Result<()> {
    let (mut file, mut buffer, mut read) = (File::open(path)?, vec![0; 1 << 16], DefaultHasher::new());
    loop {
        match file.read(&mut buffer)? {
            0 if read.finish() == written => return Ok(()),
            0 => return Err(io::Error::other("what was written is not what is read back")),
            length => read.write(&buffer[..length]),
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Content that its reader refuses replaces nothing, nor does content that does not read back.
    #[test]
    fn what_cannot_be_read_back_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model");
        durable_write(&path, b"old").unwrap();
        let error = durable_replace(&path, &[b"new"], None, || Err("too long".into())).unwrap_err();
        assert!(error.to_string().contains("read back: too long"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let hash = |parts: &[&[u8]]| {
            let mut hasher = DefaultHasher::new();
            parts.iter().for_each(|part| hasher.write(part));
            hasher.finish()
        };
        read_back(&path, hash(&[b"o", b"", b"ld"])).unwrap();
        for other in [&[b"o".as_slice(), b"l"][..], &[b"old!"], &[b"o", b"lD"]] {
            assert!(read_back(&path, hash(other)).is_err(), "{other:?}");
        }
    }

    /// Only this file's leavings go, and only those of processes that are gone.
    #[test]
    #[cfg(unix)]
    fn sweeps_what_is_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let (gone, alive) = (i32::MAX, std::os::unix::process::parent_id());
        let kept =
            [format!(".run.1.{gone}-0.tmp"), format!(".run.{alive}-0.tmp"), ".run.7.tmp".into(), ".run.1-a.tmp".into()];
        let swept = [format!(".run.{gone}-0.tmp"), format!(".run.{gone}-12.tmp")];
        kept.iter().chain(&swept).for_each(|name| fs::write(dir.path().join(name), "x").unwrap());
        let locked = dir.path().join(format!(".run.{gone}-1.tmp")); // by a writer whose number means nothing here
        let writer = File::create(&locked).unwrap();
        writer.try_lock().unwrap();
        check_writable(&dir.path().join("run")).unwrap();
        assert!(locked.exists() && kept.iter().all(|name| dir.path().join(name).exists()));
        assert!(!swept.iter().any(|name| dir.path().join(name).exists()));
        drop(writer);
        sweep(&dir.path().join("run"));
        assert!(!locked.exists());
    }

    /// This process is there, but its own leavings are not in use; a number that no process can have is free.
    #[cfg(unix)]
    #[test]
    fn processes_that_are_gone() {
        assert!(is_running(std::process::id()) && is_gone(std::process::id()));
        assert!(is_gone(u32::MAX) && is_gone(i32::MAX as u32));
        assert!(!is_gone(std::os::unix::process::parent_id()));
    }
}
