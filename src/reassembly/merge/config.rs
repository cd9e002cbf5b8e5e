//! CONFIG GET of every shard, as the settings of one server.
//!
//! What belongs to the process that clients are connected to (its port, its limits, its passwords) is onetrip's own:
//! of these only what onetrip reports is told, never a shard's. `maxmemory` is the sum, because clients hold it
//! against INFO's sum of memory. Everything else is set alike on all shards or should be: shard 0 speaks for all.
//!
//! A setting that no shard knows is answered from onetrip's table, and so is the whole where a shard does not let
//! CONFIG be used (managed services do not): a dashboard then shows less, and a client starts all the same.

use super::{Misfit, Part, failure};
use crate::resp::{Proto, value, value::Value, write};

/// Settings of the process that clients are connected to, in order.
const OWN: &[&str] = &[
    "acl-pubsub-default",
    "aclfile",
    "acllog-max-len",
    "bind",
    "bind-source-addr",
    "client-output-buffer-limit",
    "client-query-buffer-limit",
    "daemonize",
    "databases",
    "dir",
    "io-threads",
    "io-threads-do-reads",
    "logfile",
    "loglevel",
    "masterauth",
    "masteruser",
    "maxclients",
    "pidfile",
    "port",
    "primaryauth",
    "primaryuser",
    "protected-mode",
    "proto-max-bulk-len",
    "replica-announce-ip",
    "replica-announce-port",
    "replicaof",
    "requirepass",
    "slave-announce-ip",
    "slave-announce-port",
    "slaveof",
    "socket-mark-id",
    "supervised",
    "tcp-backlog",
    "tcp-keepalive",
    "timeout",
    "unixsocket",
    "unixsocketperm",
];

/// The same, for all names that begin so.
const OWN_FAMILIES: [&[u8]; 3] = [b"cluster-", b"syslog-", b"tls-"];

fn is_own(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    OWN_FAMILIES.iter().any(|family| name.starts_with(family))
        || OWN.binary_search_by(|own| own.as_bytes().cmp(&name)).is_ok()
}

/// Whether a shard does not let us read its settings: forbidden to our user, or renamed away.
pub(super) fn is_refused(part: &Part) -> bool {
    failure::text(&part.reply)
        .is_some_and(|text| text.starts_with(b"NOPERM") || text.starts_with(b"ERR unknown "))
}

/// What onetrip says by itself.
pub(super) fn write_table(table: &[(Vec<u8>, String)], proto: Proto, out: &mut Vec<u8>) {
    let rows: Vec<_> = table.iter().map(|(name, value)| (&name[..], value.as_bytes())).collect();
    write_rows(&rows, proto, out);
}

fn write_rows(rows: &[(&[u8], &[u8])], proto: Proto, out: &mut Vec<u8>) {
    write::map(out, proto, rows.len());
    for (name, value) in rows {
        write::bulk(out, name);
        write::bulk(out, value);
    }
}

pub(super) fn write(
    table: &[(Vec<u8>, String)],
    parts: &[Part],
    proto: Proto,
    out: &mut Vec<u8>,
) -> Result<(), Misfit> {
    let told: Vec<Told<'_>> = parts.iter().map(Told::of).collect::<Result<_, _>>()?;
    let Some(first) = told.first() else {
        write_table(table, proto, out);
        return Ok(());
    };
    let total = sum(&told, b"maxmemory").map(|sum| sum.to_string());
    let theirs = first.0.iter().filter(|(name, _)| !is_own(name)).map(|&(name, value)| match &total {
        Some(total) if name.eq_ignore_ascii_case(b"maxmemory") => (name, total.as_bytes()),
        _ => (name, value),
    });
    let ours = table
        .iter()
        .filter(|(name, _)| is_own(name) || first.get(name).is_none())
        .map(|(name, value)| (&name[..], value.as_bytes()));
    write_rows(&theirs.chain(ours).collect::<Vec<_>>(), proto, out);
    Ok(())
}

