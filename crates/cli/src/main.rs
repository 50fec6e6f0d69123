//! The binary `multiplane`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(multiplane_cli::run(std::env::args_os().collect()))
}
