//! Random streams of requests, made from the templates and a seed.
//!
//! Each request knows how its replies are to be compared. Some are spoilt on purpose: an argument too few or too
//! many, a key of another type, the name in odd case, the whole as an inline line. Keys are few, so that requests
//! meet each other's data; every key carries one of 40 hash tags, so that they spread over all shards.

use super::compare::Compare;
use super::templates::{COMMON, REAL};
use crate::harness::request;
use fastrand::Rng;

pub struct Step {
    pub args: Vec<Vec<u8>>,
    pub bytes: Vec<u8>,
    pub compare: Compare,
}

impl Step {
    pub fn new(args: Vec<Vec<u8>>, compare: Compare) -> Step {
        let bytes = request(&args);
        Step { args, bytes, compare }
    }

    pub fn show(&self) -> String {
        let words = self.args.iter().map(|a| a.escape_ascii().to_string());
        let mut line = words.collect::<Vec<_>>().join(" ");
        line.truncate(200);
        line
    }
}

pub struct Generator {
    rng: Rng,
    /// Whether the shards are real servers, which know all types.
    real: bool,
    last_id: u64,
}

const TYPES: &[u8] = b"slhezxpgb";
const VOCABULARY: &[&str] = &["a", "b", "c", "alpha", "beta", "7", "m", "Palermo", "10"];

impl Generator {
    pub fn new(rng: Rng, real: bool) -> Generator {
        Generator { rng, real, last_id: 0 }
    }

    pub fn step(&mut self) -> Step {
        let common = !self.real || self.rng.u8(..100) < 40;
        let table = if common { COMMON } else { REAL };
        let mut template = table[self.rng.usize(..table.len())];
        let mut compare = Compare::Bytes;
        if let Some(rest) = template.strip_prefix('~') {
            (template, compare) = (rest, Compare::AnyOrder);
        } else if let Some(rest) = template.strip_prefix('?') {
            (template, compare) = (rest, Compare::WithinOne);
        } else if let Some(rest) = template.strip_prefix('#') {
            (template, compare) = (rest, Compare::Shared);
        }
        let as_it_is = template.starts_with('=');
        let mut args = self.fill(template.trim_start_matches('='), !as_it_is);
        if !as_it_is {
            // Behind a number of keys, an argument less makes an option one of the keys.
            self.spoil(&mut args, !template.contains(" 2 %"));
        }
        let mut step = Step::new(args, compare);
        if self.rng.u8(..100) < 8 {
            step.bytes = inline(&step.args);
        }
        step
    }

    fn fill(&mut self, template: &str, may_swap: bool) -> Vec<Vec<u8>> {
        let tag = self.rng.u8(..40);
        // A key of another type in every place: WRONGTYPE, or a command that doesn't care.
        let swap =
            (may_swap && self.real && self.rng.u8(..100) < 5).then(|| TYPES[self.rng.usize(..TYPES.len())]);
        let words = template.split(' ');
        words.map(|word| self.word(word, tag, swap)).collect()
    }

    fn word(&mut self, word: &str, tag: u8, swap: Option<u8>) -> Vec<u8> {
        let (before, mark) = match word.strip_prefix('(') {
            Some(rest) => ("(", rest.as_bytes()),
            None => ("", word.as_bytes()),
        };
        let text = match *mark {
            [b'%', kind] => self.key(swap.unwrap_or(kind), tag),
            [b'&', kind] => {
                let tag = self.rng.u8(..40);
                self.key(kind, tag)
            }
            [b'$', b'v'] => return self.value(),
            [b'$', kind] => self.scalar(kind),
            _ => word[before.len()..].to_owned(),
        };
        format!("{before}{text}").into_bytes()
    }

    fn key(&mut self, kind: u8, tag: u8) -> String {
        format!("{{t{tag}}}{}{}", kind as char, self.rng.u8(..4))
    }

    fn scalar(&mut self, kind: u8) -> String {
        let rng = &mut self.rng;
        match kind {
            b'w' => VOCABULARY[rng.usize(..VOCABULARY.len())].to_owned(),
            b'i' => rng.i32(-4..20).to_string(),
            b'n' => match rng.u8(..8) {
                0 => i64::MAX.to_string(),
                1 => i64::MIN.to_string(),
                2 => "9223372036854775808".to_owned(),
                _ => rng.i64(-1000..1000).to_string(),
            },
            b'f' => match rng.u8(..10) {
                0 => "inf".to_owned(),
                1 => "1e3".to_owned(),
                2 => "nonsense".to_owned(),
                _ => format!("{}", f64::from(rng.i32(-4000..4000)) / 16.0),
            },
            b't' => (9_999_990_000 + rng.u64(..5000)).to_string(),
            b'T' => (9_999_990_000_000 + rng.u64(..5_000_000)).to_string(),
            b'd' => {
                // Mostly ahead of all others, at times one that was used before.
                self.last_id += 1;
                let back = if rng.u8(..4) == 0 { rng.u64(..20) } else { 0 };
                format!("{}-{}", self.last_id.saturating_sub(back), rng.u8(..3))
            }
            other => panic!("no such mark in a template: ${}", other as char),
        }
    }

    fn value(&mut self) -> Vec<u8> {
        let rng = &mut self.rng;
        match rng.u8(..12) {
            0 => Vec::new(),
            1 => b"a\r\nb\x00\xff".to_vec(),
            2 => b"$5\r\n+OK\r\n".to_vec(),
            3 => rng.i64(..).to_string().into_bytes(),
            4 => vec![b'x'; rng.usize(..3000)],
            5 => "3.0e3".into(),
            _ => format!("value-{}", rng.u16(..)).into_bytes(),
        }
    }

    fn spoil(&mut self, args: &mut Vec<Vec<u8>>, may_drop: bool) {
        let rng = &mut self.rng;
        match rng.u8(..100) {
            0..4 if may_drop && args.len() > 1 => drop(args.pop()),
            // Where it is taken for a key, it has the slot of the others.
            4..6 => {
                let tag = args[1..].iter().find(|arg| arg.starts_with(b"{t"));
                let tag = tag.and_then(|arg| arg.split_inclusive(|&b| b == b'}').next());
                args.push([tag.unwrap_or_default(), b"extra"].concat());
            }
            6..16 => {
                for byte in &mut args[0] {
                    if rng.bool() {
                        byte.make_ascii_lowercase();
                    }
                }
            }
            _ => {}
        }
    }
}

/// The request as a line that a person could type, every byte quoted that needs it.
fn inline(args: &[Vec<u8>]) -> Vec<u8> {
    let words = args.iter().map(|arg| {
        let mut word = String::from("\"");
        for &byte in arg {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' | b'-' | b'{' | b'}' => {
                    word.push(byte as char);
                }
                b'\n' => word += "\\n",
                other => word += &format!("\\x{other:02x}"),
            }
        }
        word + "\""
    });
    let mut line = words.collect::<Vec<_>>().join(" ").into_bytes();
    line.extend_from_slice(b"\r\n");
    line
}