/// Names and values of one shard.
struct Told<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Told<'a> {
    fn of(part: &'a Part) -> Result<Told<'a>, Misfit> {
        let misfit = Misfit(part.shard);
        let (value, _) = value::parse(&part.reply).ok().flatten().ok_or(misfit)?;
        let row = |name: &Value<'a>, value: &Value<'a>| Some((name.text()?, value.text()?));
        let rows: Option<Vec<_>> = match &value {
            Value::Map(pairs) => pairs.iter().map(|(name, value)| row(name, value)).collect(),
            Value::Array(flat) if flat.len() % 2 == 0 => {
                flat.chunks_exact(2).map(|pair| row(&pair[0], &pair[1])).collect()
            }
            _ => None,
        };
        rows.map(Told).ok_or(misfit)
    }

    fn get(&self, name: &[u8]) -> Option<&'a [u8]> {
        let row = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        row.map(|(_, value)| *value)
    }
}

/// `None` where a shard does not say, or says no number.
fn sum(told: &[Told<'_>], name: &[u8]) -> Option<u64> {
    told.iter().try_fold(0u64, |sum, told| {
        let value = std::str::from_utf8(told.get(name)?).ok()?;
        Some(sum.saturating_add(value.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Merge, merge};
    use super::*;
    use crate::slot::ShardId;

    fn merged(replies: &[&str], proto: Proto) -> String {
        let part = |(i, reply): (usize, &&str)| Part {
            shard: ShardId(i as u16),
            reply: match reply.strip_prefix('-') {
                Some(error) => format!("-{error}\r\n").into_bytes(),
                None => reply.replace(' ', "\r\n").into_bytes(),
            },
        };
        let parts: Vec<Part> = replies.iter().enumerate().map(part).collect();
        let row = |name: &str, value: &str| (name.as_bytes().to_vec(), value.to_owned());
        let table = vec![row("hz", "10"), row("MAXMEMORY", "0"), row("port", "6380")];
        let mut out = Vec::new();
        merge(Merge::Config { table }, &parts, proto, &mut out);
        String::from_utf8(out).unwrap().replace("\r\n", " ")
    }

    #[test]
    fn memory_is_a_sum_what_is_ours_is_ours_and_shard_0_says_the_rest() {
        let a = "*8 $2 hz $1 5 $9 MAXMEMORY $3 100 $4 port $4 7001 $11 requirepass $1 x ";
        let b = "*6 $2 hz $1 9 $9 MAXMEMORY $3 200 $4 port $4 7002 ";
        let whole = "$2 hz $1 5 $9 MAXMEMORY $3 300 $4 port $4 6380 ";
        assert_eq!(merged(&[a, b], Proto::Resp2), format!("*6 {whole}"));
        let b = b.replace("*6", "%3");
        assert_eq!(merged(&[&a.replace("*8", "%4"), &b], Proto::Resp3), format!("%3 {whole}"));
        assert_eq!(merged(&[a, "*1 $1 a "], Proto::Resp2).split(' ').nth(1), Some("onetrip:"));
    }

    #[test]
    fn what_shards_do_not_tell_is_answered_from_the_table() {
        let table = "*6 $2 hz $2 10 $9 MAXMEMORY $1 0 $4 port $4 6380 ";
        assert_eq!(merged(&["*0 ", "*0 "], Proto::Resp2), table);
        for error in ["-NOPERM no", "-ERR unknown command 'CONFIG'"] {
            assert_eq!(merged(&["*2 $2 hz $1 5 ", error], Proto::Resp2), table);
        }
        assert!(merged(&["*0 ", "-TRYAGAIN gone"], Proto::Resp2).starts_with("-TRYAGAIN"));
        assert!(OWN.is_sorted() && is_own(b"Tls-Port") && !is_own(b"save"));
    }
}
