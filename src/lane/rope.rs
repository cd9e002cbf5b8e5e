//! A lane's bytes: requests that are not yet sent, and those that are and have no reply yet.
//!
//! Sent requests are kept until they are answered, because two questions come up when a connection is lost: which
//! requests had certainly not left (they may be sent again), and what did a read say (it may be sent once more).
//! Small requests are copied into one growing buffer, large ones are links of their own and shared, not copied.

use crate::limits;
use bytes::{Buf, Bytes, BytesMut};
use std::collections::VecDeque;
use std::io::IoSlice;

#[derive(Default)]
pub struct Rope {
    /// Finished links, before the tail.
    links: VecDeque<Bytes>,
    tail: BytesMut,
    len: usize,
    /// Bytes from the front that the socket has taken.
    sent: usize,
}

impl Rope {
    /// All bytes, sent or not.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub fn sent(&self) -> usize {
        self.sent
    }

    #[inline]
    pub fn unsent(&self) -> usize {
        self.len - self.sent
    }

    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        self.len += bytes.len();
    }

    pub fn push_shared(&mut self, bytes: Bytes) {
        if !self.tail.is_empty() {
            self.links.push_back(self.tail.split().freeze());
        }
        self.len += bytes.len();
        self.links.push_back(bytes);
    }

    /// What is to be written next, as slices for one vectored write.
    pub fn unsent_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut skip = self.sent;
        let mut filled = 0;
        for link in self.links.iter().map(|link| &link[..]).chain([&self.tail[..]]) {
            if skip >= link.len() {
                skip -= link.len();
                continue;
            }
            let Some(slice) = slices.get_mut(filled) else { break };
            *slice = IoSlice::new(&link[skip..]);
            skip = 0;
            filled += 1;
        }
        filled
    }

    #[inline]
    pub fn mark_sent(&mut self, n: usize) {
        self.sent += n;
        assert!(self.sent <= self.len, "more sent than there was");
    }

    /// Everything counts as unsent again: the connection that had it is gone.
    pub fn mark_unsent(&mut self) {
        self.sent = 0;
    }

    /// Drops the front `n` bytes: their request is answered.
    #[inline]
    pub fn release(&mut self, n: usize) {
        assert!(n <= self.sent, "an answer to a request that was not sent");
        self.drop_front(n);
        self.sent -= n;
    }

    /// Moves the front `n` bytes, sent or not, to the end of `other`; drops them if that is `None`.
    pub fn move_front(&mut self, mut n: usize, other: Option<&mut Rope>) {
        assert!(n <= self.len, "more moved than there is");
        self.sent = self.sent.saturating_sub(n);
        let Some(other) = other else { return self.drop_front(n) };
        while n > 0 {
            let piece = match self.links.front_mut() {
                Some(link) if link.len() <= n => self.links.pop_front().unwrap_or_default(),
                Some(link) => link.split_to(n),
                None => self.tail.split_to(n).freeze(),
            };
            n -= piece.len();
            self.len -= piece.len();
            match piece.len() < limits::SHARED_REQUEST_BYTES {
                true => other.push(&piece),
                false => other.push_shared(piece),
            }
        }
    }

    #[inline]
    fn drop_front(&mut self, mut n: usize) {
        self.len -= n;
        while let Some(link) = self.links.front_mut() {
            if n < link.len() {
                return link.advance(n);
            }
            n -= link.len();
            self.links.pop_front();
        }
        self.tail.advance(n);
        if self.tail.is_empty() && self.tail.capacity() > limits::LANE_BUFFER_KEPT {
            self.tail = BytesMut::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsent(rope: &Rope) -> Vec<u8> {
        let mut slices = [IoSlice::new(&[]); 8];
        let filled = rope.unsent_slices(&mut slices);
        slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect()
    }

    #[test]
    fn small_and_shared_requests_leave_in_order() {
        let big = vec![b'x'; limits::SHARED_REQUEST_BYTES];
        let mut rope = Rope::default();
        rope.push(b"one");
        rope.push_shared(Bytes::from(big.clone()));
        rope.push(b"two");
        assert_eq!(unsent(&rope), [&b"one"[..], &big, b"two"].concat());
        rope.mark_sent(5);
        assert_eq!(unsent(&rope), [&big[2..], b"two"].concat());
        rope.release(3);
        assert_eq!((rope.sent(), rope.len()), (2, big.len() + 3));
        rope.mark_sent(big.len() - 2);
        rope.release(big.len());
        assert_eq!(unsent(&rope), b"two");
    }

    #[test]
    fn requests_move_to_a_fresh_rope() {
        let (mut rope, mut fresh) = (Rope::default(), Rope::default());
        rope.push(b"droppedkept");
        rope.push_shared(Bytes::from_static(b"alsokept"));
        rope.mark_sent(9);
        rope.move_front(7, None);
        assert_eq!(rope.sent(), 2);
        rope.move_front(4 + 8, Some(&mut fresh));
        assert!(rope.is_empty());
        assert_eq!(unsent(&fresh), b"keptalsokept");
    }
}
