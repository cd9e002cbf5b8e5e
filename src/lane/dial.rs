//! Opening a connection to a shard: connect, AUTH, HELLO, PING, each attempt within one deadline.
//!
//! A connection is handed over only when the shard has said PONG on it: what is loading its data, asks for another
//! password or speaks another protocol is found out here, before a client's command is spent on it.

use crate::address::Target;
use crate::limits::Timeouts;
use crate::metrics::LaneError;
use crate::resp::Proto;
use crate::resp::reply::Scanner;
use crate::resp::write;
use crate::socket::Socket;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialError {
    pub kind: LaneError,
    pub text: String,
}

impl DialError {
    /// The error, and what to set where it is about the login.
    pub fn advice(&self) -> String {
        match self.kind {
            LaneError::Auth => format!(
                "{} (set [shards] user and password or password_file, or ONETRIP_SHARD_PASSWORD)",
                self.text
            ),
            _ => self.text.clone(),
        }
    }

    fn new(kind: LaneError, text: impl std::fmt::Display) -> DialError {
        DialError { kind, text: text.to_string() }
    }
}

/// A connection that speaks `proto`, logged in, and on which the shard has answered PING.
pub async fn dial(target: &Target, proto: Proto, limits: &Timeouts) -> Result<Socket, DialError> {
    let attempt = async {
        let connected = Socket::connect(&target.address).await;
        let mut socket = connected.map_err(|error| DialError::new(LaneError::Unreachable, error))?;
        shake_hands(&mut socket, target, proto).await?;
        Ok(socket)
    };
    let late = |_| Err(DialError::new(LaneError::Unreachable, "no answer in time"));
    timeout(limits.handshake, attempt).await.unwrap_or_else(late)
}

async fn shake_hands(socket: &mut Socket, target: &Target, proto: Proto) -> Result<(), DialError> {
    let (request, replies) = greeting(target, proto);
    let io = |error| DialError::new(LaneError::Unreachable, error);
    socket.write_all(&request).await.map_err(io)?;
    let (mut scanner, mut bytes, mut seen, mut at) = (Scanner::default(), Vec::new(), 0, 0);
    let mut begun = 0;
    while seen < replies {
        if socket.read_buf(&mut bytes).await.map_err(io)? == 0 {
            return Err(DialError::new(LaneError::Unreachable, "closed during the handshake"));
        }
        while let Some(end) = scan(&mut scanner, &bytes[at..])? {
            at += end;
            check(&bytes[begun..at])?;
            begun = at;
            seen += 1;
        }
        at = bytes.len();
    }
    match begun == bytes.len() {
        true => Ok(()),
        false => Err(DialError::new(LaneError::Protocol, "more replies than requests")),
    }
}

fn scan(scanner: &mut Scanner, bytes: &[u8]) -> Result<Option<usize>, DialError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    scanner.scan(bytes).map_err(|fault| DialError::new(LaneError::Protocol, fault))
}

/// The requests of the handshake in one packet, and how many replies they draw.
fn greeting(target: &Target, proto: Proto) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    let mut replies = 1;
    if let Some(login) = &target.login {
        let password = login.password.expose();
        match &login.user {
            Some(user) => write::request(&mut out, &["AUTH", user, password]),
            None => write::request(&mut out, &["AUTH", password]),
        }
        replies += 1;
    }
    if proto == Proto::Resp3 {
        write::request(&mut out, &["HELLO", "3"]);
        replies += 1;
    }
    write::request(&mut out, &["PING"]);
    (out, replies)
}

/// Whether one reply of the handshake lets us go on.
fn check(reply: &[u8]) -> Result<(), DialError> {
    if reply.first() != Some(&b'-') {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&reply[1..]).trim_end().to_owned();
    let kind = match text.split(' ').next() {
        Some("LOADING" | "MASTERDOWN") => LaneError::Loading,
        Some("NOAUTH" | "WRONGPASS" | "NOPERM") => LaneError::Auth,
        _ if text.contains("AUTH") => LaneError::Auth,
        _ => LaneError::Protocol,
    };
    Err(DialError { kind, text })
}

/// Waits between attempts: doubled each time, half of it by chance, so that a shard that comes back is not met by
/// all workers of all proxies at once.
pub struct Backoff {
    limits: Timeouts,
    next: Duration,
}

impl Backoff {
    pub fn new(limits: Timeouts) -> Backoff {
        Backoff { next: limits.reconnect_min, limits }
    }

    pub fn reset(&mut self) {
        self.next = self.limits.reconnect_min;
    }

    pub fn wait(&mut self) -> Duration {
        let wait = self.next.mul_f64(0.5 + fastrand::f64() / 2.0);
        self.next = (self.next * 2).min(self.limits.reconnect_max);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_bound_and_start_over() {
        let limits = Timeouts::default();
        let (min, max) = (limits.reconnect_min, limits.reconnect_max);
        let mut backoff = Backoff::new(limits);
        let first = backoff.wait();
        assert!(first >= min / 2 && first <= min);
        for _ in 0..20 {
            backoff.wait();
        }
        let last = backoff.wait();
        assert!(last >= max / 2 && last <= max);
        backoff.reset();
        assert!(backoff.wait() <= min);
    }

    #[test]
    fn errors_of_the_handshake_have_a_kind() {
        let kind = |reply: &[u8]| check(reply).expect_err("an error").kind;
        assert_eq!(kind(b"-LOADING Redis is loading the dataset in memory\r\n"), LaneError::Loading);
        assert_eq!(kind(b"-NOAUTH Authentication required.\r\n"), LaneError::Auth);
        assert_eq!(kind(b"-ERR unknown command 'HELLO'\r\n"), LaneError::Protocol);
        assert!(check(b"+PONG\r\n").is_ok());
    }
}
