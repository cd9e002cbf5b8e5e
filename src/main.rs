//! The binary: parse the command line, run, exit with a code that says how it went.

use onetrip::{cli, proxy};
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os(), |config| match proxy::run(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    })
}
