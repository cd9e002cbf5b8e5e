//! What one client's keys may hold, and which replies are right.
//!
//! A client has keys of its own, so the model is exact: a key has one possible value, and more than one only after a
//! write whose outcome is unknown. A reply has to fit one of them, and leaves only those that it fits.

use crate::op::Op;
use onetrip::topology::SlotMap;
use onetrip::trip::Failure;
use std::collections::HashMap;
use std::sync::Arc;

pub type Value = Option<Vec<u8>>;

/// How a reply was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Answered,
    Unreachable,
    UnknownOutcome,
}

pub struct Model {
    map: Arc<SlotMap>,
    keys: HashMap<String, Vec<Value>>,
    resp3: bool,
    /// A write of this client had an unknown outcome: it may still be on its way.
    unknown: bool,
    /// The client has changed lanes since. A write that is on its way on the old one may overtake what it sends on the
    /// new one, which "unknown" allows, so nothing can be said of its keys any more.
    pub loose: bool,
    /// The proxy may turn requests away because it is shutting down.
    pub closing: bool,
}

impl Model {
    pub fn new(map: Arc<SlotMap>) -> Model {
        Model { map, keys: HashMap::new(), resp3: false, unknown: false, loose: false, closing: false }
    }

    /// A request whose reply nobody wanted: it may have run, or not.
    pub fn unheard(&mut self, op: &Op) {
        self.maybe(op);
        self.unknown = true;
    }

    /// Checks the reply to `op` and learns from it. Panics on a reply that can't be right.
    pub fn check(&mut self, op: &Op, reply: &[u8]) -> Verdict {
        if self.loose {
            return Verdict::Answered;
        }
        if reply.starts_with(b"-") {
            return self.check_error(op, &String::from_utf8_lossy(reply));
        }
        match op {
            Op::Set(key, value) => {
                assert_eq!(reply, b"+OK\r\n", "{op:?}");
                self.keys.insert(key.clone(), vec![Some(value.clone())]);
            }
            Op::Get(key) => self.keep(key, op, reply, |value, resp3| (bulk(value, resp3), value.clone())),
            Op::Incr(key) => self.keep(key, op, reply, |value, _| {
                let next = number(value) + 1;
                (format!(":{next}\r\n").into_bytes(), Some(next.to_string().into_bytes()))
            }),
            Op::Append(key, tail) => self.keep(key, op, reply, |value, _| {
                let whole = appended(value, tail);
                (format!(":{}\r\n", whole.len()).into_bytes(), Some(whole))
            }),
            Op::Del(keys) => self.check_del(keys, reply),
            Op::Mget(keys) => self.check_mget(keys, reply),
            Op::Mset(pairs) => {
                assert_eq!(reply, b"+OK\r\n", "{op:?}");
                for (key, value) in pairs {
                    self.keys.insert(key.clone(), vec![Some(value.clone())]);
                }
            }
            Op::Echo(text) => assert_eq!(reply, bulk(&Some(text.clone()), false), "{op:?}"),
            Op::Ping => assert_eq!(reply, b"+PONG\r\n"),
            Op::Quit | Op::ReplyOn => assert_eq!(reply, b"+OK\r\n", "{op:?}"),
            Op::DbSize => {
                assert!(reply.starts_with(b":"), "DBSIZE drew {:?}", String::from_utf8_lossy(reply))
            }
            Op::Keys(_) => self.check_keys(reply),
            Op::Hello(version) => {
                self.speak(*version == 3);
                let kind = if self.resp3 { b'%' } else { b'*' };
                assert_eq!(reply[0], kind, "HELLO {version} answered in the wrong protocol");
            }
            Op::Reset => {
                self.speak(false);
                assert_eq!(reply, b"+RESET\r\n");
            }
            Op::ReplySkip | Op::ReplyOff => unreachable!("nobody waits for a reply to these"),
            Op::Unknown | Op::BadArity => panic!("{op:?} drew {:?}", String::from_utf8_lossy(reply)),
        }
        Verdict::Answered
    }

    fn speak(&mut self, resp3: bool) {
        self.loose = self.unknown && self.resp3 != resp3;
        self.resp3 = resp3;
    }

    fn check_error(&mut self, op: &Op, error: &str) -> Verdict {
        if self.closing && error == "-TRYAGAIN onetrip: shutting down, not executed\r\n" {
            return Verdict::Unreachable;
        }
        match op {
            Op::Unknown => {
                assert_eq!(error, "-ERR unknown command 'NOSUCH', with args beginning with: 'x' \r\n");
                return Verdict::Answered;
            }
            Op::BadArity => {
                assert_eq!(error, "-ERR wrong number of arguments for 'get' command\r\n");
                return Verdict::Answered;
            }
            _ => {}
        }
        if error.starts_with("-ERR onetrip: no room for the parts of this reply within") {
            assert!(matches!(op, Op::Mget(_) | Op::Keys(_)), "{op:?} drew {error:?}");
            return Verdict::Answered;
        }
        let verdict = self.verdict(op, error.trim_end_matches("\r\n"));
        let verdict = verdict.unwrap_or_else(|| panic!("{op:?} drew {error:?}"));
        if verdict == Verdict::UnknownOutcome {
            self.maybe(op);
            self.unknown = true;
        }
        verdict
    }

