//! Seeds: every random test takes its randomness from one number, told when the test fails.
//!
//! The seed is new on every run, so that the suite goes on finding things; `ONETRIP_TEST_SEED` replays one.

use fastrand::Rng;

pub struct Seed {
    test: &'static str,
    pub number: u64,
}

impl Seed {
    /// The seed of this run of `test`; dropped during a panic, it prints itself.
    pub fn new(test: &'static str) -> Seed {
        let given = std::env::var("ONETRIP_TEST_SEED").ok();
        let number = given
            .map_or_else(|| fastrand::u64(..), |text| text.parse().expect("ONETRIP_TEST_SEED is a number"));
        Seed { test, number }
    }

    /// A generator of its own for each part of a test (a client, a layout), so that parts replay alone.
    pub fn rng(&self, part: u64) -> Rng {
        Rng::with_seed(self.number.wrapping_add(part.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: replay with ONETRIP_TEST_SEED={}", self.test, self.number);
        }
    }
}
