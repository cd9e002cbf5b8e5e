//! From what was given to what is meant: a valid `Config`, or every fault at once.
//!
//! Owns the meaning of each key, its range and its default's place (`limits`), and the relations between keys. A
//! function that finds a fault reports it and goes on with a stand-in; the stand-ins never leave, because a `Config`
//! is handed out only if there was no fault.

use super::args::ServeArgs;
use super::fault::{Fault, Faults};
use super::file::{self, Keys};
use super::sources::{self, Env, Given, Origin, Sources};
use super::{Config, Kind, LogFormat, Proxy};
use crate::address::{Address, Target};
use crate::limits::{self, ClientLimits, Limits, Timeouts};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Value;

const LISTEN: &str = "127.0.0.1:6380";
const ADMIN: &str = "127.0.0.1:9380";
const LISTEN_ADDRESS: &str = "host:port or unix:/path, for example 127.0.0.1:6380";
/// Longest time that a timeout may be set to: a day.
const TIMEOUT_MS_MAX: u64 = 24 * 60 * 60 * 1000;
const SECONDS_MAX: u64 = 365 * 24 * 60 * 60;
/// Largest of the bounds in bytes, 64 GiB: above it the digits are a typing error.
const BYTES_MAX: u64 = 64 << 30;

/// The configuration of this process: flags, its environment, and the file that they name.
pub fn load(args: &ServeArgs) -> Result<Config, Faults> {
    let names: Vec<String> = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    load_from(args, &|name| std::env::var(name).ok(), &names)
}

fn load_from(args: &ServeArgs, env: Env<'_>, names: &[String]) -> Result<Config, Faults> {
    let path = config_path(args, env);
    let (keys, mut faults) = match &path {
        None => (Keys::new(), Vec::new()),
        Some((key, path)) => match read_file(key, path) {
            Ok(read) => read,
            Err(fault) => (Keys::new(), vec![fault]),
        },
    };
    faults.extend(sources::unknown_variables(names));
    let path = path.map(|(_, path)| path);
    let directory = path.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
    let mut check = Check { sources: Sources::new(args, env, keys, faults), directory };
    let config = check.config();
    let faults = check.sources.faults;
    if faults.is_empty() { Ok(config) } else { Err(Faults(faults)) }
}

/// Where the file is, and who says so.
fn config_path(args: &ServeArgs, env: Env<'_>) -> Option<(&'static str, PathBuf)> {
    let flag = args.config.clone().map(|path| ("--config", path));
    let variable = || env("ONETRIP_CONFIG").filter(|path| !path.is_empty());
    flag.or_else(|| variable().map(|path| ("ONETRIP_CONFIG", PathBuf::from(path))))
}

fn read_file(key: &str, path: &Path) -> Result<(Keys, Vec<Fault>), Fault> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| Fault {
        key: key.to_owned(),
        value: name.clone(),
        reason: format!("can't be read: {error}"),
        right: "a file; `onetrip config` prints one to start from".to_owned(),
    })?;
    let (mut keys, mut faults) = file::parse(&text, &name)?;
    faults.extend(file::refuse_unknown(&mut keys));
    Ok((keys, faults))
}

pub(super) struct Check<'a> {
    pub(super) sources: Sources<'a>,
    /// Of the configuration file: relative paths in it start there.
    pub(super) directory: PathBuf,
}

