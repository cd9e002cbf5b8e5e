//! The bounded hand-over between a worker (one task on an event loop) and an engine (one thread).
//!
//! ```text
//!   worker                                              engine thread
//!   port.send(requests) ──► inbox: Mutex<Vec<…>> ──────► inbox.receive(): all that is there, or sleep
//!   port.poll_recv() ◄───── outbox: Mutex<…> + Waker ◄── handover.deliver(replies)
//! ```
//!
//! What goes over is whole buffers: requests of a turn one way, their replies the other, so a lock is taken once a
//! hand-over and never once a command, and it is held for a push or a swap. A sleeping engine is woken once however
//! much is put before it; a waiting worker's waker is called once until it has looked again. Buffers travel back
//! and are used again.
//!
//! A port may have `bytes_max` in flight; `send` then gives the buffer back instead of waiting. When the engine is
//! gone, its ports say so; when all doors and ports are gone, the engine is told. Must never lose or reorder.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A buffer that grew beyond this is not kept for the next hand-over.
const KEPT_BYTES: usize = 1 << 20;
/// Empty buffers that a port keeps.
const KEPT_BUFFERS: usize = 8;

/// A new engine's inbox and the door that leads to it. `T` says for every hand-over how it is meant.
pub fn mailbox<T>() -> (Door<T>, Inbox<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(InboxState { queue: Vec::new(), asleep: false, doors: 1, closed: false }),
        filled: Condvar::new(),
    });
    (Door { shared: Arc::clone(&shared) }, Inbox { shared })
}

struct Shared<T> {
    state: Mutex<InboxState<T>>,
    filled: Condvar,
}

struct InboxState<T> {
    queue: Vec<Handover<T>>,
    asleep: bool,
    /// Doors and ports: who can still send.
    doors: usize,
    closed: bool,
}

/// A thread that panicked while it held the lock left no half-done work: every change under it is one statement.
fn lock<S>(mutex: &Mutex<S>) -> MutexGuard<'_, S> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The way to an engine, for whoever opens ports to it.
pub struct Door<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Door<T> {
    /// A new port with at most `bytes_max` of requests in flight.
    pub fn port(&self, bytes_max: usize) -> Port<T> {
        Port {
            door: self.clone(),
            outbox: Arc::new(Outbox::default()),
            arrived: VecDeque::new(),
            spare: Vec::new(),
            in_flight: 0,
            bytes_max,
        }
    }
}

impl<T> Clone for Door<T> {
    fn clone(&self) -> Door<T> {
        lock(&self.shared.state).doors += 1;
        Door { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for Door<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.doors -= 1;
        if state.doors == 0 {
            drop(state);
            self.shared.filled.notify_one();
        }
    }
}

/// Why a hand-over was not taken; the buffer comes back as it was.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// As much is in flight as may be.
    Full(Vec<u8>),
    /// The engine is gone.
    Gone(Vec<u8>),
}

/// One task's way to an engine and back. Replies come in the order of the requests.
pub struct Port<T> {
    door: Door<T>,
    outbox: Arc<Outbox>,
    /// Taken out of the outbox and not yet handed on.
    arrived: VecDeque<Delivery>,
    spare: Vec<Vec<u8>>,
    /// Bytes of requests that are not wholly answered.
    in_flight: usize,
    bytes_max: usize,
}

impl<T> Port<T> {
    /// An empty buffer for the next hand-over.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Gives a buffer back for later use.
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < KEPT_BUFFERS && (1..=KEPT_BYTES).contains(&buffer.capacity()) {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    pub fn is_full(&self) -> bool {
        self.in_flight >= self.bytes_max
    }

    /// Bytes of requests that are not wholly answered.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Hands whole requests over without waiting. A hand-over larger than the bound is taken when nothing else is
    /// in flight.
    pub fn send(&mut self, requests: Vec<u8>, tag: T) -> Result<(), Refused> {
        assert!(!requests.is_empty(), "a hand-over brings something");
        if self.is_full() {
            return Err(Refused::Full(requests));
        }
        let len = requests.len();
        let replies = self.buffer();
        let mut state = lock(&self.door.shared.state);
        if state.closed {
            return Err(Refused::Gone(requests));
        }
        state.queue.push(Handover { requests, replies, tag, to: Arc::clone(&self.outbox), answered: false });
        let wake = std::mem::take(&mut state.asleep);
        drop(state);
        if wake {
            self.door.shared.filled.notify_one();
        }
        self.in_flight += len;
        Ok(())
    }

    /// The next replies; `None` when the engine is gone and nothing more can come. Give the buffer back with
    /// [`Port::recycle`].
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        if self.arrived.is_empty() {
            let mut outbox = lock(&self.outbox.state);
            std::mem::swap(&mut self.arrived, &mut outbox.deliveries);
            if self.arrived.is_empty() {
                if outbox.closed || self.in_flight == 0 && lock(&self.door.shared.state).closed {
                    return Poll::Ready(None);
                }
                outbox.wait(cx);
                return Poll::Pending;
            }
        }
        let Some(delivery) = self.arrived.pop_front() else { return Poll::Pending };
        if let Some(requests) = delivery.spent {
            self.in_flight -= requests.len();
            self.recycle(requests);
        }
        Poll::Ready(Some(delivery.replies))
    }

    /// As [`Port::poll_recv`], for whoever can wait.
    pub fn recv(&mut self) -> impl Future<Output = Option<Vec<u8>>> + '_ {
        poll_fn(|cx| self.poll_recv(cx))
    }
}

