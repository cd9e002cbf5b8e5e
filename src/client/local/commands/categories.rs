//! ACL categories of a command, as servers derive them: from its flags and group, and for some by name.

use super::docs::group;
use crate::command::{Group, Spec, flag};

/// The ACL categories, in the order of a server's replies.
const CATEGORIES: &[&str] = &[
    "keyspace",
    "read",
    "write",
    "set",
    "sortedset",
    "list",
    "hash",
    "string",
    "bitmap",
    "hyperloglog",
    "geo",
    "stream",
    "pubsub",
    "admin",
    "fast",
    "slow",
    "blocking",
    "dangerous",
    "connection",
    "transaction",
    "scripting",
];

/// Categories that servers add to those that follow from a row.
const BESIDES: &[(&str, &[&str])] = &[
    ("asking", &["connection"]),
    ("command", &["connection"]),
    ("dbsize", &["keyspace"]),
    ("flushall", &["keyspace", "dangerous"]),
    ("flushdb", &["keyspace", "dangerous"]),
    ("info", &["dangerous"]),
    ("keys", &["dangerous"]),
    ("lastsave", &["admin", "dangerous"]),
    ("migrate", &["dangerous"]),
    ("readonly", &["connection"]),
    ("readwrite", &["connection"]),
    ("restore", &["dangerous"]),
    ("restore-asking", &["keyspace", "dangerous"]),
    ("role", &["admin", "dangerous"]),
    ("sort", &["set", "sortedset", "list", "dangerous"]),
    ("sort_ro", &["set", "sortedset", "list", "dangerous"]),
    ("swapdb", &["keyspace", "dangerous"]),
];

/// Without their `@`.
pub(super) fn categories(spec: &Spec) -> impl Iterator<Item = &'static str> {
    CATEGORIES.iter().copied().filter(|category| is_in(spec, category))
}

/// Whether a server puts the command into an ACL category: by its flags, its group, or by name.
fn is_in(spec: &Spec, category: &str) -> bool {
    let has = |flag: u32| spec.flags.has(flag);
    let by_flag = match category {
        "read" => has(flag::READONLY) && spec.group != Group::Scripting,
        "write" => has(flag::WRITE),
        "pubsub" => has(flag::PUBSUB),
        "admin" | "dangerous" => has(flag::ADMIN),
        "fast" => has(flag::FAST),
        "slow" => !has(flag::FAST),
        "blocking" => has(flag::BLOCKING),
        _ => !spec.is_container() && category == group_category(spec.group),
    };
    let name = spec.container().unwrap_or(spec.name);
    by_flag || BESIDES.iter().any(|(of, more)| *of == name && more.contains(&category))
}

fn group_category(of: Group) -> &'static str {
    match of {
        Group::SortedSet => "sortedset",
        Group::Generic => "keyspace",
        Group::Transactions => "transaction",
        other => group(other),
    }
}