impl Check<'_> {
    fn config(&mut self) -> Config {
        let shards = self.shards();
        let config = Config {
            proxy: self.proxy(shards.count()),
            timeouts: self.timeouts(),
            limits: self.limits(),
            log_format: self.log_format(),
            admin: self.admin(),
            shards,
        };
        self.no_address_twice(&config);
        config
    }

    fn proxy(&mut self, shards: usize) -> Proxy {
        let seconds = |seconds: u64| (seconds > 0).then(|| Duration::from_secs(seconds));
        Proxy {
            listen: self.listen(),
            workers: self.workers(shards),
            tcp_keepalive: seconds(self.number(
                "proxy.tcp_keepalive_s",
                0,
                SECONDS_MAX,
                limits::TCP_KEEPALIVE_S,
            )),
            idle_timeout: seconds(self.number(
                "proxy.idle_timeout_s",
                0,
                SECONDS_MAX,
                limits::IDLE_TIMEOUT_S,
            )),
            password: self.client_password(),
        }
    }

    fn listen(&mut self) -> Vec<Address> {
        match self.sources.list("proxy.listen", LISTEN_ADDRESS) {
            None => self.listen_address(&stand_in("proxy.listen", LISTEN), LISTEN).into_iter().collect(),
            Some((given, texts)) => {
                texts.iter().filter_map(|text| self.listen_address(&given, text)).collect()
            }
        }
    }

    fn listen_address(&mut self, given: &Given, text: &str) -> Option<Address> {
        let reason = match Target::parse(text) {
            Ok(target) if target.login.is_none() => return Some(target.address),
            Ok(_) => "carries a login: passwords of clients are set under [[user]]",
            Err(reason) => reason,
        };
        self.sources.report(of_one(given, text).fault(reason, LISTEN_ADDRESS));
        None
    }

    fn workers(&mut self, shards: usize) -> usize {
        let auto = shards.div_ceil(limits::SHARDS_PER_WORKER).clamp(1, limits::WORKERS_MAX);
        let Some(given) = self.sources.take("proxy.workers") else { return auto };
        if given.value.as_str() == Some("auto") {
            return auto;
        }
        let number = self.sources.number_of(&given, 1..=limits::WORKERS_MAX as u64, auto as u64);
        number.map_or(auto, |number| number as usize)
    }

    fn timeouts(&mut self) -> Timeouts {
        let timeouts = Timeouts {
            connect: self.millis("timeouts.connect_ms", limits::CONNECT_MS),
            request: self.millis("timeouts.request_ms", limits::REQUEST_MS),
            lane_dead: self.millis("timeouts.lane_dead_ms", limits::LANE_DEAD_MS),
            handshake: self.millis("timeouts.handshake_ms", limits::HANDSHAKE_MS),
            drain: self.millis("timeouts.drain_ms", limits::DRAIN_MS),
            reconnect_min: self.millis("timeouts.reconnect_min_ms", limits::RECONNECT_MIN_MS),
            reconnect_max: self.millis("timeouts.reconnect_max_ms", limits::RECONNECT_MAX_MS),
        };
        let ms = |time: Duration| time.as_millis() as u64;
        self.at_least(
            "timeouts.lane_dead_ms",
            ms(timeouts.lane_dead),
            "timeouts.request_ms",
            ms(timeouts.request),
        );
        let (most, least) = (ms(timeouts.reconnect_max), ms(timeouts.reconnect_min));
        self.at_least("timeouts.reconnect_max_ms", most, "timeouts.reconnect_min_ms", least);
        timeouts
    }

    fn limits(&mut self) -> Limits {
        let windows = (limits::WINDOW_MIN as u64, limits::WINDOW_MAX as u64);
        let client = ClientLimits {
            window_min: limits::WINDOW_MIN,
            window_max: self.number("limits.client_commands_in_flight", windows.0, windows.1, windows.1)
                as usize,
            request_bytes: self
                .bytes("limits.client_request_bytes_in_flight", limits::CLIENT_BYTES_IN_FLIGHT),
            output_soft: self.bytes("limits.output_soft_bytes", limits::OUTPUT_SOFT_BYTES),
            output_hard: self.bytes("limits.output_hard_bytes", limits::OUTPUT_HARD_BYTES),
        };
        let (hard, soft) = (client.output_hard as u64, client.output_soft as u64);
        self.at_least("limits.output_hard_bytes", hard, "limits.output_soft_bytes", soft);
        let memory_total = self.bytes("limits.memory_total_bytes", limits::MEMORY_TOTAL_BYTES);
        self.at_least("limits.memory_total_bytes", memory_total as u64, "limits.output_hard_bytes", hard);
        Limits {
            memory_total,
            clients: self.number("proxy.max_clients", 1, 1_000_000, limits::CLIENTS_MAX as u64) as usize,
            client,
            lane_bytes: self.bytes("limits.lane_bytes", limits::LANE_BYTES),
        }
    }

    fn log_format(&mut self) -> LogFormat {
        match self.sources.text("observe.log_format", "text or json") {
            None => LogFormat::Text,
            Some((_, format)) if format == "text" => LogFormat::Text,
            Some((_, format)) if format == "json" => LogFormat::Json,
            Some((given, _)) => {
                self.sources.report(given.fault("is not a format of logs", "text or json"));
                LogFormat::Text
            }
        }
    }

    fn admin(&mut self) -> Option<Address> {
        let right = "host:port, for example 127.0.0.1:9380, or none";
        let given = self.sources.text("admin.listen", right);
        let (given, text) = given.unwrap_or_else(|| (stand_in("admin.listen", ADMIN), ADMIN.to_owned()));
        if text == "none" {
            return None;
        }
        match self.listen_address(&given, &text)? {
            Address::Unix(_) => {
                self.sources.report(given.fault("browsers and scrapers don't reach a unix socket", right));
                None
            }
            address => Some(address),
        }
    }

    fn number(&mut self, key: &str, least: u64, most: u64, default: u64) -> u64 {
        self.sources.number(key, least..=most, default).unwrap_or(default)
    }

    fn millis(&mut self, key: &str, default: u64) -> Duration {
        Duration::from_millis(self.number(key, 1, TIMEOUT_MS_MAX, default))
    }

    /// A bound in bytes; below 64 KiB not even one read fits.
    fn bytes(&mut self, key: &str, default: usize) -> usize {
        self.number(key, 64 * 1024, BYTES_MAX, default as u64) as usize
    }

    fn at_least(&mut self, key: &str, value: u64, other: &str, least: u64) {
        if value < least {
            let given = stand_in(key, "");
            let reason = format!("{value} is below {other}, {least}");
            self.sources.report(given.secret_fault(reason, format!("{least} or more")));
        }
    }

    /// Two shards at one address would count every key twice; onetrip as its own shard would never answer.
    fn no_address_twice(&mut self, config: &Config) {
        let shards = match &config.shards.kind {
            Kind::Standalone { targets } => targets.as_slice(),
            Kind::Embedded { .. } => &[],
        };
        let admin = config.admin.iter().map(|address| ("admin.listen", address));
        let listen = config.proxy.listen.iter().map(|address| ("proxy.listen", address));
        let shards = shards.iter().map(|target| ("shards.addresses", &target.address));
        let mut seen: Vec<(&str, &Address)> = Vec::new();
        for (key, address) in admin.chain(listen).chain(shards) {
            let ours = key != "shards.addresses";
            let met = seen.iter().find(|(_, seen)| same(address, seen) || (ours && covers(address, seen)));
            if let Some((other, seen)) = met {
                let mut fault = stand_in(key, &address.to_string()).fault("", "each address once");
                fault.reason = match same(address, seen) {
                    true => format!("the same address stands in {other}"),
                    false => {
                        format!("{seen} in {other} has the same port, and one of the two is every address")
                    }
                };
                self.sources.report(fault);
            }
            seen.push((key, address));
        }
    }
}