    /// What the exact words for a failed shard mean, said of a shard that has a part in it; `None`: other words.
    fn verdict(&self, op: &Op, error: &str) -> Option<Verdict> {
        let shards = op.shards(&self.map);
        for &shard in &shards {
            for failure in [Failure::Unreachable, Failure::Lost, Failure::TimedOut] {
                let text = failure.text(shard, &format!("sim:{shard}"));
                if error == format!("-{text}") {
                    let unknown = failure.unknown_outcome();
                    return Some(if unknown { Verdict::UnknownOutcome } else { Verdict::Unreachable });
                }
                // Several shards: which have done their part, which have not, and why.
                let reason = text.strip_prefix("ERR ").unwrap_or(&text);
                let sums = matches!(op, Op::Del(_) | Op::Mset(_));
                if let Some(lists) =
                    error.strip_prefix("-ERR onetrip: ").and_then(|e| e.strip_suffix(&format!(": {reason}")))
                    && sums
                    && shards.len() > 1
                {
                    let named: usize = lists.split_whitespace().filter(|word| is_shard(word)).count();
                    assert_eq!(named, shards.len(), "{op:?} drew {error:?}");
                    return Some(Verdict::UnknownOutcome);
                }
            }
        }
        None
    }

    /// The write may have happened.
    pub fn maybe(&mut self, op: &Op) {
        match op {
            Op::Set(key, value) => self.also(key, |_| Some(value.clone())),
            Op::Incr(key) => self.also(key, |value| Some((number(value) + 1).to_string().into_bytes())),
            Op::Append(key, tail) => self.also(key, |value| Some(appended(value, tail))),
            Op::Del(keys) => keys.iter().for_each(|key| self.also(key, |_| None)),
            Op::Mset(pairs) => {
                pairs.iter().for_each(|(key, value)| self.also(key, |_| Some(value.clone())));
            }
            _ => {}
        }
    }

    fn possible(&mut self, key: &str) -> &mut Vec<Value> {
        self.keys.entry(key.to_owned()).or_insert_with(|| vec![None])
    }

    fn also(&mut self, key: &str, change: impl Fn(&Value) -> Value) {
        let possible = self.possible(key);
        for value in possible.clone() {
            let changed = change(&value);
            if !possible.contains(&changed) {
                possible.push(changed);
            }
        }
    }

    /// Keeps the values that explain the reply, changed as the command changes them.
    fn keep(&mut self, key: &str, op: &Op, reply: &[u8], run: impl Fn(&Value, bool) -> (Vec<u8>, Value)) {
        let resp3 = self.resp3;
        let possible = self.possible(key);
        let before = possible.clone();
        possible.clear();
        for value in &before {
            let (expected, after) = run(value, resp3);
            if expected == reply && !possible.contains(&after) {
                possible.push(after);
            }
        }
        let shown = String::from_utf8_lossy(reply);
        assert!(!possible.is_empty(), "{op:?} drew {shown:?}, but the key held one of {before:?}");
    }

    fn check_del(&mut self, keys: &[String], reply: &[u8]) {
        let text = String::from_utf8_lossy(reply);
        let removed: usize = text.trim_start_matches(':').trim_end().parse().expect("an integer");
        let mut distinct = keys.to_vec();
        distinct.sort();
        distinct.dedup();
        let sure = distinct.iter().filter(|key| self.possible(key).iter().all(Option::is_some)).count();
        let most = distinct.iter().filter(|key| self.possible(key).iter().any(Option::is_some)).count();
        assert!((sure..=most).contains(&removed), "DEL {keys:?} removed {removed}, not {sure} to {most}");
        for key in distinct {
            self.keys.insert(key, vec![None]);
        }
    }

    /// All keys that are surely there, none that surely isn't, each once.
    fn check_keys(&mut self, reply: &[u8]) {
        let text = String::from_utf8_lossy(reply);
        let listed: Vec<&str> = text.split("\r\n").filter(|line| line.starts_with("client")).collect();
        assert_eq!(text.split("\r\n").next(), Some(format!("*{}", listed.len()).as_str()));
        for (key, possible) in &mut self.keys {
            let times = listed.iter().filter(|name| *name == key).count();
            possible.retain(|value| value.is_some() == (times == 1));
            assert!(times < 2 && !possible.is_empty(), "KEYS lists {key} {times} times");
        }
        assert!(listed.iter().all(|name| self.keys.contains_key(*name)), "KEYS made up one of {listed:?}");
    }

    fn check_mget(&mut self, keys: &[String], reply: &[u8]) {
        let header = format!("*{}\r\n", keys.len());
        let mut rest = reply.strip_prefix(header.as_bytes()).expect("an array as long as the request");
        for key in keys {
            let resp3 = self.resp3;
            let fits = |value: &&Value| rest.starts_with(&bulk(value, resp3));
            let possible = self.possible(key);
            let value =
                possible.iter().filter(fits).max_by_key(|value| value.as_ref().map(Vec::len)).cloned();
            let value = value.unwrap_or_else(|| panic!("MGET: {key} is none of {possible:?}"));
            rest = &rest[bulk(&value, resp3).len()..];
            *self.possible(key) = vec![value];
        }
        assert!(rest.is_empty());
    }
}

fn is_shard(word: &str) -> bool {
    word.trim_end_matches(',').parse::<u16>().is_ok()
}

fn bulk(value: &Value, resp3: bool) -> Vec<u8> {
    match value {
        Some(bytes) => [format!("${}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat(),
        None if resp3 => b"_\r\n".to_vec(),
        None => b"$-1\r\n".to_vec(),
    }
}

fn number(value: &Value) -> i64 {
    value.as_ref().map_or(0, |bytes| String::from_utf8_lossy(bytes).parse().expect("a counter"))
}

fn appended(value: &Value, tail: &[u8]) -> Vec<u8> {
    [value.as_deref().unwrap_or_default(), tail].concat()
}
