//! The way that nearly all requests take: whole, of one key, forwarded to one shard.
//!
//! It is one inlined loop from bytes to ledger. What is usual comes first and costs least; everything else leaves the
//! loop by a function that is not inlined, so that the loop stays small. Must never allocate, lock or read a clock.

use super::{Conversation, Phase, SHUTTING_DOWN, Step};
use crate::client::world::World;
use crate::command::lookup::{self, Found};
use crate::command::{Handling, Local, Spec, SpecId, errors};
use crate::lane::Lane;
use crate::limits;
use crate::metrics::{Backpressure, Closed, Family, Side};
use crate::plan;
use crate::reassembly::Asked;
use crate::resp::request::{Args, Decoded, Decoder};
use crate::session::Admit;
use crate::slot::ShardId;
use crate::trip::{Frame, Order};
use crate::turn::Turn;
use bytes::{Bytes, BytesMut};

/// What a client begins with that expects TLS. It would wait for ever for the end of a line.
const TLS_HANDSHAKE: &[u8] = &[0x16, 0x03];

impl Conversation {
    /// Takes requests until the bytes or the client's room run out; returns how many bytes were used.
    pub(super) fn requests(
        &mut self,
        bytes: &[u8],
        decoder: &mut Decoder,
        world: &World,
        turn: &mut Turn<'_>,
    ) -> usize {
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
        if bytes.starts_with(TLS_HANDSHAKE) {
            world.tell_of_stranger("TLS; this version serves plain connections only");
            turn.metrics.protocol_errors[Side::Client].add(1);
            self.end_for(Closed::Protocol);
            return None;
        }
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
    pub(super) fn long_request(
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
            other => return self.unknown(other, *args, world, turn),
        };
        if world.closing.get() && spec.handling != Handling::Local(Local::Quit) {
            return self.error(id, spec, args, SHUTTING_DOWN, turn);
        }
        self.ran = (id, self.ran.1 + 1);
        if !spec.arity_ok(args.len()) {
            return self.error(id, spec, args, errors::wrong_arity(spec).as_bytes(), turn);
        }
        if let Admit::Refuse(text) = self.session.admit(spec, turn.now) {
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
        if !lane.takes_orders(turn.now) {
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
    pub(super) fn forward_uncommon(
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
    pub(super) fn turned_away(
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

    #[inline]
    pub(super) fn asked(&mut self, id: SpecId, spec: &Spec, args: &Args<'_>) -> Asked {
        let family = if spec.is_write() { Family::Write } else { Family::Read };
        let silent = self.session.drops_reply();
        Asked { spec: id.0, family, len: args.frame().len() as u32, silent }
    }
}
