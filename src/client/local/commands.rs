//! COMMAND and its subcommands: the command table, told as a server tells its own.
//!
//! Everything comes from the rows, so what clients read here (arity, flags, where the keys are) is what onetrip
//! itself goes by. COMMAND DOCS says in a command's summary what onetrip does with it. Rows of modules are told
//! only to who asks for them by name: the shards may not have the module.

mod categories;
mod docs;
mod get_keys;

pub(super) use docs::docs;
pub(super) use get_keys::{get_keys, get_keys_and_flags};

use super::{SYNTAX, arg, glob};
use crate::command::{Begin, Find, Group, KeySpec, Spec, flag, lookup, table};
use crate::command::{ReplyPolicy, RequestPolicy};
use crate::resp::request::Args;
use crate::resp::{Proto, write};
use bytes::BytesMut;
use categories::categories;

/// The commands that COMMAND lists: no subcommands, no modules.
fn listed() -> impl Iterator<Item = &'static Spec> {
    let own = |spec: &&Spec| spec.group != Group::Module && spec.container().is_none();
    table::ROWS.iter().filter(own)
}

fn subcommands(spec: &Spec) -> impl Iterator<Item = &'static Spec> {
    let container = spec.name;
    let of = move |row: &&Spec| row.container() == Some(container);
    table::ROWS.iter().filter(of)
}

/// The row of `get` or `client|setname`, in any case.
fn named(name: &[u8]) -> Option<&'static Spec> {
    let id = lookup::by_name(std::str::from_utf8(name).ok()?)?;
    Some(id.spec())
}

pub(super) fn all(proto: Proto, out: &mut BytesMut) {
    write::array(out, listed().count());
    for spec in listed() {
        describe(spec, proto, out);
    }
}

pub(super) fn count(out: &mut BytesMut) {
    write::integer(out, listed().count() as i64);
}

/// COMMAND INFO [name …]: null for a name that is no command's.
pub(super) fn info(args: Args<'_>, proto: Proto, out: &mut BytesMut) {
    if args.len() <= 2 {
        return all(proto, out);
    }
    write::array(out, args.len() - 2);
    for name in args.iter().skip(2) {
        match named(name) {
            Some(spec) => describe(spec, proto, out),
            None => write::null(out, proto),
        }
    }
}

/// COMMAND LIST [FILTERBY MODULE name | ACLCAT category | PATTERN pattern]
pub(super) fn list(args: Args<'_>, out: &mut BytesMut) {
    let by = arg(args, 3);
    let wanted = arg(args, 4);
    let filter: &dyn Fn(&Spec) -> bool = match args.len() {
        0..=2 => &|_| true,
        5 if !arg(args, 2).eq_ignore_ascii_case(b"filterby") => return write::error(out, SYNTAX),
        5 if by.eq_ignore_ascii_case(b"module") => &|_| false,
        5 if by.eq_ignore_ascii_case(b"aclcat") => {
            &|spec| categories(spec).any(|name| name.as_bytes().eq_ignore_ascii_case(wanted))
        }
        5 if by.eq_ignore_ascii_case(b"pattern") => &|spec| glob::matches(wanted, spec.name.as_bytes()),
        _ => return write::error(out, SYNTAX),
    };
    let own = |spec: &&Spec| spec.group != Group::Module && filter(spec);
    write::array(out, table::ROWS.iter().filter(own).count());
    for spec in table::ROWS.iter().filter(own) {
        write::bulk(out, spec.name.as_bytes());
    }
}

/// One command's entry in COMMAND.
fn describe(spec: &Spec, proto: Proto, out: &mut BytesMut) {
    let (first, last, step) = spec.legacy_range();
    write::array(out, 10);
    write::bulk(out, spec.name.as_bytes());
    write::integer(out, i64::from(spec.arity));
    simple_set(out, proto, spec.flags.names().map(str::to_owned));
    write::integer(out, i64::from(first));
    write::integer(out, i64::from(last));
    write::integer(out, i64::from(step));
    simple_set(out, proto, categories(spec).map(|name| format!("@{name}")));
    let tips = tips(spec);
    write::set(out, proto, tips.len());
    for tip in tips {
        write::bulk(out, tip.as_bytes());
    }
    write::set(out, proto, spec.keys.len());
    for keys in spec.keys {
        key_spec(keys, proto, out);
    }
    write::set(out, proto, subcommands(spec).count());
    for subcommand in subcommands(spec) {
        describe(subcommand, proto, out);
    }
}

fn simple_set(out: &mut BytesMut, proto: Proto, words: impl Iterator<Item = String>) {
    let words: Vec<_> = words.collect();
    write::set(out, proto, words.len());
    for word in words {
        write::simple(out, &word);
    }
}

