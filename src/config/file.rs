//! The configuration file, as written: TOML → one value per key, by its full name.
//!
//! Owns which keys there are. Keys are looked up by what the program asks for, so that every unknown one is found in
//! one run, not only the first; the keys that the documentation promises for later versions are told from typing
//! errors. What a value means is `check`'s.

use super::fault::Fault;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Full key (`section.key`) → value. `user` holds the array of its tables.
pub type Keys = BTreeMap<String, Value>;

/// Every key of this version. The reference configuration documents each, and a test compares the two.
pub const KNOWN: &[&str] = &[
    "proxy.listen",
    "proxy.workers",
    "proxy.max_clients",
    "proxy.tcp_keepalive_s",
    "proxy.idle_timeout_s",
    "shards.kind",
    "shards.count",
    "shards.addresses",
    "shards.user",
    "shards.password",
    "shards.password_file",
    "shards.report_version",
    "timeouts.connect_ms",
    "timeouts.request_ms",
    "timeouts.lane_dead_ms",
    "timeouts.handshake_ms",
    "timeouts.drain_ms",
    "timeouts.reconnect_min_ms",
    "timeouts.reconnect_max_ms",
    "limits.client_commands_in_flight",
    "limits.client_request_bytes_in_flight",
    "limits.output_soft_bytes",
    "limits.output_hard_bytes",
    "limits.lane_bytes",
    "limits.memory_total_bytes",
    "observe.log_format",
    "admin.listen",
    "user",
];

/// Keys of versions to come: refused, and not as typing errors. A section alone stands for all its keys.
const LATER: &[&str] = &[
    "proxy.tls",
    "shards.engine",
    "shards.seeds",
    "shards.data_dir",
    "shards.persistence",
    "shards.pin_cores",
    "shards.owner",
    "shards.tls",
    "shards.read_from",
    "shards.maxmemory",
    "shards.maxmemory_policy",
    "shards.server_options",
    "shards.sharded_database",
    "shards.cluster_facade",
    "limits.request_bytes",
    "limits.multi_commands",
    "limits.multi_bytes",
    "limits.blocked_per_shard",
    "limits.tracking_clients",
    "limits.lanes",
    "observe.slowlog_len",
    "observe.hot_keys",
    "observe.compat_redis_exporter",
    "admin.token_file",
    "user.commands",
    "user.keys",
    "user.channels",
    "user.upstream_user",
    "user.max_commands_per_s",
    "pin",
    "guard",
];

/// Keys of a file, and its numbers that TOML has no room for. A syntax error is the only fault then: nothing behind
/// it can be read.
pub fn parse(text: &str, name: &str) -> Result<(Keys, Vec<Fault>), Fault> {
    let (table, faults) = match text.parse::<Table>() {
        Ok(table) => (table, Vec::new()),
        Err(_) => {
            let (rest, faults) = without_huge_numbers(text);
            (rest.parse().map_err(|error| syntax_fault(&rest, name, &error))?, faults)
        }
    };
    let mut keys = Keys::new();
    for (section, value) in table {
        match value {
            Value::Table(table) => {
                keys.extend(table.into_iter().map(|(key, value)| (format!("{section}.{key}"), value)));
            }
            value => {
                keys.insert(section, value);
            }
        }
    }
    Ok((keys, faults))
}

/// The parser gives up at a number beyond 64 bits; taken out, with its line kept, it hides no other fault.
fn without_huge_numbers(text: &str) -> (String, Vec<Fault>) {
    let (mut rest, mut faults, mut section) = (String::new(), Vec::new(), "");
    for line in text.lines() {
        let code = line.split('#').next().unwrap_or_default().trim();
        if code.starts_with('[') {
            section = code.trim_matches(['[', ']', ' ']);
        }
        match code.split_once('=').filter(|(_, value)| is_huge(value.trim())) {
            Some((key, value)) => faults.push(huge_number(section, key.trim(), value.trim())),
            None => rest.push_str(line),
        }
        rest.push('\n');
    }
    (rest, faults)
}

fn is_huge(value: &str) -> bool {
    let digits = value.trim_start_matches(['+', '-']).replace('_', "");
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<i64>().is_err()
}

fn huge_number(section: &str, key: &str, value: &str) -> Fault {
    Fault {
        key: if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") },
        // A password without its quotes is such a number too.
        value: if key.contains("password") { String::new() } else { value.to_owned() },
        reason: "is out of range".to_owned(),
        right: "a smaller number; `onetrip config` prints every key with its default".to_owned(),
    }
}

/// The parser's own text would quote the line, and there may be a password in it.
fn syntax_fault(text: &str, name: &str, error: &toml::de::Error) -> Fault {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    Fault {
        key: name.to_owned(),
        value: String::new(),
        reason: format!("line {line} is not TOML: {}", error.message().replace('\n', ", ")),
        right: "`onetrip config` prints a file to start from".to_owned(),
    }
}

/// Takes the keys that this version doesn't have out of `keys`, as faults.
pub fn refuse_unknown(keys: &mut Keys) -> Vec<Fault> {
    let (known, unknown): (Keys, Keys) =
        std::mem::take(keys).into_iter().partition(|(key, _)| KNOWN.contains(&key.as_str()));
    *keys = known;
    unknown.iter().map(|(key, value)| unknown_key(key, value)).collect()
}

/// The fault of a key that is not in this version.
pub fn unknown_key(key: &str, value: &Value) -> Fault {
    let section = key.split('.').next().unwrap_or(key);
    let later = LATER.contains(&key) || LATER.contains(&section);
    let reason = if later { "is not in this version" } else { "is not a key" };
    let right = match nearest(key) {
        _ if section == "user" && !later => {
            "the keys of [[user]] (two brackets): name, password, password_file".to_owned()
        }
        Some(near) if !later => format!("perhaps {near}"),
        _ => "leave it out; `onetrip config` prints every key".to_owned(),
    };
    // A text behind a misspelt key may be a password.
    let value = if value.is_str() { String::new() } else { value.to_string() };
    Fault { key: key.to_owned(), value, reason: reason.to_owned(), right }
}

/// The known key that differs least, if by little.
fn nearest(key: &str) -> Option<&'static str> {
    let alike = KNOWN.iter().filter(|known| known.contains('.') == key.contains('.'));
    let distances = alike.map(|known| (distance(key, known), *known));
    distances.min().filter(|(distance, _)| *distance <= 3).map(|(_, known)| known)
}

/// Edits from one text to the other (Levenshtein).
pub fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unknown_key_is_found_at_once() {
        let text = "[proxy]\nlissten = 1\nlisten = 'a:1'\ntls = {}\n[guard]\ndeny = []\n[[pin]]\nshard = 1\n";
        let (mut keys, _) = parse(text, "t").unwrap();
        let faults = refuse_unknown(&mut keys);
        let find = |key: &str| faults.iter().find(|f| f.key == key).unwrap();
        assert_eq!(faults.len(), 4);
        assert_eq!(find("proxy.lissten").right, "perhaps proxy.listen");
        for key in ["proxy.tls", "guard.deny", "pin"] {
            assert_eq!(find(key).reason, "is not in this version");
        }
        assert_eq!(keys.len(), 1);
    }

    #[test]
    fn a_syntax_error_says_where() {
        let fault = parse("[proxy]\nlisten = \n", "x.toml").unwrap_err();
        assert!(fault.reason.contains("line 2"), "{}", fault.reason);
    }
}
