//! One client's socket: reads a batch, hands it to the conversation, writes what is owed.
//!
//! Read top-down, `poll` is the life of a client's turn: write what has come, take what had to wait, read what is
//! there, write what was answered at once. It is one hand-written poll instead of reader and writer tasks, so that an
//! idle client costs one small task and a busy one is woken once a turn.
//!
//! It never decides about a request (conversation) or a reply (window).

use super::conversation::Conversation;
use super::directory::Registration;
use super::world::World;
use crate::limits;
use crate::metrics::{Backpressure, Buffer, Closed};
use crate::socket::Socket;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::time::{Sleep, sleep};
use tokio_util::io::poll_read_buf;

/// Shortest time between two looks at a silent client.
const IDLE_LOOK: Duration = Duration::from_millis(100);
/// Time between two looks whether there is memory again.
const HUNGER_LOOK: Duration = Duration::from_millis(100);
/// Reads of one socket before others get their turn.
const READS_A_TURN: usize = 4;

pub struct Connection {
    /// Before the socket: who sees its connection closed is no longer listed.
    registration: Registration,
    socket: Socket,
    conversation: Conversation,
    world: Rc<World>,
    /// What the buffer gauges and the budget have been told: undecoded, unread and claimed bytes.
    told: (usize, usize, usize),
    watched: bool,
    /// Armed while the client owes a password, and where idle clients are closed.
    deadline: Option<Pin<Box<Sleep>>>,
    /// The request that is being read has to wait for memory.
    hunger: Option<Box<Hunger>>,
}

/// A wait for memory that others have to give back: looked into from time to time, for a bounded time.
struct Hunger {
    look: Pin<Box<Sleep>>,
    looks_left: u32,
}

impl Connection {
    pub fn new(
        socket: Socket,
        conversation: Conversation,
        registration: Registration,
        world: Rc<World>,
    ) -> Connection {
        let wait = if conversation.session.authenticated() { world.idle } else { Some(world.handshake) };
        let deadline = wait.map(|wait| Box::pin(sleep(wait)));
        Connection {
            socket,
            conversation,
            registration,
            world,
            told: (0, 0, 0),
            watched: false,
            deadline,
            hunger: None,
        }
    }

    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<Closed> {
        self.conversation.window().set_waker(cx.waker());
        if self.is_killed(cx) {
            return Poll::Ready(Closed::Killed);
        }
        if let Some(reason) = self.overdue(cx) {
            return Poll::Ready(reason);
        }
        let mut reads = 0;
        loop {
            if let Err(reason) = self.write_output(cx) {
                return Poll::Ready(reason);
            }
            let world = Rc::clone(&self.world);
            if !world.tools.turn(|turn| self.conversation.resume(&world, turn)) {
                return self.stopped(cx);
            }
            if let Err(reason) = self.write_output(cx) {
                return Poll::Ready(reason);
            }
            if reads == READS_A_TURN {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            reads += 1;
            match self.poll_memory(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(false) => continue,
                Poll::Ready(true) => {}
            }
            match self.read(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) => self.conversation.end(Closed::Client),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(Closed::Io),
            }
        }
    }

    /// Nothing is read now: the client has to wait, or it is owed its last replies.
    fn stopped(&mut self, cx: &mut Context<'_>) -> Poll<Closed> {
        // A stalled request may have been answered in this very turn.
        if let Err(reason) = self.write_output(cx) {
            return Poll::Ready(reason);
        }
        if self.conversation.waits_for_nothing() {
            cx.waker().wake_by_ref();
        }
        let window = self.conversation.window();
        match self.conversation.ending() {
            Some(reason) if window.in_flight() == 0 && window.output().is_empty() => Poll::Ready(reason),
            _ => Poll::Pending,
        }
    }

    /// Why the client has taken too long. Its one timer is set again only when it goes off, not per command.
    #[inline]
    fn overdue(&mut self, cx: &mut Context<'_>) -> Option<Closed> {
        while self.deadline.as_mut()?.as_mut().poll(cx).is_ready() {
            self.deadline = None;
            if !self.conversation.session.authenticated() {
                return Some(Closed::Unauthenticated);
            }
            let idle = self.world.idle?;
            let last = Duration::from_millis(self.conversation.session.active_ms());
            let silent = Duration::from_micros(self.world.tools.unix_us()).saturating_sub(last);
            if silent >= idle && self.conversation.window().in_flight() == 0 {
                return Some(Closed::Idle);
            }
            self.deadline = Some(Box::pin(sleep(idle.saturating_sub(silent).max(IDLE_LOOK))));
        }
        None
    }

