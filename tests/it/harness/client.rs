//! A blocking RESP client that shows everything: raw bytes out, raw replies in, whether the connection was closed.
//!
//! It never reconnects, never sends what it wasn't told to, and gives up loudly: a reply that doesn't come within
//! the timeout is a failed test. Writing and reading can be done by two threads (`split`), for streams larger than
//! what sockets hold.

use super::reply::{Reply, frame_end, show};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub enum Address {
    Tcp(String),
    Unix(String),
}

impl Address {
    pub fn local(port: u16) -> Address {
        Address::Tcp(format!("127.0.0.1:{port}"))
    }

    /// As it is written on onetrip's command line.
    pub fn flag(&self) -> String {
        match self {
            Address::Tcp(address) => address.clone(),
            Address::Unix(path) => format!("unix:{path}"),
        }
    }

    pub fn port(&self) -> u16 {
        let Address::Tcp(address) = self else { panic!("a unix socket has no port") };
        let port = address.rsplit(':').next();
        port.and_then(|p| p.parse().ok()).expect("host:port")
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn connect(address: &Address) -> io::Result<Stream> {
        match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Address::Unix(path) => Ok(Stream::Unix(UnixStream::connect(path)?)),
        }
    }

    fn set_timeout(&self, limit: Duration) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.set_read_timeout(Some(limit)).and(s.set_write_timeout(Some(limit))),
            Stream::Unix(s) => s.set_read_timeout(Some(limit)).and(s.set_write_timeout(Some(limit))),
        }
    }

    fn try_clone(&self) -> io::Result<Stream> {
        Ok(match self {
            Stream::Tcp(s) => Stream::Tcp(s.try_clone()?),
            Stream::Unix(s) => Stream::Unix(s.try_clone()?),
        })
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => s.read(into),
            Stream::Unix(s) => s.read(into),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => s.write(bytes),
            Stream::Unix(s) => s.write(bytes),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.write_all(bytes),
            Stream::Unix(s) => s.write_all(bytes),
        }
    }

    fn shutdown(&self, how: Shutdown) {
        match self {
            Stream::Tcp(s) => s.shutdown(how).ok(),
            Stream::Unix(s) => s.shutdown(how).ok(),
        };
    }
}

/// A request in multibulk form.
pub fn request<A: AsRef<[u8]>>(args: &[A]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", args.len()).into_bytes();
    for arg in args {
        let arg = arg.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
        bytes.extend_from_slice(arg);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Requests written as lines of words, one behind the other.
pub fn requests(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| request(&line.split(' ').collect::<Vec<_>>())).collect()
}

pub struct Client {
    stream: Stream,
    received: Vec<u8>,
    at: usize,
}

impl Client {
    #[track_caller]
    pub fn connect(address: &Address) -> Client {
        Client::try_connect(address).unwrap_or_else(|e| panic!("no connection to {address:?}: {e}"))
    }

    pub fn try_connect(address: &Address) -> io::Result<Client> {
        let stream = Stream::connect(address)?;
        stream.set_timeout(TIMEOUT)?;
        Ok(Client { stream, received: Vec::new(), at: 0 })
    }

    /// A connection that speaks protocol `version`.
    #[track_caller]
    pub fn speaking(address: &Address, version: u8) -> Client {
        let mut client = Client::connect(address);
        if version == 3 {
            let hello = client.command(&["HELLO", "3"]);
            assert!(matches!(hello, Reply::Map(_)), "HELLO 3 drew {hello:?}");
        }
        client
    }

    pub fn set_timeout(&self, limit: Duration) {
        self.stream.set_timeout(limit).expect("a timeout can be set");
    }

    #[track_caller]
    pub fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes).unwrap_or_else(|e| panic!("{} can't be sent: {e}", show(bytes)));
    }

    pub fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Writes what the socket takes of `bytes` within the timeout.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    #[track_caller]
    pub fn command<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Reply {
        self.send(&request(args));
        self.reply()
    }

    /// Sends one command and compares its reply byte for byte.
    #[track_caller]
    pub fn expect(&mut self, args: &[&str], reply: &str) {
        self.send(&request(args));
        let got = self.raw_reply();
        assert_eq!(show(&got), show(reply.as_bytes()), "to {args:?}");
    }

    #[track_caller]
    pub fn reply(&mut self) -> Reply {
        Reply::parse(&self.raw_reply())
    }

    /// The bytes of the next reply.
    #[track_caller]
    pub fn raw_reply(&mut self) -> Vec<u8> {
        self.try_raw_reply().unwrap_or_else(|e| panic!("no reply: {e}; bytes so far {}", show(self.unread())))
    }

    pub fn try_raw_reply(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(end) = frame_end(&self.received, self.at) {
                let reply = self.received[self.at..end].to_vec();
                self.at = end;
                self.forget_read();
                return Ok(reply);
            }
            if self.receive()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    #[track_caller]
    pub fn raw_replies(&mut self, count: usize) -> Vec<Vec<u8>> {
        (0..count).map(|_| self.raw_reply()).collect()
    }

    /// Everything that still comes until the other side closes; panics if it doesn't within `limit`.
    #[track_caller]
    pub fn until_closed(&mut self, limit: Duration) -> Vec<u8> {
        let deadline = Instant::now() + limit;
        self.set_timeout(limit);
        loop {
            match self.receive() {
                Ok(0) => break,
                Ok(_) => assert!(Instant::now() < deadline, "still open, still sending"),
                Err(e) if e.kind() == io::ErrorKind::ConnectionReset => break,
                Err(e) => panic!("still open: {e}; bytes so far {}", show(self.unread())),
            }
        }
        self.set_timeout(TIMEOUT);
        let rest = self.unread().to_vec();
        self.at = self.received.len();
        rest
    }

    /// Says that nothing more will be written.
    pub fn end_writing(&self) {
        self.stream.shutdown(Shutdown::Write);
    }

    /// A second handle on the same connection, to write from another thread.
    pub fn writer(&self) -> Client {
        Client {
            stream: self.stream.try_clone().expect("a socket can be shared"),
            received: Vec::new(),
            at: 0,
        }
    }

    fn unread(&self) -> &[u8] {
        &self.received[self.at..]
    }

    fn receive(&mut self) -> io::Result<usize> {
        let start = self.received.len();
        self.received.resize(start + 64 * 1024, 0);
        let result = self.stream.read(&mut self.received[start..]);
        self.received.truncate(start + result.as_ref().map_or(0, |n| *n));
        result
    }

    fn forget_read(&mut self) {
        if self.at > 256 * 1024 || self.at == self.received.len() {
            self.received.drain(..self.at);
            self.at = 0;
        }
    }
}
