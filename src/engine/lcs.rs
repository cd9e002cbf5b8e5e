//! LCS: the longest common subsequence of two strings, its length, or the ranges that match.
//!
//! The usual table of (a + 1) × (b + 1) lengths, walked backwards. Its size is bounded, because two strings of a
//! megabyte would ask for four terabytes.

use super::args::{NOT_INTEGER, SYNTAX};
use super::{Engine, Outcome, Refusal, Request};
use crate::resp::request::parse_integer;
use crate::resp::write;

/// Cells of the table, at most: 256 MiB.
const CELLS_MAX: usize = 64 << 20;

#[derive(Default)]
struct Options {
    len: bool,
    idx: bool,
    with_match_len: bool,
    min_match_len: i64,
}

impl Options {
    fn read(r: &Request<'_>) -> Result<Options, Refusal> {
        let mut options = Options::default();
        let mut i = 3;
        while i < r.args.len() {
            if r.is(i, "IDX") {
                options.idx = true;
            } else if r.is(i, "LEN") {
                options.len = true;
            } else if r.is(i, "WITHMATCHLEN") {
                options.with_match_len = true;
            } else if r.is(i, "MINMATCHLEN") && i + 1 < r.args.len() {
                i += 1;
                let least = parse_integer(r.args.at(i)).ok_or(NOT_INTEGER)?;
                options.min_match_len = least.max(0);
            } else {
                return Err(SYNTAX);
            }
            i += 1;
        }
        if options.idx && options.len {
            return Err(Refusal::Text("ERR If you want both the length and indexes, please just use IDX."));
        }
        Ok(options)
    }
}

pub fn lcs(e: &mut Engine, r: &Request<'_>, out: &mut Vec<u8>) -> Outcome {
    let options = Options::read(r)?;
    let value = |e: &mut Engine, key| e.read(r, key).map_or(Vec::new(), |v| v.value().to_vec());
    let (a, b) = (value(e, r.key()), value(e, r.args.at(2)));
    let lengths = Lengths::of(&a, &b)?;
    if options.idx {
        reply_ranges(&lengths, &options, r, out);
    } else if options.len {
        write::integer(out, i64::from(lengths.total()));
    } else {
        write::bulk(out, &lengths.common());
    }
    Ok(())
}

/// `at(i, j)` is the length for the first i bytes of a and the first j of b.
struct Lengths<'a> {
    a: &'a [u8],
    b: &'a [u8],
    cells: Vec<u32>,
}

/// A step of the walk back from the ends.
enum Step {
    /// a[i − 1] and b[j − 1] belong to the common subsequence.
    Match(usize, usize),
    Skip,
}

impl<'a> Lengths<'a> {
    fn of(a: &'a [u8], b: &'a [u8]) -> Result<Lengths<'a>, Refusal> {
        let width = b.len() + 1;
        let size = width.saturating_mul(a.len() + 1);
        if size > CELLS_MAX {
            return Err(Refusal::Text(
                "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len",
            ));
        }
        let mut cells = vec![0; size];
        for i in 1..=a.len() {
            for j in 1..=b.len() {
                cells[i * width + j] = if a[i - 1] == b[j - 1] {
                    cells[(i - 1) * width + j - 1] + 1
                } else {
                    cells[(i - 1) * width + j].max(cells[i * width + j - 1])
                };
            }
        }
        Ok(Lengths { a, b, cells })
    }

    fn at(&self, i: usize, j: usize) -> u32 {
        self.cells[i * (self.b.len() + 1) + j]
    }

    fn total(&self) -> u32 {
        self.at(self.a.len(), self.b.len())
    }

    /// The walk from the ends to the beginnings, preferring a step in b where both are as good, as Redis does.
    fn walk(&self, mut each: impl FnMut(Step)) {
        let (mut i, mut j) = (self.a.len(), self.b.len());
        while i > 0 && j > 0 {
            if self.a[i - 1] == self.b[j - 1] {
                each(Step::Match(i - 1, j - 1));
                (i, j) = (i - 1, j - 1);
            } else {
                each(Step::Skip);
                if self.at(i - 1, j) > self.at(i, j - 1) {
                    i -= 1;
                } else {
                    j -= 1;
                }
            }
        }
    }

    fn common(&self) -> Vec<u8> {
        let mut common = Vec::with_capacity(self.total() as usize);
        self.walk(|step| {
            if let Step::Match(i, _) = step {
                common.push(self.a[i]);
            }
        });
        common.reverse();
        common
    }

    /// Matching stretches, the last one first: where they begin in a and in b, and how long they are.
    fn ranges(&self) -> Vec<(usize, usize, usize)> {
        let mut ranges: Vec<(usize, usize, usize)> = Vec::new();
        let mut open = false;
        self.walk(|step| {
            let Step::Match(i, j) = step else {
                open = false;
                return;
            };
            match ranges.last_mut() {
                Some(range) if open => *range = (i, j, range.2 + 1),
                _ => ranges.push((i, j, 1)),
            }
            open = true;
        });
        ranges
    }
}

fn reply_ranges(lengths: &Lengths<'_>, options: &Options, r: &Request<'_>, out: &mut Vec<u8>) {
    let mut ranges = lengths.ranges();
    ranges.retain(|&(_, _, len)| len as i64 >= options.min_match_len);
    write::map(out, r.proto, 2);
    write::bulk(out, b"matches");
    write::array(out, ranges.len());
    for (i, j, len) in ranges {
        write::array(out, 2 + usize::from(options.with_match_len));
        for start in [i, j] {
            write::array(out, 2);
            write::integer(out, start as i64);
            write::integer(out, (start + len - 1) as i64);
        }
        if options.with_match_len {
            write::integer(out, len as i64);
        }
    }
    write::bulk(out, b"len");
    write::integer(out, i64::from(lengths.total()));
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shard;

    #[test]
    fn the_example_of_the_documentation() {
        let mut shard = Shard::new();
        shard.run("MSET a ohmytext b mynewtext");
        assert_eq!(shard.run("LCS a b"), "$6\r\nmytext\r\n");
        assert_eq!(shard.run("LCS a b LEN"), ":6\r\n");
        assert_eq!(
            shard.run("LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN"),
            "*4\r\n$7\r\nmatches\r\n*1\r\n*3\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n:4\r\n$3\r\nlen\r\n:6\r\n"
        );
    }
}
