//! A row → the server's ACL categories: `@read`, `@string`, `@dangerous` and so on.
//!
//! Nearly all of them follow from a command's group and flags, so that is how they are made; the few rows where the
//! server decided otherwise carry their own list. For module commands the categories follow from their flags, though
//! some servers give those none: a rule that denies `@write` should deny a module's writes too.

use super::{Group, Spec, flag};

/// The row's categories without their `@`, in the server's order.
pub fn categories(spec: &Spec) -> Vec<&'static str> {
    match spec.acl {
        Some(own) => own.split(' ').collect(),
        None => derived(spec),
    }
}

fn derived(spec: &Spec) -> Vec<&'static str> {
    // Scripts may do more than read, whatever their flags say.
    let reads = spec.is_readonly() && spec.group != Group::Scripting;
    let (early, late) = of_group(spec);
    let has = |bit| spec.flags.has(bit);
    let fast = has(flag::FAST);
    let parts = [
        (early == "keyspace", "keyspace"),
        (reads, "read"),
        (spec.is_write(), "write"),
        (early != "keyspace" && !early.is_empty(), early),
        (has(flag::PUBSUB), "pubsub"),
        (has(flag::ADMIN), "admin"),
        (fast, "fast"),
        (!fast, "slow"),
        (has(flag::BLOCKING), "blocking"),
        (has(flag::ADMIN), "dangerous"),
        (!late.is_empty(), late),
    ];
    parts.into_iter().filter_map(|(is, name)| is.then_some(name)).collect()
}

/// The category of a command's group, among the first or the last that the server lists; a container has none.
fn of_group(spec: &Spec) -> (&'static str, &'static str) {
    if spec.is_container() {
        return ("", "");
    }
    match spec.group {
        Group::Generic => ("keyspace", ""),
        Group::Set => ("set", ""),
        Group::SortedSet => ("sortedset", ""),
        Group::List => ("list", ""),
        Group::Hash => ("hash", ""),
        Group::String => ("string", ""),
        Group::Bitmap => ("bitmap", ""),
        Group::HyperLogLog => ("hyperloglog", ""),
        Group::Geo => ("geo", ""),
        Group::Stream => ("stream", ""),
        Group::Array => ("array", ""),
        Group::Connection => ("", "connection"),
        Group::Transactions => ("", "transaction"),
        Group::Scripting => ("", "scripting"),
        Group::VectorSet | Group::PubSub | Group::Cluster | Group::Server | Group::Module => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::lookup::by_name;

    fn of(name: &str) -> Vec<&'static str> {
        by_name(name).map_or_else(Vec::new, |id| categories(id.spec()))
    }

    #[test]
    fn derived_and_own_categories() {
        assert_eq!(of("get"), ["read", "string", "fast"]);
        assert_eq!(of("blpop"), ["write", "list", "slow", "blocking"]);
        assert_eq!(of("client|kill"), ["admin", "slow", "dangerous", "connection"]);
        assert_eq!(of("sort").last(), Some(&"dangerous"));
    }
}
