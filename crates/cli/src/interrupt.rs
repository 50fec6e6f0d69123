//! Ctrl-C, SIGTERM and SIGHUP (unless ignored): where there is something to save, the first asks the run to end and
//! save, and the second leaves at once; elsewhere the first does. External programs are ended either way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::status_line;

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Set when a signal leaves at once, before external programs are ended.
static LEAVING: AtomicBool = AtomicBool::new(false);

/// The exit code after a signal; what there was is saved.
pub(crate) const INTERRUPTED: u8 = 130;

/// Installs the handler. Call it before there is another thread.
pub(crate) fn install() {
    fail_at_the_limit();
    // Without a handler a signal just ends the program: worth going on.
    let _ = ctrlc::set_handler(|| match ASKED.get() {
        Some(asked) if !asked.swap(true, Ordering::Relaxed) => {}
        _ => {
            LEAVING.store(true, Ordering::SeqCst);
            multiplane::foreign::external::kill_all();
            multiplane::abandon_unfinished();
            status_line::clear();
            std::process::exit(INTERRUPTED.into());
        }
    });
}

/// From now on the first signal leaves at once: nothing is left to save, or what is written may wait for ever.
pub(crate) fn leave_at_once() {
    flag().store(true, Ordering::Relaxed);
}

/// A file that grows beyond the limit of the system's user fails to be written, as on a full disk, instead of ending
/// the program: the signal is blocked here and in all threads that come. External programs start with nothing blocked.
#[cfg(unix)]
fn fail_at_the_limit() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    if ignores_hangup() {
        signals.add(Signal::SIGHUP); // a handler would take back what `nohup` has set
    }
    let _ = signals.thread_block(); // at worst it is as it was
}

/// Returns whether the program was started with the hangup signal ignored, as Linux tells it.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
fn fail_at_the_limit() {}

/// The flag that the first signal sets from now on.
pub(crate) fn flag() -> Arc<AtomicBool> {
    ASKED.get_or_init(Arc::default).clone()
}

/// Returns true if a signal is ending the process at once. Errors after that are ignored: external programs were
/// stopped on purpose.
pub(crate) fn is_leaving() -> bool {
    LEAVING.load(Ordering::SeqCst)
}

/// Returns true if a signal has asked the run to end.
pub(crate) fn is_asked() -> bool {
    ASKED.get().is_some_and(|asked| asked.load(Ordering::Relaxed))
}
