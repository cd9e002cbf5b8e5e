//! The subcommands, and the exit code of each.
//!
//! Owns what happens between the command line and the first thread: parsing, reporting faults (all at once, exit 64),
//! logs. What `serve` does is handed in, so that this file stands below the proxy and never starts anything. Output
//! goes through `say`, because `println!` aborts when the reader has left (`onetrip config | head`).

use crate::config::args::{Args, Command, ServeArgs};
use crate::config::{self, Config, EXIT_FAULTS, LogFormat};
use crate::slot::{Slot, hash_tag};
use crate::topology::SlotMap;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

/// Runs what was typed. `serve` gets a valid configuration, with logs set up.
pub fn run(typed: impl Iterator<Item = OsString>, serve: impl FnOnce(Config) -> ExitCode) -> ExitCode {
    let args = match Args::try_parse_from(typed) {
        Ok(args) => args,
        Err(error) => return refuse(&error),
    };
    match args.command.unwrap_or(Command::Serve(args.serve)) {
        Command::Serve(args) => with_config(&args, |config| {
            start_logs(config.log_format);
            serve(config)
        }),
        Command::Check(args) => with_config(&args, |config| say(&check_report(&config))),
        Command::Config => say(config::REFERENCE),
        Command::Slot { keys, serve } => with_config(&serve.into(), |config| {
            say(&slot_table(&keys, &SlotMap::even(config.shards.count() as u16)))
        }),
        Command::Completions { shell } => completions(shell),
    }
}

/// Help and version are answers; anything else that clap says is a fault of what was typed.
fn refuse(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(EXIT_FAULTS) } else { ExitCode::SUCCESS }
}

fn with_config(args: &ServeArgs, then: impl FnOnce(Config) -> ExitCode) -> ExitCode {
    match config::load(args) {
        Ok(config) => then(config),
        Err(faults) => {
            let _ = writeln!(std::io::stderr(), "{faults}");
            ExitCode::from(EXIT_FAULTS)
        }
    }
}

fn say(text: &str) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    ExitCode::SUCCESS
}

fn completions(shell: clap_complete::Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "onetrip", &mut script);
    say(&String::from_utf8_lossy(&script))
}

fn check_report(config: &Config) -> String {
    let listen: Vec<String> = config.proxy.listen.iter().map(ToString::to_string).collect();
    let mut report = format!("no fault: {} over {}\n", listen.join(", "), crate::banner::over(config));
    for warning in config.warnings() {
        report.push_str(&format!("warning: {warning}\n"));
    }
    report
}

/// Logs to stderr, from level info on; ONETRIP_LOG sets other levels (`debug`, `onetrip::lane=trace`).
fn start_logs(format: LogFormat) {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(tracing::level_filters::LevelFilter::INFO.into())
        .with_env_var("ONETRIP_LOG")
        .from_env_lossy();
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => logs.with_ansi(std::io::stderr().is_terminal()).with_target(false).init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
}

/// One row per key: slot, shard, hash tag, key. The key comes last, since it alone may be of any length.
fn slot_table(keys: &[OsString], map: &SlotMap) -> String {
    let tags: Vec<String> =
        keys.iter().map(|key| hash_tag(key.as_bytes()).map_or("-".to_owned(), shown)).collect();
    let width = tags.iter().map(|tag| tag.chars().count()).max().unwrap_or(0).max("hash tag".len());
    let mut table = format!("{:>5}  {:>5}  {:<width$}  key\n", "slot", "shard", "hash tag");
    for (key, tag) in keys.iter().zip(&tags) {
        let slot = Slot::of(key.as_bytes());
        let (number, shard, key) = (slot.number(), map.owner(slot).index(), shown(key.as_bytes()));
        table.push_str(&format!("{number:>5}  {shard:>5}  {tag:<width$}  {key}\n"));
    }
    table
}

/// A key as text that a terminal takes no order from.
fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => bytes.escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_with(args: &[&str]) -> (ExitCode, bool) {
        let mut served = false;
        let typed = ["onetrip"].iter().chain(args).map(OsString::from);
        let code = run(typed, |_| {
            served = true;
            ExitCode::SUCCESS
        });
        (code, served)
    }

    #[test]
    fn faults_exit_with_64_and_never_serve() {
        let faults = (ExitCode::from(64), false);
        for args in [&["--nonsense"][..], &["check", "--workers", "x"], &["--listen", "x"], &["slot"]] {
            assert_eq!(run_with(args), faults, "{args:?}");
        }
        assert_eq!(run_with(&["check", "--shards", "3"]), (ExitCode::SUCCESS, false));
        assert_eq!(run_with(&["--version"]), (ExitCode::SUCCESS, false));
    }

    #[test]
    fn slots_are_told_in_a_table() {
        let keys = ["foo", "{foo}bar", "a\u{1b}[0m"].map(OsString::from);
        let table = slot_table(&keys, &SlotMap::even(4));
        let expected = [
            " slot  shard  hash tag  key",
            "12182      2  -         foo",
            "12182      2  foo       {foo}bar",
            " 8340      2  -         a\\x1b[0m",
        ];
        assert_eq!(table.lines().collect::<Vec<_>>(), expected);
    }
}
