//! A client without a socket: words in, the reply out, for the tests of this folder.

use super::{After, Facts, Settings, answer};
use crate::client::directory::{Directory, Peer, Registration};
use crate::command::Handling;
use crate::command::lookup::{self, Found};
use crate::resp::request::{Decoded, Decoder};
use crate::resp::{Proto, write};
use crate::session::{Admit, Session};
use bytes::BytesMut;
use std::cell::Cell;
use std::sync::Arc;

pub(super) struct Client {
    pub session: Session,
    pub registration: Registration,
    pub after: After,
    facts: Facts,
}

/// Unix time of every request, milliseconds; clients connected five seconds earlier.
pub(super) const NOW_MS: u64 = 1_700_000_000_000;

impl Client {
    pub fn new() -> Client {
        Client::beside(&Arc::default())
    }

    /// Another client of the same onetrip.
    pub fn beside(directory: &Arc<Directory>) -> Client {
        let created_ms = NOW_MS - 5_000;
        let peer = Peer::Tcp(([127, 0, 0, 1], 50_000).into());
        let local = Peer::Tcp(([127, 0, 0, 1], 6380).into());
        let registration = directory.enter(peer, local, created_ms);
        Client {
            session: Session::new(registration.id(), true, created_ms),
            registration,
            after: After::Continue,
            facts: Facts {
                version: "7.4.0".into(),
                now_us: Cell::new(NOW_MS * 1000),
                password: None,
                directory: directory.clone(),
                settings: Arc::new(Settings::default()),
            },
        }
    }

    pub fn directory(&self) -> &Arc<Directory> {
        &self.facts.directory
    }

    pub fn resp3(mut self) -> Client {
        self.session.set_proto(Proto::Resp3);
        self
    }

    pub fn with_password(mut self, password: &'static [u8]) -> Client {
        self.facts.password = Some(password.into());
        self.session.reset(false);
        self
    }

    /// Sends a line as one types it into a terminal.
    pub fn says(&mut self, line: &str) -> String {
        let mut decoder = Decoder::default();
        let bytes = format!("{line}\n").into_bytes();
        let Ok(Decoded::Request { .. }) = decoder.next(&bytes, true) else {
            panic!("not a request: {line}");
        };
        let args = decoder.args(&bytes);
        let Found::Command(spec, _) = lookup::find(args) else {
            panic!("not a command: {line}");
        };
        let mut out = BytesMut::new();
        match (self.session.admit(spec, 0), spec.handling) {
            (Admit::Refuse(text), _) => write::error(&mut out, text),
            (Admit::Pass, Handling::Local(op)) => {
                self.after = answer(op, args, &mut self.session, &self.facts, &mut out);
            }
            (Admit::Pass, other) => panic!("{line} is not answered here but {other:?}"),
        }
        if self.session.drops_reply() {
            out.clear();
        }
        String::from_utf8_lossy(&out).into_owned()
    }
}
