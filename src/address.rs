//! Addresses of sockets, and secrets: what the command line, the configuration and the dialler share.
//!
//! Owns the grammar of ADDR: `host:port`, `redis://[[user]:password@]host:port`, `unix:/path`. A host stays a name
//! until it is dialled, so that a shard that moved is found at its new place. A `Secret` can be sent and compared, and
//! never shows in a log, a fault or a debug print: `Debug` is the only formatting it has.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where a socket is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl Address {
    /// This address with the port that was bound for it, which port 0 left to the kernel.
    pub fn bound_at(&self, bound: io::Result<SocketAddr>) -> Address {
        match (self, bound) {
            (Address::Tcp { host, .. }, Ok(at)) => Address::Tcp { host: host.clone(), port: at.port() },
            _ => self.clone(),
        }
    }

    /// Whether only this machine reaches it.
    pub fn is_local(&self) -> bool {
        match self {
            Address::Tcp { host, .. } => is_loopback(host),
            Address::Unix(_) => true,
        }
    }
}

/// Whether a host is this machine's loopback, by name or number.
pub fn is_loopback(host: &str) -> bool {
    let number = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || number.is_ok_and(|ip| ip.is_loopback())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A password. Compare it in constant time, never with `==` on its bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: String) -> Secret {
        Secret(text)
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// With what a shard is asked to let onetrip in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    pub user: Option<String>,
    pub password: Secret,
}

/// An address with the login that it may carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub address: Address,
    pub login: Option<Login>,
}

/// Why a text is not an address, in words for whoever typed it.
pub type Reason = &'static str;

impl Target {
    pub fn parse(text: &str) -> Result<Target, Reason> {
        if let Some(path) = text.strip_prefix("unix:") {
            return unix(path);
        }
        match text.split_once("://") {
            None => plain(text, None),
            Some(("redis", rest)) => url(rest),
            Some(("rediss", _)) => Err("TLS is not in this version"),
            Some(_) => Err("is a URL that is not redis://"),
        }
    }
}

fn unix(path: &str) -> Result<Target, Reason> {
    // `unix:///run/x.sock` is what other tools write; it is the same path.
    let path = path.strip_prefix("//").unwrap_or(path);
    if !path.starts_with('/') {
        return Err("has a path that is not absolute");
    }
    // The kernel's sun_path is 108 bytes with its end mark.
    if path.len() > 107 || path.contains('\0') {
        return Err("has a path longer than the 107 bytes that a unix socket may have");
    }
    Ok(Target { address: Address::Unix(PathBuf::from(path)), login: None })
}

fn url(rest: &str) -> Result<Target, Reason> {
    let (login, place) = match rest.rsplit_once('@') {
        Some((login, place)) => (Some(parse_login(login)?), place),
        None => (None, rest),
    };
    if place.contains(['?', '#']) {
        return Err("has options behind the address, which mean nothing here");
    }
    match place.split_once('/') {
        None | Some((_, "")) => plain(place.trim_end_matches('/'), login),
        Some(_) => Err("names a database: clients choose theirs, an address has none"),
    }
}

fn parse_login(text: &str) -> Result<Login, Reason> {
    let (user, password) = text.split_once(':').ok_or("has a user and no password")?;
    if password.is_empty() {
        return Err("has an empty password");
    }
    let user = percent_decoded(user)?;
    Ok(Login { user: (!user.is_empty()).then_some(user), password: Secret::new(percent_decoded(password)?) })
}

fn plain(text: &str, login: Option<Login>) -> Result<Target, Reason> {
    let (host, port) = text.rsplit_once(':').ok_or("has no port")?;
    let port = port.parse::<u16>().map_err(|_| "has a port that is not 0 to 65535")?;
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.strip_suffix(']').ok_or("has a [ without its ]")?,
        None if host.contains(':') => return Err("is an IPv6 address without its [ ]"),
        None => host,
    };
    if host.is_empty() || host.contains(|c: char| c.is_whitespace() || "/@[],".contains(c)) {
        return Err("has no usable host");
    }
    Ok(Target { address: Address::Tcp { host: host.to_owned(), port }, login })
}

fn percent_decoded(text: &str) -> Result<String, Reason> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |b: Option<u8>| b.and_then(|b| (b as char).to_digit(16));
        let (Some(high), Some(low)) = (digit(bytes.next()), digit(bytes.next())) else {
            return Err("has a % that no two hex digits follow");
        };
        decoded.push((high * 16 + low) as u8);
    }
    String::from_utf8(decoded).map_err(|_| "has a login that is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_they_are_written() {
        for text in ["localhost:6379", "[::1]:1", "unix:/run/redis.sock", "10.0.0.1:0"] {
            assert_eq!(Target::parse(text).unwrap().address.to_string(), text);
        }
        let url = Target::parse("redis://shop:p%40ss@[::1]:7000/").unwrap();
        let login = url.login.unwrap();
        assert_eq!((url.address.to_string().as_str(), login.user.as_deref()), ("[::1]:7000", Some("shop")));
        assert_eq!((login.password.expose(), format!("{:?}", login.password)), ("p@ss", "***".into()));
        assert_eq!(Target::parse("redis://:pw@h:1").unwrap().login.unwrap().user, None);
    }

    #[test]
    fn what_is_no_address_says_why() {
        for (text, part) in [
            ("localhost", "no port"),
            ("localhost:99999", "0 to 65535"),
            ("::1:6379", "without its [ ]"),
            (":6379", "no usable host"),
            ("unix:run.sock", "not absolute"),
            ("rediss://h:1", "TLS"),
            ("redis://h:1/3", "database"),
            ("http://h:1", "not redis://"),
            ("redis://:%4@h:1", "hex digits"),
            ("redis://user@h:1", "no password"),
        ] {
            let reason = Target::parse(text).unwrap_err();
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }

    #[test]
    fn loopback_is_told_from_the_rest() {
        for (host, local) in
            [("127.9.9.9", true), ("::1", true), ("LocalHost", true), ("0.0.0.0", false), ("db", false)]
        {
            assert_eq!(is_loopback(host), local, "{host}");
        }
    }
}
