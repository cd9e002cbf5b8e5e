//! Byte queues that cost nothing while they are empty, and the pool that makes that cheap.
//!
//! Ten thousand idle clients must not hold ten thousand buffers, and a busy one must not allocate per command. So a
//! queue borrows its memory from its worker's pool with the first byte and gives it back with the last. Single
//! thread, no lock: a pool belongs to one worker.

/// Buffers kept for reuse, at most.
const POOLED: usize = 128;
/// Size of a fresh buffer: a batch of a hundred small replies fits.
const FRESH: usize = 8 * 1024;
/// A buffer that has grown beyond this is returned to the system instead.
const KEPT: usize = 256 * 1024;

/// Spare buffers of one worker.
#[derive(Default)]
pub struct Pool {
    spare: Vec<Vec<u8>>,
}

impl Pool {
    #[inline]
    pub fn take(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(FRESH))
    }

    #[inline]
    pub fn give(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < POOLED && (FRESH..=KEPT).contains(&buffer.capacity()) {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

/// First in, first out. `at` bytes at the front are consumed; an empty queue holds no memory.
#[derive(Default)]
pub struct ByteQueue {
    buffer: Vec<u8>,
    at: usize,
}

impl ByteQueue {
    #[inline]
    pub fn len(&self) -> usize {
        self.buffer.len() - self.at
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.buffer.len() == self.at
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    #[inline]
    pub fn push(&mut self, bytes: &[u8], pool: &mut Pool) {
        if self.buffer.capacity() == 0 {
            self.buffer = pool.take();
        } else if self.at > KEPT && self.at > self.buffer.len() / 2 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    #[inline]
    pub fn consume(&mut self, n: usize, pool: &mut Pool) {
        self.at += n;
        assert!(self.at <= self.buffer.len(), "more consumed than there was");
        if self.at == self.buffer.len() {
            self.clear(pool);
        }
    }

    /// Takes back the last `n` bytes pushed.
    pub fn truncate_by(&mut self, n: usize, pool: &mut Pool) {
        let len = self.len();
        assert!(n <= len, "more taken back than there is");
        self.buffer.truncate(self.buffer.len() - n);
        if n == len {
            self.clear(pool);
        }
    }

    pub fn clear(&mut self, pool: &mut Pool) {
        self.at = 0;
        pool.give(std::mem::take(&mut self.buffer));
    }

    /// Memory held, in bytes.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_first_in_first_out_and_empty_ones_hold_nothing() {
        let (mut queue, mut pool) = (ByteQueue::default(), Pool::default());
        let mut front = 0u32;
        for i in 0..200_000u32 {
            queue.push(&i.to_le_bytes(), &mut pool);
            if i % 3 != 0 {
                assert_eq!(queue.bytes()[..4], front.to_le_bytes());
                queue.consume(4, &mut pool);
                front += 1;
            }
        }
        queue.truncate_by(queue.len(), &mut pool);
        assert!(queue.is_empty() && queue.capacity() == 0);
    }

    #[test]
    fn buffers_come_back() {
        let (mut queue, mut pool) = (ByteQueue::default(), Pool::default());
        queue.push(b"abc", &mut pool);
        let at = queue.bytes().as_ptr();
        queue.consume(3, &mut pool);
        queue.push(b"def", &mut pool);
        assert_eq!(queue.bytes().as_ptr(), at);
    }
}
