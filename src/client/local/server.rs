//! TIME, ROLE, LOLWUT and the text for CLUSTER: what the whole says of itself as one server.

use super::{Facts, NOT_AN_INTEGER, arg};
use crate::resp::request::{Args, parse_integer};
use crate::resp::{Proto, write};
use bytes::BytesMut;

/// Clients match this text to know that they talk to a single server.
pub(super) const NO_CLUSTER: &str = "ERR This instance has cluster support disabled";

pub(super) fn time(facts: &Facts, out: &mut BytesMut) {
    write::array(out, 2);
    write::bulk(out, (facts.now_us.get() / 1_000_000).to_string().as_bytes());
    write::bulk(out, (facts.now_us.get() % 1_000_000).to_string().as_bytes());
}

/// A primary at replication offset 0, with no replicas.
pub(super) fn role(out: &mut BytesMut) {
    write::array(out, 3);
    write::bulk(out, b"master");
    write::integer(out, 0);
    write::array(out, 0);
}

/// LOLWUT [VERSION n …]: no art of its own, but the line that every version ends with.
pub(super) fn lolwut(args: Args<'_>, proto: Proto, facts: &Facts, out: &mut BytesMut) {
    let versioned = args.len() > 2 && arg(args, 1).eq_ignore_ascii_case(b"version");
    if versioned && parse_integer(args.at(2)).is_none() {
        return write::error(out, NOT_AN_INTEGER);
    }
    write::verbatim(out, proto, &format!("Redis ver. {}\n", facts.version));
}
