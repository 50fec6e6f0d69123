//! The descendants of a process, also those that have left its process group, where the system lists them (Linux).
//!
//! Not found are those whose parent has ended before: they are nobody's then.

/// A process, with the moment of its start: its number alone may be another's later.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Relative {
    process: u32,
    started: u64,
}

/// Returns all processes that descend from this one, itself excluded, children before their own.
#[cfg(target_os = "linux")]
pub(super) fn descendants(ancestor: u32) -> Vec<Relative> {
    let numbers = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let all: Vec<(u32, Relative)> = numbers.filter_map(look).collect();
    let mut found: Vec<Relative> = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|(other, _)| *other == parent).map(|(_, child)| *child);
        let first = found.len();
        found.extend(children);
        parents.extend(found[first..].iter().map(|child| child.process));
    }
    found
}

/// The parent of a process, and the process, from `pid (name) state parent ...`, where the name may hold anything; the
/// twentieth field after the name is when it started.
#[cfg(target_os = "linux")]
fn look(process: u32) -> Option<(u32, Relative)> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, Relative { process, started: fields.nth(17)?.parse().ok()? }))
}

/// Kills those that are still there.
#[cfg(target_os = "linux")]
pub(super) fn kill(relatives: &[Relative]) {
    use nix::sys::signal::{Signal, kill};
    for relative in relatives.iter().filter(|relative| look(relative.process).is_some_and(|(_, now)| now == **relative))
    {
        if let Ok(process) = i32::try_from(relative.process) {
            let _ = kill(nix::unistd::Pid::from_raw(process), Signal::SIGKILL); // it may be gone this moment
        }
    }
}

/// Nobody knows them here.
#[cfg(not(target_os = "linux"))]
pub(super) fn descendants(_ancestor: u32) -> Vec<Relative> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn kill(_relatives: &[Relative]) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A child and what it has started in a session of its own are found and killed; nobody else is.
    #[test]
    fn children_of_children() {
        use std::process::{Command, Stdio};
        let mut child = Command::new("sh").args(["-c", "sleep 60 & wait"]).stdin(Stdio::null()).spawn().unwrap();
        let of_child = || descendants(child.id());
        while of_child().is_empty() {
            std::thread::yield_now();
        }
        let family = of_child();
        assert!(!family.iter().any(|relative| relative.process == std::process::id()));
        assert!(descendants(std::process::id()).contains(&family[0]));
        kill(&[Relative { started: family[0].started + 1, ..family[0] }]);
        assert_eq!(descendants(child.id()).len(), 1, "another process with that number was killed");
        kill(&family);
        assert!(child.wait().is_ok());
    }
}
