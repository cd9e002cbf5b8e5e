//! What each stage of a command costs, alone: decode, lookup, slot, split, reply scan, gather.
//!
//! `cargo bench --bench stages` prints the median and the range of rounds in ns per item. `-- STAGE ROUNDS` runs one
//! stage so many times and prints nothing else, for tools that count instructions (see README.md beside this file).
//! Only the standard library measures here: the stages take nanoseconds, and a loop is all that they need.

use onetrip::command::{Split, lookup};
use onetrip::plan::split::split;
use onetrip::reassembly::merge::{Merge, Part, merge};
use onetrip::resp::reply::Scanner;
use onetrip::resp::request::{Decoded, Decoder};
use onetrip::resp::{Proto, write};
use onetrip::slot::{ShardId, Slot};
use onetrip::topology::SlotMap;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 15;
const PASSES: usize = 2_000;
const ITEMS: usize = 100;

/// A stage: its name, and one pass over [`ITEMS`] items.
type Stage = (&'static str, Box<dyn FnMut()>);

fn request(words: &[String]) -> Vec<u8> {
    let mut frame = Vec::new();
    write::request(&mut frame, words);
    frame
}

fn key(i: usize) -> String {
    format!("key:{:012}", i * 7_919)
}

fn batch() -> Vec<u8> {
    (0..ITEMS).flat_map(|i| request(&["GET".to_owned(), key(i)])).collect()
}

fn decode(
    bytes: Vec<u8>,
    mut each: impl FnMut(onetrip::resp::request::Args<'_>) + 'static,
) -> Box<dyn FnMut()> {
    let mut decoder = Decoder::default();
    Box::new(move || {
        let mut used = 0;
        while let Some((args, consumed)) = decoder.whole(black_box(&bytes[used..])) {
            each(args);
            used += consumed;
        }
        assert_eq!(used, bytes.len(), "a batch is whole requests");
    })
}

fn stages() -> Vec<Stage> {
    let keys: Vec<String> = (0..ITEMS).map(key).collect();
    let replies =
        b"$64\r\nabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl\r\n".repeat(ITEMS);
    let mget = request(&[vec!["MGET".to_owned()], keys.clone()].concat());
    let map = SlotMap::even(4);
    let part = |shard: u16| {
        let reply = [&b"*25\r\n"[..], &replies[..replies.len() / 4]].concat();
        Part { shard: ShardId(shard), reply }
    };
    let parts: Vec<Part> = (0..4).map(part).collect();
    let order: Vec<u16> = (0..ITEMS as u16).map(|i| i % 4).collect();
    let mut splitter = Decoder::default();
    vec![
        ("decode", decode(batch(), |args| _ = black_box(args.len()))),
        ("decode+lookup", decode(batch(), |args| _ = black_box(lookup::find(args)))),
        ("slot", Box::new(move || keys.iter().for_each(|key| _ = black_box(Slot::of(key.as_bytes()))))),
        (
            "split",
            Box::new(move || {
                assert!(matches!(splitter.next(&mget, true), Ok(Decoded::Request { .. })));
                black_box(split(Split::Values, splitter.args(&mget), &map));
            }),
        ),
        (
            "reply scan",
            Box::new(move || {
                let (mut scanner, mut at) = (Scanner::default(), 0);
                while let Ok(Some(end)) = scanner.scan(black_box(&replies[at..])) {
                    at += end;
                }
                assert_eq!(at, replies.len());
            }),
        ),
        (
            "gather",
            Box::new(move || {
                let mut out = Vec::new();
                merge(Merge::Values { order: order.clone() }, &parts, Proto::Resp2, &mut out);
                assert_eq!(out[0], b'*');
                black_box(out);
            }),
        ),
    ]
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if let [name, rounds] = args.as_slice() {
        let rounds: usize = rounds.parse().unwrap_or(PASSES);
        let stage = stages().into_iter().find(|(stage, _)| stage == name);
        let Some((_, mut pass)) = stage else { return eprintln!("no stage is called {name}") };
        return (0..rounds).for_each(|_| pass());
    }
    println!("{:<14} {:>8}   range (ns per item, {ROUNDS} rounds)", "stage", "median");
    for (name, mut pass) in stages() {
        let mut nanos: Vec<f64> = (0..=ROUNDS).map(|_| round(&mut pass)).skip(1).collect();
        nanos.sort_by(f64::total_cmp);
        println!("{name:<14} {:>8.1}   {:.1} .. {:.1}", nanos[ROUNDS / 2], nanos[0], nanos[ROUNDS - 1]);
    }
}

fn round(pass: &mut impl FnMut()) -> f64 {
    let began = Instant::now();
    (0..PASSES).for_each(|_| pass());
    began.elapsed().as_nanos() as f64 / (PASSES * ITEMS) as f64
}
