//! What leaves the straight way: keys that have to be looked for, several shards, and what is answered here.
//!
//! Each ends in one place of the window, like any other request: forwarded after all, gathered from parts, or answered
//! at once in its turn.

use super::{Conversation, Step, UNKNOWN};
use crate::client::fanout;
use crate::client::local::{self, After};
use crate::client::world::World;
use crate::command::lookup::Found;
use crate::command::{FanOut, Handling, Local, Spec, SpecId, Split, errors, keys, options};
use crate::metrics::{Backpressure, Closed, Family, Side};
use crate::plan::{self, Route, split};
use crate::reassembly::{Asked, Gather, merge::Merge};
use crate::resp::request::Args;
use crate::resp::write;
use crate::session;
use crate::slot::ShardId;
use crate::trip::{Frame, Order, Ticket};
use crate::turn::Turn;
use bytes::{Bytes, BytesMut};

impl Conversation {
    #[inline(never)]
    pub(super) fn uncommon(
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
        if let Some(text) = options::names_a_database(spec, *args) {
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
        // One shard alone is the whole: what it answers is the answer, but for what INFO and CONFIG GET say of this process.
        if world.map.shards() == 1 && !matches!(how, FanOut::Info | FanOut::Config) {
            return self.forward_uncommon(ShardId(0), command, &args, None, world, turn);
        }
        world.facts.now_us.set(turn.unix_us());
        match fanout::plan(how, args, world) {
            Ok(planned) if how == FanOut::Info => {
                let requests = self.within_reach(planned.requests, world, turn);
                self.scatter(planned.how, &requests, command, &args, world, turn)
            }
            Ok(planned) => self.scatter(planned.how, &planned.requests, command, &args, world, turn),
            Err(text) => self.error(command.0, command.1, &args, text.as_bytes(), turn),
        }
    }

    /// Those of `requests` whose shards can be asked now; all of them if none can. Clients ask for INFO before anything
    /// else, and one dead shard must not lock them out of the others.
    fn within_reach(
        &self,
        requests: Vec<(ShardId, Vec<u8>)>,
        world: &World,
        turn: &Turn<'_>,
    ) -> Vec<(ShardId, Vec<u8>)> {
        let proto = self.session.proto();
        let asked = |shard: ShardId| world.lanes.lane(shard, proto).borrow().refuses(turn.now).is_none();
        match requests.iter().any(|(shard, _)| asked(*shard)) {
            true => requests.into_iter().filter(|(shard, _)| asked(*shard)).collect(),
            false => requests,
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
            if !lane.takes_orders(turn.now) {
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
    pub(super) fn unknown(
        &mut self,
        found: Found,
        args: Args<'_>,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> Step {
        let text = match found {
            Found::UnknownSubcommand(container) => errors::unknown_subcommand(container, args),
            _ if session::looks_like_http(args) => {
                world.tell_of_stranger("HTTP; the page is at the admin address");
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
    pub(super) fn error(
        &mut self,
        id: SpecId,
        spec: &Spec,
        args: &Args<'_>,
        text: &[u8],
        turn: &mut Turn<'_>,
    ) -> Step {
        let mut reply = Vec::new();
        write::error_bytes(&mut reply, text);
        let asked = self.asked(id, spec, args);
        self.window.borrow_mut().answer(asked, &reply, turn);
        Step::Taken
    }
}

fn may_change_protocol(op: Local) -> bool {
    matches!(op, Local::Hello | Local::Reset | Local::Select)
}