fn tips(spec: &Spec) -> Vec<&'static str> {
    let request = match spec.request {
        RequestPolicy::Keyed => None,
        RequestPolicy::MultiShard => Some("request_policy:multi_shard"),
        RequestPolicy::AllShards => Some("request_policy:all_shards"),
        RequestPolicy::AllNodes => Some("request_policy:all_nodes"),
        RequestPolicy::Special => Some("request_policy:special"),
    };
    let reply = match spec.reply {
        ReplyPolicy::Default => None,
        ReplyPolicy::Sum => Some("response_policy:agg_sum"),
        ReplyPolicy::Min => Some("response_policy:agg_min"),
        ReplyPolicy::LogicalAnd => Some("response_policy:agg_logical_and"),
        ReplyPolicy::AllSucceeded => Some("response_policy:all_succeeded"),
        ReplyPolicy::OneSucceeded => Some("response_policy:one_succeeded"),
        ReplyPolicy::Special => Some("response_policy:special"),
    };
    let random = spec.flags.has(flag::NONDETERMINISTIC_OUTPUT);
    let unordered = spec.flags.has(flag::NONDETERMINISTIC_OUTPUT_ORDER);
    [
        random.then_some("nondeterministic_output"),
        unordered.then_some("nondeterministic_output_order"),
        request,
        reply,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn key_spec(keys: &KeySpec, proto: Proto, out: &mut BytesMut) {
    write::map(out, proto, 3);
    write::bulk(out, b"flags");
    access(keys.access, proto, out);
    write::bulk(out, b"begin_search");
    match keys.begin {
        Begin::Index(index) => search(out, proto, "index", &[("index", index)]),
        Begin::Keyword(word, from) => {
            typed(out, proto, "keyword", 2);
            write::bulk(out, b"keyword");
            write::bulk(out, word.as_bytes());
            number(out, "startfrom", from);
        }
        Begin::Unknown => search(out, proto, "unknown", &[]),
    }
    write::bulk(out, b"find_keys");
    match keys.find {
        Find::Range { last, step, limit } => {
            let fields = [("lastkey", last), ("keystep", step), ("limit", limit)];
            search(out, proto, "range", &fields);
        }
        Find::KeyNum { at, first, step } => {
            let fields = [("keynumidx", at), ("firstkey", first), ("keystep", step)];
            search(out, proto, "keynum", &fields);
        }
        Find::Unknown => search(out, proto, "unknown", &[]),
    }
}

fn access(bits: u16, proto: Proto, out: &mut BytesMut) {
    simple_set(out, proto, flag::access_names(bits).map(str::to_owned));
}

fn search(out: &mut BytesMut, proto: Proto, kind: &str, fields: &[(&str, i16)]) {
    typed(out, proto, kind, fields.len());
    for &(name, value) in fields {
        number(out, name, value);
    }
}

/// The head of one step of a key spec; its fields follow.
fn typed(out: &mut BytesMut, proto: Proto, kind: &str, fields: usize) {
    write::map(out, proto, 2);
    write::bulk(out, b"type");
    write::bulk(out, kind.as_bytes());
    write::bulk(out, b"spec");
    write::map(out, proto, fields);
}

fn number(out: &mut BytesMut, name: &str, value: i16) {
    write::bulk(out, name.as_bytes());
    write::integer(out, i64::from(value));
}

#[cfg(test)]
mod tests {
    use super::super::testing::Client;
    use crate::resp::value::{self, Value};

    #[test]
    fn a_command_is_described_as_a_server_does() {
        let mut client = Client::new();
        assert_eq!(
            client.says("COMMAND INFO nosuch GET"),
            "*2\r\n$-1\r\n*10\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n\
             *3\r\n+@read\r\n+@string\r\n+@fast\r\n*0\r\n*1\r\n*6\r\n$5\r\nflags\r\n*2\r\n+RO\r\n+access\r\n\
             $12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n*2\r\n$5\r\nindex\r\n:1\r\n\
             $9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n$4\r\nspec\r\n*6\r\n$7\r\nlastkey\r\n:0\r\n\
             $7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n*0\r\n"
        );
        assert!(client.says("COMMAND INFO client|id").starts_with("*1\r\n*10\r\n$9\r\nclient|id\r\n:2\r\n"));
    }

    /// Whole replies of both versions, each as long as it says.
    #[test]
    fn the_whole_table_is_well_formed() {
        for mut client in [Client::new(), Client::new().resp3()] {
            let count = client.says("COMMAND COUNT");
            for line in ["COMMAND", "COMMAND INFO", "COMMAND DOCS", "COMMAND LIST", "COMMAND HELP"] {
                let reply = client.says(line);
                let (_, used) = value::parse(reply.as_bytes()).unwrap().unwrap();
                assert_eq!(used, reply.len(), "{line}");
            }
            let reply = client.says("COMMAND");
            let (Value::Array(all), _) = value::parse(reply.as_bytes()).unwrap().unwrap() else { panic!() };
            assert_eq!(format!(":{}\r\n", all.len()), count);
        }
    }

    #[test]
    fn lists_are_filtered() {
        let mut client = Client::new();
        let some = client.says("COMMAND LIST FILTERBY PATTERN MSETN*");
        assert_eq!(some, "*1\r\n$6\r\nmsetnx\r\n");
        assert!(client.says("COMMAND LIST FILTERBY ACLCAT scripting").contains("$7\r\nevalsha\r\n"));
        assert_eq!(client.says("COMMAND LIST FILTERBY ACLCAT foo"), "*0\r\n");
        assert_eq!(client.says("COMMAND LIST FILTERBY MODULE x"), "*0\r\n");
        assert_eq!(client.says("COMMAND LIST foo"), "-ERR syntax error\r\n");
        assert_eq!(client.says("COMMAND LIST FILTERBY foo bar"), "-ERR syntax error\r\n");
    }
}
