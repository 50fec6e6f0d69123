//! Ctrl-C and SIGTERM: the first asks the run to end and save, the second leaves at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The flag that the first signal sets. Installs the handler the first time it is called.
pub(crate) fn flag() -> Arc<AtomicBool> {
    ASKED
        .get_or_init(|| {
            let asked = Arc::new(AtomicBool::new(false));
            let seen = asked.clone();
            // Without a handler a signal just ends the program: worth going on.
            let _ = ctrlc::set_handler(move || {
                if seen.swap(true, Ordering::Relaxed) {
                    multiplane::foreign::external::kill_all();
                    std::process::exit(130);
                }
            });
            asked
        })
        .clone()
}
