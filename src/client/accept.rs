//! The accept loop: one per listening address, on the control thread, bringing each client to the worker with the
//! fewest.
//!
//! Clients are not spread by the kernel (SO_REUSEPORT), whose hash leaves workers idle when clients are few. What
//! must never happen here: spinning when the process has run out of descriptors, or a client refused without a word.

use super::directory::Peer;
use crate::address::Address;
use crate::metrics::{Listener, Rejected};
use socket2::{SockRef, TcpKeepalive};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream, lookup_host};
use tokio::sync::mpsc;

/// Time between two log lines about the same want.
const SAY_AGAIN: Duration = Duration::from_secs(10);
/// Connections that the kernel keeps for us until they are accepted.
const BACKLOG: u32 = 4_096;
/// How long accepting rests when there is no descriptor left.
const DESCRIPTOR_REST: Duration = Duration::from_millis(50);

/// A client on its way to a worker.
pub struct Arrival {
    pub stream: Stream,
    pub peer: Peer,
    pub local: Peer,
}

pub enum Stream {
    Tcp(std::net::TcpStream),
    Unix(std::os::unix::net::UnixStream),
}

impl Arrival {
    pub fn listener(&self) -> Listener {
        match self.stream {
            Stream::Tcp(_) => Listener::Tcp,
            Stream::Unix(_) => Listener::Unix,
        }
    }
}

/// A worker as the accept loops see it.
#[derive(Clone)]
pub struct Door {
    pub arrivals: mpsc::Sender<Arrival>,
    /// Clients given to the worker and not gone yet.
    pub clients: Arc<AtomicUsize>,
}

/// What the accept loops share.
pub struct Reception {
    pub doors: Vec<Door>,
    pub max_clients: usize,
    pub keepalive: Option<Duration>,
    pub draining: Arc<AtomicBool>,
    /// Counts a refusal.
    pub rejected: Box<dyn Fn(Listener, Rejected) + Send + Sync>,
}

enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener, Arc<str>),
}

/// A listening socket; a unix socket's file goes with it.
pub struct Entrance {
    bound: Bound,
    /// Held for its end.
    _file: Option<SocketFile>,
}

/// A unix socket's file: removed at the end, if it is still the one that was made here.
struct SocketFile {
    path: PathBuf,
    made: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<SocketFile> {
        Ok(SocketFile { path: path.to_owned(), made: identity(path)? })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.made) {
            // Nothing can be done about a file that can't be removed.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Device and inode of what stands at a path.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let file = std::fs::symlink_metadata(path)?;
    Ok((file.dev(), file.ino()))
}

/// Makes room for a socket: removes what a dead process has left, and nothing else.
fn clear_dead_socket(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "what stands there is not a socket"));
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens on this socket"));
    }
    std::fs::remove_file(path)
}

/// Binds a listening address.
pub async fn bind(address: &Address) -> io::Result<Entrance> {
    match address {
        Address::Tcp { host, port } => {
            let at = lookup_host((host.as_str(), *port)).await?.next();
            let at = at.ok_or_else(|| io::Error::other("the name has no address"))?;
            let socket = if at.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
            socket.set_reuseaddr(true)?;
            socket.bind(at)?;
            Ok(Entrance { bound: Bound::Tcp(socket.listen(BACKLOG)?), _file: None })
        }
        Address::Unix(path) => {
            clear_dead_socket(path)?;
            let bound = Bound::Unix(UnixListener::bind(path)?, path.to_string_lossy().into());
            Ok(Entrance { bound, _file: Some(SocketFile::of(path)?) })
        }
    }
}

impl Entrance {
    /// Where clients come in: `asked`, with the port that was really bound.
    pub fn address(&self, asked: &Address) -> Address {
        match &self.bound {
            Bound::Tcp(listener) => asked.bound_at(listener.local_addr()),
            Bound::Unix(..) => asked.clone(),
        }
    }

