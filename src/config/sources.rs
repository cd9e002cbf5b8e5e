//! One value per key, from the first that gives it: flags, environment, file.
//!
//! Owns the order of precedence, how each option is called in each place, and reading a value as a number, a text or a
//! list. Collects the faults, so that its callers go on with `None` and all of them are told together. Must never
//! quote a secret.

use super::args::ServeArgs;
use super::fault::Fault;
use super::file::{Keys, distance};
use std::ops::RangeInclusive;
use toml::Value;

/// The environment, as a function: a test has one of its own.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
    Env,
    File,
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Given {
    /// The key in its author's words.
    pub key: String,
    pub value: Value,
    pub origin: Origin,
}

impl Given {
    pub fn fault(&self, reason: impl Into<String>, right: impl Into<String>) -> Fault {
        Fault {
            key: self.key.clone(),
            value: self.value.to_string(),
            reason: reason.into(),
            right: right.into(),
        }
    }

    /// The same, of a secret.
    pub fn secret_fault(&self, reason: impl Into<String>, right: impl Into<String>) -> Fault {
        Fault { value: String::new(), ..self.fault(reason, right) }
    }

    fn whole_number(&self) -> Option<u64> {
        match &self.value {
            Value::Integer(number) => u64::try_from(*number).ok(),
            Value::String(text) if self.origin != Origin::File => text.trim().parse().ok(),
            _ => None,
        }
    }
}

/// Options by key, and how the environment calls them (flags are called the same, in small letters).
const OPTIONS: &[(&str, &str, &str)] = &[
    ("proxy.listen", "--listen", "ONETRIP_LISTEN"),
    ("proxy.workers", "--workers", "ONETRIP_WORKERS"),
    ("shards.count", "--shards", "ONETRIP_SHARDS"),
    ("shards.addresses", "--backend", "ONETRIP_BACKEND"),
    ("admin.listen", "--admin", "ONETRIP_ADMIN"),
    ("observe.log_format", "--log-format", "ONETRIP_LOG_FORMAT"),
    // No flag: every user of the machine reads a process's command line.
    ("user.password", "", "ONETRIP_PASSWORD"),
    ("shards.password", "", "ONETRIP_SHARD_PASSWORD"),
];

/// Variables that are no option of `check`'s.
const OTHERS: &[&str] = &["ONETRIP_CONFIG", "ONETRIP_LOG"];

/// A fault for each variable that looks like ours and is not.
pub fn unknown_variables(names: &[String]) -> Vec<Fault> {
    let known: Vec<&str> = OPTIONS.iter().map(|(.., env)| *env).chain(OTHERS.iter().copied()).collect();
    let mut unknown: Vec<&String> = names.iter().filter(|name| name.starts_with("ONETRIP_")).collect();
    unknown.retain(|name| !known.contains(&name.as_str()) && !is_somebody_elses(name));
    unknown.sort();
    let fault = |name: &String| Fault {
        key: name.clone(),
        // It may be a password.
        value: String::new(),
        reason: "is not a variable of onetrip".to_owned(),
        right: match known.iter().min_by_key(|known| distance(name, known)) {
            Some(nearest) => format!("perhaps {nearest}; else leave it out"),
            None => "leave it out".to_owned(),
        },
    };
    unknown.into_iter().map(fault).collect()
}

/// Kubernetes and container links set these for a service that is called onetrip; our tests have some of their own.
fn is_somebody_elses(name: &str) -> bool {
    let parts = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"];
    name.starts_with("ONETRIP_TEST_")
        || name.ends_with("_PORT")
        || parts.iter().any(|part| name.contains(part))
}

pub struct Sources<'a> {
    args: &'a ServeArgs,
    env: Env<'a>,
    keys: Keys,
    pub faults: Vec<Fault>,
}

impl<'a> Sources<'a> {
    pub fn new(args: &'a ServeArgs, env: Env<'a>, keys: Keys, faults: Vec<Fault>) -> Sources<'a> {
        Sources { args, env, keys, faults }
    }

    /// The value of a key, if anybody gives one.
    pub fn take(&mut self, key: &str) -> Option<Given> {
        self.option(key).or_else(|| {
            let value = self.keys.remove(key)?;
            Some(Given { key: key.to_owned(), value, origin: Origin::File })
        })
    }

    /// The value of a key on the command line or in the environment. Empty is not given: compose files pass that.
    pub fn option(&self, key: &str) -> Option<Given> {
        let &(_, flag, env) = OPTIONS.iter().find(|(name, ..)| *name == key)?;
        if let Some(value) = self.flag(key) {
            return Some(Given { key: flag.to_owned(), value, origin: Origin::Flag });
        }
        let text = (self.env)(env).filter(|text| !text.is_empty())?;
        Some(Given { key: env.to_owned(), value: Value::String(text), origin: Origin::Env })
    }

    fn flag(&self, key: &str) -> Option<Value> {
        let list = |texts: &[String]| {
            let texts: Vec<Value> = texts.iter().cloned().map(Value::String).collect();
            (!texts.is_empty()).then_some(Value::Array(texts))
        };
        let text = |text: &Option<String>| text.clone().map(Value::String);
        match key {
            "proxy.listen" => list(&self.args.listen),
            "proxy.workers" => text(&self.args.workers),
            "shards.count" => text(&self.args.shards),
            "shards.addresses" => list(&self.args.backend),
            "admin.listen" => text(&self.args.admin),
            "observe.log_format" => text(&self.args.log_format),
            _ => None,
        }
    }

    pub fn report(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// A whole number in a range; `None` where nobody gives one and where it is at fault.
    pub fn number(&mut self, key: &str, range: RangeInclusive<u64>, example: u64) -> Option<u64> {
        let given = self.take(key)?;
        self.number_of(&given, range, example)
    }

    pub fn number_of(&mut self, given: &Given, range: RangeInclusive<u64>, example: u64) -> Option<u64> {
        let number = given.whole_number();
        if number.is_some_and(|number| range.contains(&number)) {
            return number;
        }
        let reason = if number.is_some() { "is out of range" } else { "is not a whole number" };
        let right = format!("{} to {}, for example {example}", range.start(), range.end());
        self.report(given.fault(reason, right));
        None
    }

    /// A text that is not empty.
    pub fn text(&mut self, key: &str, right: &str) -> Option<(Given, String)> {
        let given = self.take(key)?;
        match &given.value {
            Value::String(text) if !text.is_empty() => Some((given.clone(), text.clone())),
            _ => {
                self.report(given.fault("is not a text", right));
                None
            }
        }
    }

    /// A list of texts, or one text; the environment separates by commas. `None` where nobody gives one.
    pub fn list(&mut self, key: &str, right: &str) -> Option<(Given, Vec<String>)> {
        let given = self.take(key)?;
        let texts: Option<Vec<String>> = match &given.value {
            Value::String(text) if given.origin == Origin::File => Some(vec![text.clone()]),
            Value::String(text) => Some(text.split(',').map(|t| t.trim().to_owned()).collect()),
            Value::Array(items) => items.iter().map(|v| v.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        match texts.filter(|texts| !texts.is_empty()) {
            Some(texts) => Some((given, texts)),
            None => {
                // A list of addresses may hold logins.
                self.report(given.secret_fault("is not a list of texts", right));
                Some((given, Vec::new()))
            }
        }
    }
}
