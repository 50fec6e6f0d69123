//! Ctrl-C and SIGTERM: where there is something to save, the first asks the run to end and save, and the second leaves
//! at once; elsewhere the first does. External programs are ended either way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Installs the handler.
pub(crate) fn install() {
    // Without a handler a signal just ends the program: worth going on.
    let _ = ctrlc::set_handler(|| match ASKED.get() {
        Some(asked) if !asked.swap(true, Ordering::Relaxed) => {}
        _ => {
            multiplane::foreign::external::kill_all();
            std::process::exit(130);
        }
    });
}

/// The flag that the first signal sets from now on.
pub(crate) fn flag() -> Arc<AtomicBool> {
    ASKED.get_or_init(Arc::default).clone()
}
