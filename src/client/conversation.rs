//! The straight line: a client's bytes in, orders to lanes and places in its window out.
//!
//! From the first byte of a batch to its last order nothing here waits, reads a clock or touches a socket. A request
//! that can't be taken now (no room in the window, a full lane, replies owed before the protocol may change) is left
//! undecoded where it is, and so is all that follows it; `resume` tries again.
//!
//! ```text
//!   bytes ─► decoder ─► row ─► admit ─► Forward: slot → lane        ─► a place in the window
//!                                       Split, FanOut: several lanes ─► one place, one gather
//!                                       Local, errors                ─► answered at once, in its place
//! ```

use super::fanout;
use super::local::{self, After};
use super::world::World;
use crate::command::lookup::{self, Found};
use crate::command::{FanOut, Handling, Local, Spec, SpecId, Split, errors, keys, options, table};
use crate::lane::Lane;
use crate::limits;
use crate::metrics::{Backpressure, Closed, Family, Side};
use crate::plan::{self, Route, split};
use crate::reassembly::{Asked, Gather, Window, merge::Merge};
use crate::resp::request::{Args, Decoded, Decoder, Fault};
use crate::resp::write;
use crate::session::{self, Admit, Session};
use crate::slot::ShardId;
use crate::trip::{Frame, Order, Ticket};
use crate::turn::Turn;
use bytes::{Buf, Bytes, BytesMut};
use std::cell::{RefCell, RefMut};
use std::rc::Rc;

/// Row under which requests are counted whose command is not in the table.
pub const UNKNOWN: SpecId = SpecId(table::ROWS.len() as u16);

/// What is said to commands that come when the time for draining is up.
const SHUTTING_DOWN: &[u8] = b"TRYAGAIN onetrip: shutting down, not executed";

/// What is said to a request that nobody gave back memory for.
const NO_MEMORY: &str =
    "ERR onetrip: no memory left for this request (limits.memory_total_bytes), not executed";

/// Whether more of the client's bytes are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reading,
    /// The request at the front can't be taken yet.
    Stalled(Backpressure),
    /// Nothing more is taken; what is owed is still delivered.
    Ending(Closed),
}

/// What became of one request.
enum Step {
    Taken,
    Stall(Backpressure),
    End(Closed),
}

/// Bytes of a client that are not decoded yet: the exception, since most reads end with a whole request.
#[derive(Default)]
struct Partial {
    bytes: BytesMut,
    decoder: Decoder,
}

pub struct Conversation {
    pub session: Session,
    window: Rc<RefCell<Window>>,
    partial: Option<Box<Partial>>,
    phase: Phase,
    /// The last command of the batch at hand, and how many there were.
    ran: (SpecId, u64),
}

impl Conversation {
    pub fn new(session: Session, world: &World) -> Conversation {
        let window = Window::new(world.map.shards(), Rc::clone(&world.limits));
        Conversation {
            session,
            window: Rc::new(RefCell::new(window)),
            partial: None,
            phase: Phase::Reading,
            ran: (UNKNOWN, 0),
        }
    }