    /// Accepts clients for as long as it is polled.
    pub async fn serve(&self, reception: &Reception) {
        let mut reserve = File::open("/dev/null").ok();
        let mut said: Option<Instant> = None;
        loop {
            match self.accept(reception.keepalive).await {
                Ok(arrival) => receive(arrival, reception).await,
                Err(error) if out_of_descriptors(&error) => {
                    if said.is_none_or(|at| at.elapsed() > SAY_AGAIN) {
                        tracing::error!("no file descriptor left: raise the limit (ulimit -n, LimitNOFILE=)");
                        said = Some(Instant::now());
                    }
                    self.refuse_one(&mut reserve, reception).await;
                    tokio::time::sleep(DESCRIPTOR_REST).await;
                }
                // The client gave up between its SYN and our accept.
                Err(error) => tracing::debug!(%error, "accept"),
            }
        }
    }

    /// With the descriptor that was kept for this, tells one waiting client why it can't come in.
    async fn refuse_one(&self, reserve: &mut Option<File>, reception: &Reception) {
        *reserve = None;
        if let Ok(Ok(arrival)) = tokio::time::timeout(Duration::ZERO, self.accept(None)).await {
            refuse(arrival, Rejected::Descriptors, reception);
        }
        *reserve = File::open("/dev/null").ok();
    }

    async fn accept(&self, keepalive: Option<Duration>) -> io::Result<Arrival> {
        match &self.bound {
            Bound::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                tcp_arrival(stream, peer, keepalive)
            }
            Bound::Unix(listener, path) => {
                let (stream, _) = listener.accept().await?;
                unix_arrival(stream, path)
            }
        }
    }
}

fn tcp_arrival(
    stream: TcpStream,
    peer: std::net::SocketAddr,
    keepalive: Option<Duration>,
) -> io::Result<Arrival> {
    stream.set_nodelay(true)?;
    if let Some(time) = keepalive {
        SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(time))?;
    }
    let local = Peer::Tcp(stream.local_addr()?);
    Ok(Arrival { stream: Stream::Tcp(stream.into_std()?), peer: Peer::Tcp(peer), local })
}

fn unix_arrival(stream: UnixStream, path: &Arc<str>) -> io::Result<Arrival> {
    let peer = Peer::Unix(Arc::clone(path));
    Ok(Arrival { stream: Stream::Unix(stream.into_std()?), peer: peer.clone(), local: peer })
}

fn out_of_descriptors(error: &io::Error) -> bool {
    // EMFILE and ENFILE have no ErrorKind.
    matches!(error.raw_os_error(), Some(24 | 23))
}

async fn receive(arrival: Arrival, reception: &Reception) {
    if reception.draining.load(Relaxed) {
        return refuse(arrival, Rejected::Draining, reception);
    }
    let load = |door: &&Door| door.clients.load(Relaxed);
    let all: usize = reception.doors.iter().map(|door| load(&door)).sum();
    let Some(door) = reception.doors.iter().min_by_key(load) else { return };
    if all >= reception.max_clients {
        return refuse(arrival, Rejected::MaxClients, reception);
    }
    door.clients.fetch_add(1, Relaxed);
    if door.arrivals.send(arrival).await.is_err() {
        tracing::debug!("a client came while its worker was stopping");
    }
}

fn refuse(arrival: Arrival, why: Rejected, reception: &Reception) {
    (reception.rejected)(arrival.listener(), why);
    let text: &[u8] = match why {
        Rejected::Draining => b"-ERR onetrip: shutting down\r\n",
        Rejected::MaxClients | Rejected::Descriptors => b"-ERR max number of clients reached\r\n",
    };
    // A client that does not take one line in its empty buffer is not worth waiting for.
    let _ = match arrival.stream {
        Stream::Tcp(mut stream) => stream.write(text),
        Stream::Unix(mut stream) => stream.write(text),
    };
}
