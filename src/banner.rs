//! What is said at the start: what is served, where, over which shards, where the page is, and what to type next.
//!
//! Told once everything listens, with the addresses really bound (a port may have been chosen by the kernel). With
//! JSON logs it is one log line instead, since a collector takes nothing else. No password is in it.

use crate::address::Address;
use crate::config::{Config, Kind, LogFormat};
use std::io::Write;

/// Says it: to stdout for people, to the log for collectors.
pub fn announce(config: &Config, listening: &[Address], admin: Option<&Address>) {
    match config.log_format {
        LogFormat::Text => {
            // Whoever closed stdout does not want to know.
            let _ = std::io::stdout().write_all(text(config, listening, admin).as_bytes());
        }
        LogFormat::Json => tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            listen = list(listening),
            shards = over(config),
            workers = config.proxy.workers,
            admin = admin.map(Address::to_string),
            "serving"
        ),
    }
    for warning in config.warnings() {
        tracing::warn!("{warning}");
    }
}

fn text(config: &Config, listening: &[Address], admin: Option<&Address>) -> String {
    let mut text = format!("onetrip {} serves {}\n", env!("CARGO_PKG_VERSION"), list(listening));
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<8} {value}\n"));
    line("over", over(config));
    line("workers", config.proxy.workers.to_string());
    match admin {
        Some(address) => line("page", format!("http://{}/   metrics: http://{0}/metrics", reached(address))),
        None => line("page", "none (admin is turned off)".to_owned()),
    }
    if let Some(address) = listening.first() {
        line("try", redis_cli(address, config.proxy.password.is_some()));
    }
    text
}

fn list(addresses: &[Address]) -> String {
    let texts: Vec<String> = addresses.iter().map(Address::to_string).collect();
    texts.join(", ")
}

/// The shards in a few words: all of a handful, else the first and the last.
pub fn over(config: &Config) -> String {
    let count = config.shards.count();
    let plural = if count == 1 { "" } else { "s" };
    if matches!(config.shards.kind, Kind::Embedded { .. }) {
        return format!("{count} embedded shard{plural} (their data ends with this process)");
    }
    let names = config.shards.names();
    let shown = match names.as_slice() {
        [first, .., last] if count > 6 => format!("{first} … {last}"),
        few => few.join(", "),
    };
    format!("{count} standalone shard{plural}: {shown}")
}

/// The address that a browser on this machine opens.
fn reached(address: &Address) -> Address {
    match address {
        Address::Tcp { host, port } if host == "0.0.0.0" || host == "::" => {
            Address::Tcp { host: "127.0.0.1".to_owned(), port: *port }
        }
        address => address.clone(),
    }
}

fn redis_cli(address: &Address, password: bool) -> String {
    let place = match reached(address) {
        Address::Unix(path) => format!("-s {}", path.display()),
        Address::Tcp { host, port } if host == "127.0.0.1" => format!("-p {port}"),
        Address::Tcp { host, port } => format!("-h {host} -p {port}"),
    };
    format!("redis-cli {place}{}", if password { " --askpass" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Target;
    use crate::config::args::ServeArgs;

    fn address(text: &str) -> Address {
        Target::parse(text).unwrap().address
    }

    #[test]
    fn the_banner_says_what_to_type() {
        let args = ServeArgs { backend: vec!["redis://u:pw@h:1".into()], ..ServeArgs::default() };
        let config = crate::config::load(&args).unwrap();
        let listening = [address("0.0.0.0:7000"), address("unix:/run/x.sock")];
        let text = text(&config, &listening, Some(&address("127.0.0.1:9380")));
        for part in [
            "serves 0.0.0.0:7000, unix:/run/x.sock\n",
            "1 standalone shard: h:1\n",
            "http://127.0.0.1:9380/metrics\n",
            "redis-cli -p 7000\n",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
        assert!(!text.contains("pw"));
        assert_eq!(redis_cli(&listening[1], true), "redis-cli -s /run/x.sock --askpass");
    }
}
