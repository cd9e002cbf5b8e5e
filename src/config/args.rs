//! The command line, as typed.
//!
//! Owns names, help texts and which subcommands there are; a subcommand stands here when it works. Values stay text:
//! what they mean, and what is wrong with them, is `check`'s, so that one run reports all faults of flags,
//! environment and file together.

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Parser)]
#[command(
    name = "onetrip",
    version,
    about = "Many single-threaded Redis instances behind one address, with the fewest round trips",
    args_conflicts_with_subcommands = true,
    after_help = "Without a subcommand onetrip serves. Every option can be given as an environment variable too \
                  (--listen as ONETRIP_LISTEN). Options override the environment, which overrides the file.\n\
                  Passwords: [[user]] and [shards] in the file, or ONETRIP_PASSWORD and ONETRIP_SHARD_PASSWORD."
)]
pub struct Args {
    #[command(flatten)]
    pub serve: ServeArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What `serve` runs with.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ServeArgs {
    /// Configuration file (TOML); `onetrip config` prints one with every key
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where clients connect: host:port or unix:/path; may be repeated [default: 127.0.0.1:6380]
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    pub listen: Vec<String>,
    /// Where metrics, health and the page are: host:port, or none [default: 127.0.0.1:9380]
    #[arg(long, value_name = "ADDR")]
    pub admin: Option<String>,
    /// Worker threads; auto is one per four shards [default: auto]
    #[arg(long, value_name = "N|auto")]
    pub workers: Option<String>,
    /// How many embedded shards to run [default: one per core, at least two]
    #[arg(long, value_name = "N")]
    pub shards: Option<String>,
    /// Servers that somebody else runs, in shard order: host:port, redis://… or unix:/path
    #[arg(long, value_name = "ADDR,…", value_delimiter = ',')]
    pub backend: Vec<String>,
    /// How logs are written to stderr: text or json [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve clients (the default)
    Serve(ServeArgs),
    /// Report every fault of a configuration at once; exit 0 or 64
    Check(ServeArgs),
    /// Print the reference configuration: every key with its default
    Config,
    /// Print slot, shard and hash tag of keys
    Slot {
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<OsString>,
        #[command(flatten)]
        serve: SlotArgs,
    },
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

/// What decides how many shards there are.
#[derive(Clone, Debug, clap::Args)]
pub struct SlotArgs {
    /// Configuration file that says how many shards there are
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How many shards there are
    #[arg(long, value_name = "N")]
    pub shards: Option<String>,
}

impl From<SlotArgs> for ServeArgs {
    fn from(args: SlotArgs) -> ServeArgs {
        ServeArgs { config: args.config, shards: args.shards, ..ServeArgs::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn serving_needs_no_subcommand() {
        let args = Args::parse_from(["onetrip", "--backend", "a:1,b:2", "--backend", "c:3"]);
        assert!(args.command.is_none());
        assert_eq!(args.serve.backend, ["a:1", "b:2", "c:3"]);
        let args = Args::parse_from(["onetrip", "serve", "--listen", "h:1"]);
        assert!(matches!(args.command, Some(Command::Serve(serve)) if serve.listen == ["h:1"]));
    }
}
