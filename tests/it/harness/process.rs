//! Child processes and the ports that they listen on.
//!
//! Owns starting a process with its output in a file, signals, its memory and CPU as the kernel counts them, and its
//! certain end: killed and reaped with its handle, and by the kernel (`setpriv --pdeathsig`) if the test binary
//! itself is killed. A child must therefore be started by the thread that uses it to the end.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A port that nothing listens on. Chosen below the range from which the kernel takes the ports of outgoing
/// connections, so that a test with ten thousand of those can't take it before the server does.
pub fn free_port() -> u16 {
    // Each port is given out once: between the look and its use it is nobody's, and tests run side by side.
    static NEXT: OnceLock<AtomicU32> = OnceLock::new();
    let next = NEXT.get_or_init(|| AtomicU32::new(fastrand::u32(..20_000)));
    for _ in 0..1000 {
        let port = 12_000 + (next.fetch_add(1, Ordering::Relaxed) % 20_000) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no free port between 12000 and 32000");
}

pub struct Process {
    name: String,
    child: Child,
    output: PathBuf,
    ended: Option<ExitStatus>,
}

impl Process {
    /// Starts `program args`, with standard output and error going to a file in `dir`.
    pub fn start(name: &str, program: &str, args: &[String], dir: &Path) -> Process {
        let output = dir.join("output");
        let file = File::options().create(true).append(true).open(&output).expect("the output file opens");
        let copy = file.try_clone().expect("the output file is shared");
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", program])
            .args(args)
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(copy)
            .spawn()
            .unwrap_or_else(|e| panic!("{name}: {program} does not start: {e}"));
        Process { name: name.to_owned(), child, output, ended: None }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed so far.
    pub fn output(&self) -> String {
        let bytes = std::fs::read(&self.output).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.id() as i32), signal).expect("the process can be signalled");
    }

    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().expect("a child can be waited for");
        }
        self.ended
    }

    /// Its exit status; panics if it still runs after `limit`.
    #[track_caller]
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.ended() {
                return status;
            }
            assert!(Instant::now() < deadline, "{} still runs after {limit:?}", self.name);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn kill(&mut self) {
        if self.ended().is_none() {
            self.child.kill().ok();
            self.ended = self.child.wait().ok();
        }
    }

    /// Resident memory in bytes, and its highest value so far.
    pub fn memory(&self) -> Memory {
        let path = format!("/proc/{}/status", self.id());
        let status = std::fs::read_to_string(path).expect("a running process has a status");
        let field = |name: &str| -> u64 {
            let line = status.lines().find(|l| l.starts_with(name)).unwrap_or_default();
            let kib = line.split_whitespace().nth(1).unwrap_or_default();
            kib.parse::<u64>().expect("a number of KiB") * 1024
        };
        Memory { now: field("VmRSS:"), peak: field("VmHWM:") }
    }

    /// Sets the highest resident memory back to what is resident now.
    pub fn forget_peak(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.id()), "5").expect("the peak can be set back");
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub now: u64,
    pub peak: u64,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            let output = self.output();
            let tail = output.len().saturating_sub(4000);
            let text = String::from_utf8_lossy(&output.as_bytes()[tail..]).into_owned();
            if !text.is_empty() {
                eprintln!("--- what {} printed ---\n{text}---", self.name);
            }
        }
    }
}
