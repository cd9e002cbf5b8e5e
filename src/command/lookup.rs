//! A command's name, in any case → its row.
//!
//! Owns the index over the names, built when the program is compiled: open addressing over a multiplied hash of the
//! name's lower-case words. A name is at most 24 bytes, so it is three machine words and a length, which stand in the
//! index itself: the usual name, of up to eight bytes, costs one look at one cache line. Nothing is allocated, locked
//! or initialised on the way. A subcommand is found by the same index with its container's number mixed in, and only
//! where the container's row says that it has subcommands.
//!
//! Must never take a name that merely folds to the same letters: the length is part of what is compared, and only
//! `A`–`Z` are folded.

use super::table::ROWS;
use super::{Spec, SpecId};
use crate::resp::request::Args;

/// What a request's first arguments name.
#[derive(Clone, Copy, Debug)]
pub enum Found {
    Command(&'static Spec, SpecId),
    UnknownCommand,
    /// The container's row; [`super::errors::unknown_subcommand`] has the text.
    UnknownSubcommand(&'static Spec),
}

/// The row that a request means; a container called alone is its own row, whose arity refuses it.
/// `args` holds at least the name.
#[inline(always)]
pub fn find(args: Args<'_>) -> Found {
    let Some(id) = probe(args.at(0), NO_CONTAINER) else {
        return Found::UnknownCommand;
    };
    let spec = id.spec();
    if spec.is_container() && args.len() > 1 {
        return find_sub(spec, id, args.at(1));
    }
    Found::Command(spec, id)
}

#[inline(never)]
fn find_sub(container: &'static Spec, id: SpecId, name: &[u8]) -> Found {
    match probe(name, id.0) {
        Some(sub) => Found::Command(sub.spec(), sub),
        None => Found::UnknownSubcommand(container),
    }
}

/// `get`, `client|setname`, in any case: for tables that are built on rows, not for requests.
pub fn by_name(name: &str) -> Option<SpecId> {
    let (command, sub) = match name.split_once('|') {
        Some((container, sub)) => (container, Some(sub)),
        None => (name, None),
    };
    let id = probe(command.as_bytes(), NO_CONTAINER)?;
    match sub {
        Some(sub) => probe(sub.as_bytes(), id.0),
        None => Some(id),
    }
}

/// Longest name, and longest subcommand, that a row may have.
const NAME_MAX: usize = 24;
/// Stands in a command's own name where a subcommand's has its container.
const NO_CONTAINER: u16 = u16::MAX;
/// Slots of the index: a power of two, at least twice the rows, so that nearly every probe ends at its first slot.
const SLOTS: usize = 2048;
const SHIFT: u32 = u64::BITS - SLOTS.trailing_zeros();
const EMPTY: u16 = u16::MAX;

/// A name as it is compared: lower-case words and, in `whose`, its length and container.
#[derive(Clone, Copy)]
struct Name {
    words: [u64; 3],
    whose: u32,
}

impl Name {
    /// A name longer than any row's gives one that equals none.
    const fn new(name: &[u8], container: u16) -> Name {
        let (words, len) = match name.len() {
            0..=8 => return Name::short(name, container),
            9..=16 => ([first8(name), last8(name), 0], name.len()),
            17..=NAME_MAX => ([first8(name), second8(name), last8(name)], name.len()),
            _ => ([0, 0, 0], NAME_MAX + 1),
        };
        Name { words: [lower(words[0]), lower(words[1]), lower(words[2])], whose: whose(len, container) }
    }

    /// A name of at most eight bytes.
    #[inline]
    const fn short(name: &[u8], container: u16) -> Name {
        Name { words: [lower(short(name)), 0, 0], whose: whose(name.len(), container) }
    }

    #[inline]
    const fn slot(&self) -> usize {
        let mixed = self.words[0]
            ^ self.words[1].rotate_left(21)
            ^ self.words[2].rotate_left(43)
            ^ (self.whose as u64).rotate_left(11);
        // Fibonacci hashing: the top bits of the product depend on all bits of the words.
        ((mixed ^ (mixed >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> SHIFT) as usize
    }

    /// Equal lengths make the words beyond a short name's first equal: they are 0.
    #[inline]
    const fn is(&self, other: &Name, short: bool) -> bool {
        self.words[0] == other.words[0]
            && self.whose == other.whose
            && (short || (self.words[1] == other.words[1] && self.words[2] == other.words[2]))
    }
}

#[inline]
const fn whose(len: usize, container: u16) -> u32 {
    (len as u32) << 16 | container as u32
}

#[inline(always)]
fn probe(name: &[u8], container: u16) -> Option<SpecId> {
    if name.len() <= 8 {
        return walk(&Name::short(name, container), true);
    }
    probe_long(name, container)
}

#[inline(never)]
fn probe_long(name: &[u8], container: u16) -> Option<SpecId> {
    walk(&Name::new(name, container), false)
}

#[inline(always)]
fn walk(name: &Name, short: bool) -> Option<SpecId> {
    let mut slot = name.slot();
    loop {
        let entry = &INDEX[slot];
        if name.is(&entry.name, short) {
            return Some(SpecId(entry.row));
        }
        if entry.row == EMPTY {
            return None;
        }
        slot = (slot + 1) % SLOTS;
    }
}

#[derive(Clone, Copy)]
struct Entry {
    name: Name,
    row: u16,
}

/// Rows by the hash of their names; an `EMPTY` row, whose name equals none, ends a walk.
static INDEX: [Entry; SLOTS] = index();

const fn index() -> [Entry; SLOTS] {
    assert!(ROWS.len() * 2 <= SLOTS);
    let nobody = Name { words: [0; 3], whose: u32::MAX };
    let mut index = [Entry { name: nobody, row: EMPTY }; SLOTS];
    let mut container = NO_CONTAINER;
    let mut row = 0;
    while row < ROWS.len() {
        let name = own_name(row, &mut container);
        let mut slot = name.slot();
        while index[slot].row != EMPTY {
            assert!(!index[slot].name.is(&name, false));
            slot = (slot + 1) % SLOTS;
        }
        index[slot] = Entry { name, row: row as u16 };
        row += 1;
    }
    index
}

/// The name of a row without its container's, which is the last row without a `|` before it.
const fn own_name(row: usize, container: &mut u16) -> Name {
    let name = ROWS[row].name.as_bytes();
    let bar = position(name, b'|');
    if bar == name.len() {
        assert!(bar <= NAME_MAX);
        *container = row as u16;
        return Name::new(name, NO_CONTAINER);
    }
    let (owner, sub) = name.split_at(bar);
    let above = ROWS[*container as usize].name.as_bytes();
    assert!(Name::new(owner, NO_CONTAINER).is(&Name::new(above, NO_CONTAINER), false));
    assert!(sub.len() - 1 <= NAME_MAX);
    Name::new(sub.split_at(1).1, *container)
}

const fn position(name: &[u8], byte: u8) -> usize {
    let mut i = 0;
    while i < name.len() && name[i] != byte {
        i += 1;
    }
    i
}

/// Up to eight bytes as one word; the two halves of a longer one overlap, which is why the length is compared too.
#[inline]
const fn short(name: &[u8]) -> u64 {
    if let Some(word) = name.first_chunk::<8>() {
        return u64::from_le_bytes(*word);
    }
    if let (Some(head), Some(tail)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        return u32::from_le_bytes(*head) as u64 | (u32::from_le_bytes(*tail) as u64) << 32;
    }
    match *name {
        [a, b, c] => u32::from_le_bytes([a, b, c, 0]) as u64,
        [a, b] => u16::from_le_bytes([a, b]) as u64,
        [a] => a as u64,
        _ => 0,
    }
}

#[inline]
const fn first8(name: &[u8]) -> u64 {
    match name.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => 0,
    }
}

#[inline]
const fn second8(name: &[u8]) -> u64 {
    first8(name.split_at(8).1)
}

#[inline]
const fn last8(name: &[u8]) -> u64 {
    match name.last_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => 0,
    }
}

/// Eight bytes with `A`–`Z` made lower case, and no other byte touched.
#[inline]
const fn lower(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let low7 = word & (0x7f * ONES);
    let from_a = low7 + (0x80 - b'A' as u64) * ONES;
    let beyond_z = low7 + (0x7f - b'Z' as u64) * ONES;
    let upper = (from_a ^ beyond_z) & !word & (0x80 * ONES);
    word | upper >> 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::request::Decoder;

    fn find_line(line: &str) -> Found {
        let mut decoder = Decoder::default();
        let bytes = format!("{line}\r\n");
        assert!(decoder.next(bytes.as_bytes(), true).is_ok());
        find(decoder.args(bytes.as_bytes()))
    }

    fn name(line: &str) -> &'static str {
        match find_line(line) {
            Found::Command(spec, id) => {
                assert!(std::ptr::eq(spec, id.spec()));
                spec.name
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_row_is_found_by_its_name_in_any_case() {
        for (row, spec) in ROWS.iter().enumerate() {
            assert_eq!(by_name(spec.name), Some(SpecId(row as u16)), "{}", spec.name);
            let line = spec.name.to_uppercase().replace('|', " ");
            assert_eq!(name(&line), spec.name);
        }
    }

    #[test]
    fn containers() {
        assert_eq!(name("client"), "client");
        assert_eq!(name("Client sETNAME x"), "client|setname");
        assert_eq!(name("command"), "command");
        assert!(matches!(
            find_line("client nope"),
            Found::UnknownSubcommand(spec) if spec.name == "client"
        ));
        // Not a container: its second argument is nobody's name.
        assert_eq!(name("get setname"), "get");
    }

    #[test]
    fn near_names_are_not_taken() {
        for line in ["ge", "gett", "gEt~", "client|setname", "setname", "\"get\\x00\"", "\"\\x07et\""] {
            assert!(matches!(find_line(line), Found::UnknownCommand), "{line}");
        }
        // `-` and carriage return differ in one bit, the one that folds letters.
        assert!(matches!(find_line("\"restore\\x0dasking\""), Found::UnknownCommand));
        let long = "x".repeat(100_000);
        assert!(matches!(find_line(&long[..60_000]), Found::UnknownCommand));
        assert!(matches!(find_line("\"\" a"), Found::UnknownCommand));
    }

    #[test]
    fn walks_are_short() {
        let home = |(slot, entry): &(usize, &Entry)| entry.name.slot() == *slot;
        let taken = || INDEX.iter().enumerate().filter(|(_, e)| e.row != EMPTY);
        assert_eq!(taken().count(), ROWS.len());
        let near = taken().filter(home).count();
        assert!(near * 4 > ROWS.len() * 3, "{near} of {} at home", ROWS.len());
    }
}