/// Whether two texts are one address. Names have no case; with port 0 the kernel chooses another each time.
fn same(a: &Address, b: &Address) -> bool {
    match (a, b) {
        (Address::Tcp { host: a, port: p }, Address::Tcp { host: b, port: q }) => {
            p == q && *p != 0 && a.eq_ignore_ascii_case(b)
        }
        (a, b) => a == b,
    }
}

/// Whether one of two listening addresses is every address of the machine, the other's among them.
fn covers(a: &Address, b: &Address) -> bool {
    let (Address::Tcp { host: a, port: p }, Address::Tcp { host: b, port: q }) = (a, b) else { return false };
    let every = |host: &str, other: &str| host == "::" || (host == "0.0.0.0" && !other.contains(':'));
    p == q && *p != 0 && (every(a, b) || every(b, a))
}

/// A default, as if it had been given.
pub(super) fn stand_in(key: &str, text: &str) -> Given {
    Given { key: key.to_owned(), value: Value::String(text.to_owned()), origin: Origin::File }
}

/// One item of a list that was given. A login in it is left out.
pub(super) fn of_one(given: &Given, text: &str) -> Given {
    let shown = match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://***@{place}"),
        (None, Some((_, place))) => format!("***@{place}"),
        (_, None) => text.to_owned(),
    };
    Given { value: Value::String(shown), ..given.clone() }
}

#[cfg(test)]
mod tests;
