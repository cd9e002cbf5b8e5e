//! COMMAND DOCS: what the table knows of a command, in the shape that command lines read for their help.
//!
//! A summary says what onetrip does with the command, which no other place could tell a user who types HELP.

use super::{listed, named, subcommands};
use crate::command::{Group, Handling, Spec};
use crate::resp::request::Args;
use crate::resp::{Proto, write};
use bytes::BytesMut;

/// COMMAND DOCS [name …]: names that are no command's are left out.
pub(in super::super) fn docs(args: Args<'_>, proto: Proto, out: &mut BytesMut) {
    let wanted: Vec<_> = match args.len() {
        0..=2 => listed().collect(),
        _ => args.iter().skip(2).filter_map(named).collect(),
    };
    document(&wanted, proto, out);
}

fn document(specs: &[&Spec], proto: Proto, out: &mut BytesMut) {
    write::map(out, proto, specs.len());
    for spec in specs {
        let subcommands: Vec<_> = subcommands(spec).collect();
        write::bulk(out, spec.name.as_bytes());
        write::map(out, proto, 2 + usize::from(!subcommands.is_empty()));
        write::bulk(out, b"summary");
        write::bulk(out, summary(spec.handling).as_bytes());
        write::bulk(out, b"group");
        write::bulk(out, group(spec.group).as_bytes());
        if !subcommands.is_empty() {
            write::bulk(out, b"subcommands");
            document(&subcommands, proto, out);
        }
    }
}

/// What onetrip does with a command, for people.
fn summary(handling: Handling) -> &'static str {
    match handling {
        Handling::Forward => "Runs on the shard that owns its keys.",
        Handling::Split(_) => "Cut by its keys: every shard concerned runs its part.",
        Handling::FanOut(_) => "Runs on every shard and gives one answer.",
        Handling::AnyShard => "Runs on one of the shards, which all answer alike.",
        Handling::Container => "Has subcommands.",
        Handling::Local(_) => "Answered by onetrip itself.",
        Handling::Missing(_) => "Not in this version of onetrip.",
        Handling::Refuse(_) => "Not passed on by onetrip.",
    }
}

/// A group, as servers write it.
pub(super) fn group(group: Group) -> &'static str {
    match group {
        Group::String => "string",
        Group::Bitmap => "bitmap",
        Group::List => "list",
        Group::Set => "set",
        Group::Hash => "hash",
        Group::SortedSet => "sorted-set",
        Group::Geo => "geo",
        Group::HyperLogLog => "hyperloglog",
        Group::Stream => "stream",
        Group::Array => "array",
        Group::VectorSet | Group::Module => "module",
        Group::Generic => "generic",
        Group::Transactions => "transactions",
        Group::Scripting => "scripting",
        Group::PubSub => "pubsub",
        Group::Connection => "connection",
        Group::Cluster => "cluster",
        Group::Server => "server",
    }
}
