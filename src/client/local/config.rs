//! CONFIG GET: what clients, frameworks and dashboards read of a server's settings, with our values.
//!
//! Owns the list of settings that onetrip reports by itself. What the shards say goes before it, but for what belongs
//! to this process (`reassembly::merge::config`); embedded shards say nothing, so there the list is the answer. One
//! that means nothing over several shards is not in it, and no password ever is. Values are text, made when the
//! configuration is, because they are read a few times a minute and by clients that only look.

use super::glob;
use crate::limits;
use crate::resp::request::Args;

/// The settings that CONFIG GET reports where no shard does.
#[derive(Clone, Debug)]
pub struct Settings(Vec<(&'static str, String)>);

/// Names and values where nothing else was configured. Those without a counterpart here say what is so: nothing is
/// saved by us, no replica is writable, one database is served.
const DEFAULTS: &[(&str, &str)] = &[
    ("activedefrag", "no"),
    ("appendfsync", "everysec"),
    ("appendonly", "no"),
    ("bind", ""),
    ("busy-reply-threshold", "5000"),
    ("client-output-buffer-limit", "normal 0 0 0 slave 0 0 0 pubsub 0 0 0"),
    ("cluster-enabled", "no"),
    ("databases", "1"),
    ("dbfilename", ""),
    ("dir", ""),
    ("hash-max-listpack-entries", "512"),
    ("hash-max-listpack-value", "64"),
    ("hash-max-ziplist-entries", "512"),
    ("hash-max-ziplist-value", "64"),
    ("hz", "10"),
    ("io-threads", "1"),
    ("latency-monitor-threshold", "0"),
    ("latency-tracking", "yes"),
    ("lazyfree-lazy-eviction", "no"),
    ("lazyfree-lazy-expire", "no"),
    ("lazyfree-lazy-server-del", "no"),
    ("lazyfree-lazy-user-del", "no"),
    ("lfu-decay-time", "1"),
    ("lfu-log-factor", "10"),
    ("list-compress-depth", "0"),
    ("list-max-listpack-size", "-2"),
    ("list-max-ziplist-size", "-2"),
    ("logfile", ""),
    ("loglevel", "notice"),
    ("lua-time-limit", "5000"),
    ("maxclients", "10000"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
    ("maxmemory-samples", "5"),
    ("min-replicas-max-lag", "10"),
    ("min-replicas-to-write", "0"),
    ("min-slaves-max-lag", "10"),
    ("min-slaves-to-write", "0"),
    ("notify-keyspace-events", ""),
    ("port", "0"),
    ("protected-mode", "no"),
    ("proto-max-bulk-len", ""),
    ("rdbcompression", "yes"),
    ("repl-backlog-size", "1048576"),
    ("repl-diskless-sync", "yes"),
    ("repl-timeout", "60"),
    ("replica-priority", "100"),
    ("replica-read-only", "yes"),
    ("replica-serve-stale-data", "yes"),
    ("replicaof", ""),
    ("save", ""),
    ("set-max-intset-entries", "512"),
    ("slave-priority", "100"),
    ("slave-read-only", "yes"),
    ("slave-serve-stale-data", "yes"),
    ("slaveof", ""),
    ("slowlog-log-slower-than", "10000"),
    ("slowlog-max-len", "128"),
    ("stop-writes-on-bgsave-error", "yes"),
    ("tcp-backlog", "511"),
    ("tcp-keepalive", "300"),
    ("timeout", "0"),
    ("tls-port", "0"),
    ("tracking-table-max-keys", "1000000"),
    ("unixsocket", ""),
    ("zset-max-listpack-entries", "128"),
    ("zset-max-listpack-value", "64"),
    ("zset-max-ziplist-entries", "128"),
    ("zset-max-ziplist-value", "64"),
];

impl Default for Settings {
    fn default() -> Settings {
        let owned = |&(name, value): &(&'static str, &str)| (name, value.to_owned());
        let mut settings = Settings(DEFAULTS.iter().map(owned).collect());
        settings.set("proto-max-bulk-len", limits::BULK_BYTES_MAX);
        settings
    }
}

impl Settings {
    /// Reports another value under a name of the list; a name that is not in it is a mistake of the caller's.
    pub fn set(&mut self, name: &str, value: impl ToString) {
        let entry = self.0.iter_mut().find(|(known, _)| *known == name);
        assert!(entry.is_some(), "no setting is reported as {name}");
        if let Some(entry) = entry {
            entry.1 = value.to_string();
        }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        let entry = self.0.iter().find(|(known, _)| *known == name);
        entry.map(|(_, value)| value.as_str())
    }

    /// What CONFIG GET pattern … asks for, each once. A name that is no pattern is told in the letters of the client,
    /// as servers do.
    pub fn asked(&self, args: Args<'_>) -> Vec<(Vec<u8>, String)> {
        let mut found: Vec<(Vec<u8>, String)> = Vec::new();
        for pattern in args.iter().skip(2) {
            let plain = !pattern.iter().any(|b| b"*?[".contains(b));
            for (name, value) in &self.0 {
                let matches = match plain {
                    true => name.as_bytes().eq_ignore_ascii_case(pattern),
                    false => glob::matches(pattern, name.as_bytes()),
                };
                if matches && !found.iter().any(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes())) {
                    let shown = if plain { pattern } else { name.as_bytes() };
                    found.push((shown.to_vec(), value.clone()));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::request::Decoder;

    fn asked(line: &str) -> String {
        let mut decoder = Decoder::default();
        let bytes = format!("{line}\n").into_bytes();
        assert!(decoder.next(&bytes, true).is_ok());
        let found = Settings::default().asked(decoder.args(&bytes));
        let rows = found.iter().map(|(name, value)| format!("{}={value}", String::from_utf8_lossy(name)));
        rows.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn settings_are_found_by_several_patterns_once() {
        assert_eq!(asked("CONFIG GET nosuch"), "");
        assert_eq!(asked("CONFIG GET timeout t?meout"), "timeout=0");
        assert_eq!(asked("CONFIG GET save appendonly"), "save= appendonly=no");
        assert_eq!(asked("CONFIG GET *BULK*"), "proto-max-bulk-len=536870912");
        assert_eq!(asked("CONFIG GET *").split(' ').filter(|row| row.contains('=')).count(), DEFAULTS.len());
    }

    #[test]
    fn a_name_is_told_as_it_was_asked_for() {
        assert_eq!(asked("CONFIG GET TimeOut timeout time*"), "TimeOut=0");
    }

    #[test]
    fn every_setting_that_clients_read_is_reported() {
        let settings = Settings::default();
        for name in [
            "timeout",
            "replica-read-only",
            "slave-read-only",
            "databases",
            "save",
            "appendonly",
            "maxmemory",
            "maxmemory-policy",
            "notify-keyspace-events",
            "port",
            "proto-max-bulk-len",
            "maxclients",
        ] {
            assert!(settings.get(name).is_some(), "{name}");
        }
        assert!(DEFAULTS.is_sorted() && settings.get("requirepass").is_none());
    }
}
