//! Natural numbers of any size, as far as reading and writing 80-bit floats needs them.
//!
//! A decimal exponent of ±5,000 makes numbers of 17,000 bits; whoever calls bounds the exponent, so nothing here
//! grows without limit. Schoolbook arithmetic on 32-bit words: this is off the hot path, and is to be short.

/// A natural number of any size, lowest word first, without zero words at the top.
#[derive(Clone, Debug)]
pub struct Big {
    words: Vec<u32>,
}

impl Big {
    pub fn from(n: u128) -> Big {
        let mut big = Big { words: (0..4).map(|i| (n >> (32 * i)) as u32).collect() };
        big.trim();
        big
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    pub fn is_zero(&self) -> bool {
        self.words.is_empty()
    }

    pub fn bits(&self) -> usize {
        let top = self.words.last().map_or(32, |w| w.leading_zeros());
        32 * self.words.len().max(1) - top as usize
    }

    pub fn multiply_add(&mut self, by: u32, add: u32) {
        let mut carry = u64::from(add);
        for word in &mut self.words {
            let n = u64::from(*word) * u64::from(by) + carry;
            *word = n as u32;
            carry = n >> 32;
        }
        if carry > 0 {
            self.words.push(carry as u32);
        }
    }

    pub fn multiply_power_of_ten(&mut self, power: i64) {
        for _ in 0..power / 9 {
            self.multiply_add(1_000_000_000, 0);
        }
        for _ in 0..power % 9 {
            self.multiply_add(10, 0);
        }
    }

    pub fn shift_left(&mut self, by: usize) {
        if !by.is_multiple_of(32) {
            self.multiply_add(1 << (by % 32), 0);
        }
        if by >= 32 && !self.is_zero() {
            self.words.splice(0..0, std::iter::repeat_n(0, by / 32));
        }
    }

    /// Takes `other` away where it is not larger; whether it did.
    fn subtract(&mut self, other: &Big) -> bool {
        let order = (self.words.len().cmp(&other.words.len()))
            .then_with(|| self.words.iter().rev().cmp(other.words.iter().rev()));
        if order.is_lt() {
            return false;
        }
        let mut borrow = 0i64;
        for (i, word) in self.words.iter_mut().enumerate() {
            let take = other.words.get(i).copied().unwrap_or(0);
            let n = i64::from(*word) - i64::from(take) + borrow;
            *word = n as u32;
            borrow = n >> 32;
        }
        self.trim();
        true
    }

    /// The highest bits (96 at least, or all), the exponent of the lowest of them, and whether there are more.
    pub fn top(&self) -> (u128, i64, bool) {
        let from = self.words.len().saturating_sub(4);
        let bits = self.words[from..].iter().rev().fold(0u128, |bits, &word| bits << 32 | u128::from(word));
        let more = self.words[..from].iter().any(|&word| word != 0);
        (bits, 32 * from as i64, more)
    }

    pub fn to_text(&self) -> String {
        let mut rest = self.clone();
        let mut groups = Vec::new();
        while !rest.is_zero() {
            groups.push(rest.divide_by_billion());
        }
        let mut text = groups.pop().unwrap_or(0).to_string();
        for group in groups.iter().rev() {
            text.push_str(&format!("{group:09}"));
        }
        text
    }

    /// Divides by 10^9; the remainder.
    fn divide_by_billion(&mut self) -> u32 {
        let mut rest = 0u64;
        for word in self.words.iter_mut().rev() {
            let n = rest << 32 | u64::from(*word);
            *word = (n / 1_000_000_000) as u32;
            rest = n % 1_000_000_000;
        }
        self.trim();
        rest as u32
    }
}

/// 68 bits of the quotient and the exponent of the lowest, which is set where there is a remainder.
pub fn quotient(mut dividend: Big, mut divisor: Big) -> (u128, i64) {
    const BITS: i64 = 68;
    let shift = divisor.bits() as i64 - dividend.bits() as i64;
    dividend.shift_left(shift.max(0) as usize);
    divisor.shift_left((-shift).max(0) as usize);
    let mut bits = 0u128;
    for _ in 0..BITS {
        bits <<= 1;
        if dividend.subtract(&divisor) {
            bits |= 1;
        }
        dividend.shift_left(1);
    }
    let low = 1 - BITS - shift;
    (bits | u128::from(!dividend.is_zero()), low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_quotients() {
        let mut n = Big::from(7);
        n.multiply_power_of_ten(30);
        assert_eq!(n.to_text(), format!("7{}", "0".repeat(30)));
        n.shift_left(33);
        assert_eq!(n.bits(), 103 + 33);
        // One third is 0.010101… in binary; the lowest bit is set for the rest as well.
        let (bits, low) = quotient(Big::from(1), Big::from(3));
        assert_eq!(low + 128 - i64::from(bits.leading_zeros()), -1);
        assert_eq!(bits & 0xff, 0b0101_0101);
    }
}