    fn is_killed(&mut self, cx: &mut Context<'_>) -> bool {
        if self.watched {
            return self.registration.is_killed();
        }
        self.watched = true;
        self.registration.killed(cx.waker())
    }

    /// Whether there is memory for more of the request that is being read; false: there won't be.
    #[inline]
    fn poll_memory(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if !self.conversation.wants_memory(&self.world) {
            self.hunger = None;
            return Poll::Ready(true);
        }
        self.poll_hunger(cx)
    }

    #[cold]
    fn poll_hunger(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let tools = Rc::clone(&self.world.tools);
        let hunger = self.hunger.get_or_insert_with(|| {
            tools.metrics.backpressure[Backpressure::Memory].add(1);
            let looks_left = limits::MEMORY_PATIENCE.as_millis() / HUNGER_LOOK.as_millis();
            Box::new(Hunger { look: Box::pin(sleep(HUNGER_LOOK)), looks_left: looks_left as u32 })
        });
        while hunger.look.as_mut().poll(cx).is_ready() {
            hunger.looks_left -= 1;
            if hunger.looks_left == 0 {
                self.hunger = None;
                tools.turn(|turn| self.conversation.give_up_request(turn));
                return Poll::Ready(false);
            }
            hunger.look = Box::pin(sleep(HUNGER_LOOK));
        }
        Poll::Pending
    }

    #[inline]
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        let tools = Rc::clone(&self.world.tools);
        let socket = Pin::new(&mut self.socket);
        let read = match self.conversation.cut_request() {
            Some(bytes) => {
                bytes.reserve(limits::READ_BYTES);
                poll_read_buf(socket, cx, bytes)
            }
            None => {
                let mut scratch = tools.scratch.borrow_mut();
                scratch.clear();
                let read = poll_read_buf(socket, cx, &mut *scratch);
                if matches!(read, Poll::Ready(Ok(n)) if n > 0) {
                    tools.turn(|turn| self.conversation.feed(&scratch, &self.world, turn));
                }
                return read;
            }
        };
        if matches!(read, Poll::Ready(Ok(n)) if n > 0) {
            tools.turn(|turn| self.conversation.proceed(&self.world, turn));
        }
        read
    }

    #[inline]
    fn write_output(&mut self, cx: &mut Context<'_>) -> Result<(), Closed> {
        let mut window = self.conversation.window();
        if let Some(reason) = window.broken() {
            return Err(reason);
        }
        while !window.output().is_empty() {
            match Pin::new(&mut self.socket).poll_write(cx, window.output()) {
                Poll::Pending => break,
                Poll::Ready(Ok(n)) if n > 0 => self.world.tools.turn(|turn| window.written(n, turn)),
                Poll::Ready(_) => return Err(Closed::Io),
            }
        }
        Ok(())
    }

    /// Keeps the worker's buffer gauges and the directory up to date, once a turn.
    #[inline]
    fn tell(&mut self) {
        let (undecoded, waiting) =
            (self.conversation.undecoded_bytes(), self.conversation.window().waiting_bytes());
        let now = (undecoded, waiting, self.conversation.claim());
        if now != self.told {
            let gauges = &self.world.tools.metrics.buffer_bytes;
            gauges[Buffer::ClientIn].add(now.0 as u64);
            gauges[Buffer::ClientIn].sub(self.told.0 as u64);
            gauges[Buffer::ClientOut].add(now.1 as u64);
            gauges[Buffer::ClientOut].sub(self.told.1 as u64);
            self.world.budget.claim(self.told.2, now.2);
            self.told = now;
        }
        let tools = &self.world.tools;
        if tools.turn(|turn| self.conversation.note_batch(turn.unix_us() / 1_000)) {
            self.registration.note(&self.conversation.session);
        }
    }
}

impl Future for Connection {
    type Output = Closed;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Closed> {
        let this = self.get_mut();
        let polled = this.poll_turn(cx);
        this.tell();
        polled
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let world = Rc::clone(&self.world);
        world.tools.turn(|turn| self.conversation.abandon(turn));
        self.tell();
    }
}