    pub fn window(&self) -> RefMut<'_, Window> {
        self.window.borrow_mut()
    }

    /// Whether the client's socket should be read.
    #[inline]
    pub fn wants_bytes(&self) -> bool {
        self.phase == Phase::Reading
    }

    /// The reason to close, once every reply owed is delivered.
    pub fn ending(&self) -> Option<Closed> {
        match self.phase {
            Phase::Ending(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether what has to wait waits for nothing any more: output filled the window and has been written since.
    /// No reply is owed that would wake the client side, so it has to come back by itself.
    pub fn waits_for_nothing(&self) -> bool {
        let window = self.window.borrow();
        let stalled = matches!(self.phase, Phase::Stalled(why) if why != Backpressure::Lane);
        stalled && window.in_flight() == 0 && window.output().is_empty()
    }

    /// The client will send nothing more; it may still read what it is owed.
    pub fn end(&mut self, reason: Closed) {
        if self.ending().is_none() {
            self.end_for(reason);
            self.partial = None;
        }
    }

    /// From now on the client side waits for the last reply owed, be it one that the client does not want to hear.
    fn end_for(&mut self, reason: Closed) {
        self.phase = Phase::Ending(reason);
        self.window.borrow_mut().waiting = true;
    }

    /// Bytes read and not decoded.
    pub fn undecoded_bytes(&self) -> usize {
        self.partial.as_ref().map_or(0, |partial| partial.bytes.len())
    }

    /// Bytes of the memory for all that this client has claimed.
    pub fn claim(&self) -> usize {
        self.undecoded_bytes() + self.window.borrow().claim()
    }

    /// Whether more bytes of the request that is cut in the middle have to wait until others give back memory. Requests
    /// that are whole wait in the window instead, where their own replies make room.
    #[inline]
    pub fn wants_memory(&self, world: &World) -> bool {
        self.undecoded_bytes() > limits::CLIENT_SHARE_MIN && world.budget.is_spent()
    }

    /// There is no memory for the rest of the client's request: says so, and ends.
    pub fn give_up_request(&mut self, turn: &mut Turn<'_>) {
        self.partial = None;
        self.last_words(NO_MEMORY, turn);
        self.end_for(Closed::Memory);
    }

    /// Where the next bytes are to be read to, if a request is cut in the middle; then call [`Self::proceed`].
    pub fn cut_request(&mut self) -> Option<&mut BytesMut> {
        self.partial.as_mut().map(|partial| &mut partial.bytes)
    }

    /// Takes the requests in `bytes`, which were read while no request was cut.
    pub fn feed(&mut self, bytes: &[u8], world: &World, turn: &mut Turn<'_>) {
        assert!(self.partial.is_none(), "bytes overtake those of a cut request");
        let mut decoder = world.decoder.borrow_mut();
        self.window.borrow_mut().begin_batch(turn.now, world.budget.share());
        let used = self.requests(bytes, &mut decoder, world, turn);
        if self.ending().is_none() && used < bytes.len() {
            let mut partial = Box::<Partial>::default();
            partial.bytes.extend_from_slice(&bytes[used..]);
            if decoder.midway() {
                partial.decoder = std::mem::take(&mut *decoder);
            }
            self.partial = Some(partial);
        }
        decoder.restart();
    }

    /// Goes on with the bytes of a cut or stalled request.
    pub fn proceed(&mut self, world: &World, turn: &mut Turn<'_>) {
        let Some(mut partial) = self.partial.take() else {
            if self.ending().is_none() {
                self.phase = Phase::Reading;
            }
            return;
        };
        self.phase = Phase::Reading;
        self.window.borrow_mut().begin_batch(turn.now, world.budget.share());
        let Partial { bytes, decoder } = &mut *partial;
        self.long_request(bytes, decoder, world, turn);
        let used = if self.wants_bytes() { self.requests(bytes, decoder, world, turn) } else { 0 };
        bytes.advance(used);
        if !partial.bytes.is_empty() && self.ending().is_none() {
            self.partial = Some(partial);
        }
    }

    /// After replies have left or a lane has got room: takes what had to wait. True: the socket may be read again.
    pub fn resume(&mut self, world: &World, turn: &mut Turn<'_>) -> bool {
        if let Phase::Stalled(_) = self.phase {
            self.window.borrow_mut().waiting = false;
            self.proceed(world, turn);
        }
        self.wants_bytes()
    }

    /// Takes requests until the bytes or the client's room run out; returns how many bytes were used.
    fn requests(&mut self, bytes: &[u8], decoder: &mut Decoder, world: &World, turn: &mut Turn<'_>) -> usize {
        let mut used = 0;
        loop {
            if let Some((args, consumed)) = decoder.whole(&bytes[used..]) {
                if !self.take(&args, None, world, turn) {
                    decoder.restart();
                    return used;
                }
                used += consumed;
                continue;
            }
            match self.unusual_request(&bytes[used..], decoder, world, turn) {
                Some(consumed) => used += consumed,
                None if self.ending().is_some() => return bytes.len(),
                None => return used,
            }
        }
    }

    /// Takes a request that is not of the usual form; returns how long it was, `None` if it can't be taken.
    #[inline(never)]
    fn unusual_request(
        &mut self,
        bytes: &[u8],
        decoder: &mut Decoder,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Option<usize> {
        match decoder.next(bytes, self.session.authenticated()) {
            Ok(Decoded::Request { consumed }) => {
                let taken = self.take(&decoder.args(bytes), None, world, turn);
                if !taken {
                    decoder.restart();
                }
                taken.then_some(consumed)
            }
            Ok(Decoded::Nothing { consumed }) => {
                decoder.restart();
                Some(consumed)
            }
            Ok(Decoded::Incomplete { .. }) => None,
            Err(fault) => {
                self.refuse_protocol(&fault, turn);
                None
            }
        }
    }

    /// Takes a request at the front that is too long to be copied: it is shared with its lane.
    fn long_request(
        &mut self,
        bytes: &mut BytesMut,
        decoder: &mut Decoder,
        world: &World,
        turn: &mut Turn<'_>,
    ) {
        let consumed = match decoder.next(bytes, self.session.authenticated()) {
            Ok(Decoded::Request { consumed }) => consumed,
            Ok(_) => return,
            Err(_) => return decoder.restart(),
        };
        if consumed < limits::SHARED_REQUEST_BYTES || bytes[0] != b'*' {
            return decoder.restart();
        }
        let rest = bytes.split_off(consumed);
        let frame = std::mem::replace(bytes, rest).freeze();
        let taken = self.take(&decoder.args(&frame), Some(&frame), world, turn);
        decoder.restart();
        if !taken {
            let mut whole = BytesMut::from(frame);
            whole.unsplit(std::mem::take(bytes));
            *bytes = whole;
        }
    }

    /// Takes one request; false: it, and what follows, has to wait or is not wanted any more.
    #[inline(always)]
    fn take(&mut self, args: &Args<'_>, shared: Option<&Bytes>, world: &World, turn: &mut Turn<'_>) -> bool {
        match self.request(args, shared, world, turn) {
            Step::Taken => true,
            Step::Stall(why) => {
                self.phase = Phase::Stalled(why);
                turn.metrics.backpressure[why].add(1);
                self.window.borrow_mut().waiting = true;
                false
            }
            Step::End(reason) => {
                self.end_for(reason);
                false
            }
        }
    }

    #[inline(always)]
    fn request(
        &mut self,
        args: &Args<'_>,
        shared: Option<&Bytes>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        let window = self.window.borrow();
        if !window.has_room() {
            return Step::Stall(window.bound_met());
        }
        drop(window);
        let (spec, id) = match lookup::find(*args) {
            Found::Command(spec, id) => (spec, id),
            other => return self.unknown(other, *args, turn),
        };
        if world.closing.get() && spec.handling != Handling::Local(Local::Quit) {
            return self.error(id, spec, args, SHUTTING_DOWN, turn);
        }
        self.ran = (id, self.ran.1 + 1);
        if !spec.arity_ok(args.len()) {
            return self.error(id, spec, args, errors::wrong_arity(spec).as_bytes(), turn);
        }
        if let Admit::Refuse(text) = self.session.admit(spec) {
            return self.error(id, spec, args, text.as_bytes(), turn);
        }
        match spec.handling {
            Handling::Forward if spec.lone_key != 0 => {
                let shard = plan::shard_of(args.at(spec.lone_key as usize), &world.map);
                self.forward(shard, (id, spec), args, shared, world, turn)
            }
            _ => self.uncommon((id, spec), args, shared, world, turn),
        }
    }

    #[inline(always)]
    fn forward(
        &mut self,
        shard: ShardId,
        (id, spec): (SpecId, &Spec),
        args: &Args<'_>,
        shared: Option<&Bytes>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        let lane = world.lanes.lane(shard, self.session.proto());
        let mut lane = lane.borrow_mut();
        if lane.is_full() || lane.refuses(turn.now).is_some() {
            return self.turned_away(&mut lane, (id, spec), args, turn);
        }
        let asked = self.asked(id, spec, args);
        let ticket = self.window.borrow_mut().expect(asked, shard);
        let frame = shared.map_or(Frame::Copied(args.frame()), |bytes| Frame::Shared(bytes.clone()));
        lane.push(&self.window, Order { frame, ticket, readonly: spec.is_readonly() }, turn.now);
        Step::Taken
    }

    /// [`Self::forward`] for requests that have come a longer way.
    #[inline(never)]
    fn forward_uncommon(
        &mut self,
        shard: ShardId,
        command: (SpecId, &Spec),
        args: &Args<'_>,
        shared: Option<&Bytes>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        self.forward(shard, command, args, shared, world, turn)
    }

    /// What happens to a request whose lane can't take it.
    #[cold]
    fn turned_away(
        &mut self,
        lane: &mut Lane,
        (id, spec): (SpecId, &Spec),
        args: &Args<'_>,
        turn: &mut Turn<'_>,
    ) -> Step {
        let Some(failure) = lane.refuses(turn.now).filter(|_| !lane.is_full()) else {
            lane.wait_for_room(&self.window);
            return Step::Stall(Backpressure::Lane);
        };
        let text = failure.text(lane.shard, lane.address());
        self.error(id, spec, args, text.as_bytes(), turn)
    }

    #[inline(never)]
    fn uncommon(
        &mut self,
        (id, spec): (SpecId, &'static Spec),
        args: &Args<'_>,
        shared: Option<&Bytes>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        match spec.handling {
            Handling::Forward => self.forward_by_keys((id, spec), args, shared, world, turn),
            Handling::Split(kind) => match split::split(kind, *args, &world.map) {
                split::Cut::Whole(shard) => {
                    self.forward_uncommon(shard, (id, spec), args, shared, world, turn)
                }
                split::Cut::Parts(parts) => self.split(kind, parts, (id, spec), args, world, turn),
            },
            Handling::FanOut(how) => self.fan_out(how, (id, spec), *args, world, turn),
            Handling::Local(op) => self.local(op, (id, spec), *args, world, turn),
            Handling::AnyShard => self.forward_uncommon(ShardId(0), (id, spec), args, shared, world, turn),
            Handling::Container => self.error(id, spec, args, errors::wrong_arity(spec).as_bytes(), turn),
            Handling::Missing(_) | Handling::Refuse(_) => unreachable!("not admitted"),
        }
    }

    fn forward_by_keys(
        &mut self,
        (id, spec): (SpecId, &'static Spec),
        args: &Args<'_>,
        shared: Option<&Bytes>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        if keys::blocks(spec, *args) {
            let text = session::missing(crate::command::Missing::Blocking);
            return self.error(id, spec, args, text.as_bytes(), turn);
        }
        if world.map.shards() > 1
            && let Some(text) = options::sort_reads_elsewhere(spec, *args)
        {
            return self.error(id, spec, args, text.as_bytes(), turn);
        }
        let route = plan::route(spec, *args, &world.map, &mut world.positions.borrow_mut());
        let shard = match route {
            Route::Shard(shard) => shard,
            Route::Any => ShardId(0),
            Route::CrossSlot => return self.error(id, spec, args, plan::CROSSSLOT.as_bytes(), turn),
        };
        self.forward_uncommon(shard, (id, spec), args, shared, world, turn)
    }

    // --- Several shards ---------------------------------------------------------------------------------------

    fn split(
        &mut self,
        kind: Split,
        parts: split::Parts,
        command: (SpecId, &Spec),
        args: &Args<'_>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        let how = match kind {
            Split::Sum => Merge::Sum { writes: command.1.is_write() },
            Split::Values => Merge::Values { order: parts.order },
            Split::Pairs => Merge::Pairs,
        };
        self.scatter(how, &parts.requests, command, args, world, turn)
    }

    fn fan_out(
        &mut self,
        how: FanOut,
        command: (SpecId, &Spec),
        args: Args<'_>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        // One shard alone is the whole: what it answers is the answer, but for what INFO says of this process.
        if world.map.shards() == 1 && how != FanOut::Info {
            return self.forward_uncommon(ShardId(0), command, &args, None, world, turn);
        }
        world.facts.now_us.set(turn.unix_us());
        match fanout::plan(how, args, world) {
            Ok(planned) => self.scatter(planned.how, &planned.requests, command, &args, world, turn),
            Err(text) => self.error(command.0, command.1, &args, text.as_bytes(), turn),
        }
    }

    /// Sends each shard its request; the parts come together in one place of the window.
    fn scatter(
        &mut self,
        how: Merge,
        requests: &[(ShardId, Vec<u8>)],
        (id, spec): (SpecId, &Spec),
        args: &Args<'_>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        let proto = self.session.proto();
        for (shard, _) in requests {
            let mut lane = world.lanes.lane(*shard, proto).borrow_mut();
            if lane.is_full() || lane.refuses(turn.now).is_some() {
                return self.turned_away(&mut lane, (id, spec), args, turn);
            }
        }
        let mut asked = self.asked(id, spec, args);
        asked.family = Family::Fanout;
        let gather = Gather::new(how, proto, requests.iter().map(|(shard, _)| *shard));
        let ticket = self.window.borrow_mut().expect_gather(asked, gather);
        for (part, (shard, request)) in requests.iter().enumerate() {
            let order = Order {
                frame: Frame::Copied(request),
                ticket: Ticket { part: part as u16, ..ticket },
                readonly: spec.is_readonly(),
            };
            world.lanes.lane(*shard, proto).borrow_mut().push(&self.window, order, turn.now);
        }
        Step::Taken
    }

    // --- Answered here ----------------------------------------------------------------------------------------

    fn local(
        &mut self,
        op: Local,
        (id, spec): (SpecId, &Spec),
        args: Args<'_>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        // Replies still owed are in the old protocol's form: they come first.
        if may_change_protocol(op) && self.window.borrow().in_flight() > 0 {
            return Step::Stall(Backpressure::Window);
        }
        let mut reply = BytesMut::new();
        world.facts.now_us.set(turn.unix_us());
        let after = local::answer(op, args, &mut self.session, &world.facts, &mut reply);
        let mut asked = self.asked(id, spec, &args);
        if reply.is_empty() {
            // CLIENT REPLY OFF and SKIP: a place of its own all the same, so that it is counted in its turn.
            asked.silent = true;
            write::simple(&mut reply, "OK");
        }
        self.window.borrow_mut().answer(asked, &reply, turn);
        match after {
            After::Continue => Step::Taken,
            After::Close => Step::End(Closed::Client),
        }
    }

    #[cold]
    fn unknown(&mut self, found: Found, args: Args<'_>, turn: &mut Turn<'_>) -> Step {
        let text = match found {
            Found::UnknownSubcommand(container) => errors::unknown_subcommand(container, args),
            _ if session::looks_like_http(args) => {
                tracing::warn!("closed a connection that speaks HTTP; the page is at the admin address");
                turn.metrics.protocol_errors[Side::Client].add(1);
                return Step::End(Closed::Protocol);
            }
            _ => errors::unknown_command(args),
        };
        self.refuse(args, &text, turn)
    }

    /// An error to a request whose row is not known.
    #[cold]
    fn refuse(&mut self, args: Args<'_>, text: &[u8], turn: &mut Turn<'_>) -> Step {
        let mut reply = Vec::new();
        write::error_bytes(&mut reply, text);
        let silent = self.session.drops_reply();
        let len = args.frame().len() as u32;
        let asked = Asked { spec: UNKNOWN.0, family: Family::Read, len, silent };
        self.window.borrow_mut().answer(asked, &reply, turn);
        Step::Taken
    }

    #[cold]
    fn error(&mut self, id: SpecId, spec: &Spec, args: &Args<'_>, text: &[u8], turn: &mut Turn<'_>) -> Step {
        let mut reply = Vec::new();
        write::error_bytes(&mut reply, text);
        let asked = self.asked(id, spec, args);
        self.window.borrow_mut().answer(asked, &reply, turn);
        Step::Taken
    }

    /// Tells the client what is wrong with its bytes; the connection ends with it.
    #[cold]
    fn refuse_protocol(&mut self, fault: &Fault, turn: &mut Turn<'_>) {
        turn.metrics.protocol_errors[Side::Client].add(1);
        self.last_words(&fault.text(), turn);
        self.end_for(Closed::Protocol);
    }

    fn last_words(&mut self, text: &str, turn: &mut Turn<'_>) {
        let mut reply = Vec::new();
        write::error(&mut reply, text);
        let asked = Asked { spec: UNKNOWN.0, family: Family::Read, len: 0, silent: false };
        self.window.borrow_mut().answer(asked, &reply, turn);
    }

    #[inline]
    fn asked(&mut self, id: SpecId, spec: &Spec, args: &Args<'_>) -> Asked {
        let family = if spec.is_write() { Family::Write } else { Family::Read };
        let silent = self.session.drops_reply();
        Asked { spec: id.0, family, len: args.frame().len() as u32, silent }
    }

    /// Notes the commands of this turn in the session, for CLIENT LIST. False: there were none.
    #[inline]
    pub fn note_batch(&mut self, now_ms: u64) -> bool {
        let (last, commands) = self.ran;
        self.ran.1 = 0;
        if commands > 0 {
            self.session.ran(last, commands, now_ms);
        }
        commands > 0
    }

    /// The client is gone: nothing that still comes for it is kept.
    pub fn abandon(&mut self, turn: &mut Turn<'_>) {
        self.window.borrow_mut().abandon(turn.pool);
        self.partial = None;
    }
}

fn may_change_protocol(op: Local) -> bool {
    matches!(op, Local::Hello | Local::Reset | Local::Select)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::budget::Budget;
    use crate::client::local::{Facts, Settings};
    use crate::lane::{LaneLimits, set::LaneSet};
    use crate::limits::{ClientLimits, Timeouts};
    use crate::metrics::WorkerMetrics;
    use crate::resp::Proto;
    use crate::topology::SlotMap;
    use crate::turn::Tools;
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::task::{Wake, Waker};
    use std::time::Duration;

    #[derive(Default)]
    struct Rung(AtomicBool);

    impl Wake for Rung {
        fn wake(self: Arc<Rung>) {
            self.0.store(true, Relaxed);
        }
    }

    fn world(limits: ClientLimits) -> World {
        let metrics = Arc::new(WorkerMetrics::new(1, table::ROWS.len() + 1));
        World {
            tools: Rc::new(Tools::new(Arc::clone(&metrics))),
            lanes: LaneSet::new(&["shard".into()], &LaneLimits::new(&Timeouts::default(), 1_000)),
            map: Arc::new(SlotMap::even(1)),
            facts: Facts {
                version: "7.4.0".into(),
                now_us: Cell::new(0),
                password: None,
                directory: Arc::default(),
                settings: Arc::new(Settings::default()),
            },
            own: Default::default(),
            started_ms: 0,
            limits: Rc::new(limits),
            budget: Budget::new(limits::MEMORY_TOTAL_BYTES, 0, Arc::new([Arc::clone(&metrics)])),
            handshake: Duration::from_secs(1),
            idle: None,
            decoder: RefCell::default(),
            positions: RefCell::default(),
            closing: Cell::new(false),
        }
    }

    fn client(world: &World) -> (Conversation, Arc<Rung>) {
        let conversation = Conversation::new(Session::new(1, true, 0), world);
        let rung = Arc::<Rung>::default();
        conversation.window().set_waker(&Waker::from(Arc::clone(&rung)));
        (conversation, rung)
    }

    #[test]
    fn who_leaves_without_hearing_the_last_reply_is_let_go() {
        let world = world(ClientLimits::default());
        let (mut conversation, rung) = client(&world);
        let tools = Rc::clone(&world.tools);
        tools.turn(|turn| {
            conversation.feed(b"CLIENT REPLY OFF\r\nSET key value\r\nQUIT\r\n", &world, turn);
            assert_eq!((conversation.ending(), conversation.window().in_flight()), (Some(Closed::Client), 2));
            let mut lane = world.lanes.lane(ShardId(0), Proto::Resp2).borrow_mut();
            lane.connected(turn);
            let sent = lane.bytes();
            lane.sent(sent, turn);
            lane.received(b"+OK\r\n", turn).expect("the reply");
        });
        assert_eq!(conversation.window().in_flight(), 0);
        assert!(conversation.window().output().is_empty());
        assert!(rung.0.load(Relaxed), "nobody tells the connection that it may close");
    }

    #[test]
    fn clients_may_leave_while_a_shutdown_refuses_commands() {
        let world = world(ClientLimits::default());
        let (mut conversation, _) = client(&world);
        world.closing.set(true);
        let tools = Rc::clone(&world.tools);
        tools.turn(|turn| conversation.feed(b"GET key\r\nQUIT\r\nGET key\r\n", &world, turn));
        assert_eq!(conversation.ending(), Some(Closed::Client));
        let told = [b"-", SHUTTING_DOWN, b"\r\n+OK\r\n"].concat();
        assert_eq!(conversation.window().output(), told);
    }

    #[test]
    fn a_window_filled_by_local_answers_alone_waits_for_nothing_once_they_are_written() {
        let world = world(ClientLimits { output_soft: 20, ..ClientLimits::default() });
        let (mut conversation, _) = client(&world);
        let tools = Rc::clone(&world.tools);
        tools.turn(|turn| {
            conversation.feed(&b"PING\r\n".repeat(10), &world, turn);
            assert!(!conversation.wants_bytes() && !conversation.waits_for_nothing());
            let written = conversation.window().output().len();
            conversation.window().written(written, turn);
            assert!(conversation.waits_for_nothing());
            assert!(written < 70 && !conversation.resume(&world, turn), "the rest fills it again");
        });
    }
}