/// What came back: replies and, with the last of them, the buffer of the requests.
struct Delivery {
    replies: Vec<u8>,
    spent: Option<Vec<u8>>,
}

#[derive(Default)]
struct Outbox {
    state: Mutex<OutboxState>,
}

#[derive(Default)]
struct OutboxState {
    deliveries: VecDeque<Delivery>,
    waker: Option<Waker>,
    /// A hand-over was dropped unanswered: the engine died.
    closed: bool,
}

impl OutboxState {
    fn wait(&mut self, cx: &Context<'_>) {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
    }
}

impl Outbox {
    /// Changes the state and wakes who waits, outside the lock.
    fn change(&self, f: impl FnOnce(&mut OutboxState)) {
        let mut state = lock(&self.state);
        f(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Requests of one port, on the engine's side. Dropped before [`Handover::finish`], it tells the port that the
/// engine died.
pub struct Handover<T> {
    pub requests: Vec<u8>,
    /// The reply to write to; empty at first.
    pub replies: Vec<u8>,
    pub tag: T,
    to: Arc<Outbox>,
    answered: bool,
}

impl<T> Handover<T> {
    /// Sends what was replied so far, where that is a lot; `replies` is empty then.
    pub fn deliver_part(&mut self) {
        let replies = std::mem::take(&mut self.replies);
        self.to.change(|outbox| outbox.deliveries.push_back(Delivery { replies, spent: None }));
    }

    /// Sends the rest of the replies, and the requests' buffer back.
    pub fn finish(mut self) {
        self.answered = true;
        let replies = std::mem::take(&mut self.replies);
        let spent = Some(std::mem::take(&mut self.requests));
        self.to.change(|outbox| outbox.deliveries.push_back(Delivery { replies, spent }));
    }
}

impl<T> Drop for Handover<T> {
    fn drop(&mut self) {
        if !self.answered {
            self.to.change(|outbox| outbox.closed = true);
        }
    }
}

/// How a wait for hand-overs ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    Handovers,
    TimedOut,
    /// Nobody is left who could send.
    Closed,
}

/// The engine's side.
pub struct Inbox<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Inbox<T> {
    /// Waits until there is something and takes all of it into `batch`, which must be empty. Without `wait` it
    /// waits for ever.
    pub fn receive(&mut self, batch: &mut Vec<Handover<T>>, wait: Option<Duration>) -> Received {
        assert!(batch.is_empty(), "what was received is done");
        let mut state = lock(&self.shared.state);
        loop {
            if !state.queue.is_empty() {
                std::mem::swap(batch, &mut state.queue);
                return Received::Handovers;
            }
            if state.doors == 0 {
                return Received::Closed;
            }
            state.asleep = true;
            let timed_out;
            (state, timed_out) = self.sleep(state, wait);
            state.asleep = false;
            if timed_out && state.queue.is_empty() {
                return Received::TimedOut;
            }
        }
    }

    fn sleep<'a>(
        &self,
        state: MutexGuard<'a, InboxState<T>>,
        wait: Option<Duration>,
    ) -> (MutexGuard<'a, InboxState<T>>, bool) {
        let filled = &self.shared.filled;
        match wait {
            None => (filled.wait(state).unwrap_or_else(PoisonError::into_inner), false),
            Some(wait) => {
                let (state, result) =
                    filled.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner);
                (state, result.timed_out())
            }
        }
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.closed = true;
        let unanswered = std::mem::take(&mut state.queue);
        drop(state);
        drop(unanswered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Count>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn echo(inbox: &mut Inbox<u8>) {
        let mut batch = Vec::new();
        assert_eq!(inbox.receive(&mut batch, None), Received::Handovers);
        for mut handover in batch {
            handover.replies.push(handover.tag);
            handover.deliver_part();
            handover.replies.extend_from_slice(&handover.requests);
            handover.finish();
        }
    }

    #[test]
    fn replies_come_in_order_with_one_wake_and_free_the_room() {
        let (door, mut inbox) = mailbox();
        let mut port = door.port(4);
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        assert!(port.poll_recv(&mut cx).is_pending());
        assert_eq!(port.send(b"ab".to_vec(), 1), Ok(()));
        assert_eq!(port.send(b"cd".to_vec(), 2), Ok(()));
        assert_eq!(port.send(b"ef".to_vec(), 3), Err(Refused::Full(b"ef".to_vec())));
        echo(&mut inbox);
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        for reply in [&[1][..], b"ab", &[2], b"cd"] {
            assert_eq!(port.poll_recv(&mut cx), Poll::Ready(Some(reply.to_vec())));
        }
        assert!(port.poll_recv(&mut cx).is_pending());
        assert_eq!(port.in_flight(), 0);
        assert_eq!(port.send(b"ef".to_vec(), 3), Ok(()));
    }

    #[test]
    fn each_side_learns_that_the_other_is_gone() {
        let (door, mut inbox) = mailbox::<u8>();
        let mut port = door.port(100);
        drop(door);
        assert_eq!(inbox.receive(&mut Vec::new(), Some(Duration::ZERO)), Received::TimedOut);
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(port.send(b"x".to_vec(), 0), Ok(()));
        assert!(port.poll_recv(&mut cx).is_pending());
        drop(inbox);
        assert_eq!(port.poll_recv(&mut cx), Poll::Ready(None));
        assert_eq!(port.send(b"x".to_vec(), 0), Err(Refused::Gone(b"x".to_vec())));

        let (door, mut inbox) = mailbox::<u8>();
        let port = door.port(100);
        drop(door);
        drop(port);
        assert_eq!(inbox.receive(&mut Vec::new(), None), Received::Closed);
    }
}
