//! The 80-bit float that Redis adds with in INCRBYFLOAT, in integer arithmetic.
//!
//! Redis uses C's `long double`: 64 bits of mantissa on x86. A 64-bit float would answer 0.30000000000000004 where
//! Redis answers 0.3, so the sum is made as the x87 makes it: both numbers rounded to 64 bits, the sum rounded
//! again (to nearest, ties to even), written with 17 digits after the point. Rust has no such type.
//!
//! Not here: subnormal numbers below 2^-16382 keep more bits than the x87 would; all of them print as 0.

use super::big::{Big, quotient};

const MANTISSA_BITS: usize = 64;
/// Numbers from 2^EXPONENT_MAX on are infinite; below 2^EXPONENT_MIN they are zero.
const EXPONENT_MAX: i64 = 16_384;
const EXPONENT_MIN: i64 = -16_446;
/// Longest text that Redis reads as a number.
const TEXT_BYTES_MAX: usize = 5 * 1024;
/// Decimal exponents beyond this are as good as endless.
const DECIMAL_EXPONENT_MAX: i64 = 20_000;
/// Digits after the point.
const DIGITS: usize = 17;
const SCALE: u128 = 100_000_000_000_000_000;

/// ± mantissa × 2^exponent; the mantissa's highest bit is set, or it is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended {
    negative: bool,
    mantissa: u64,
    exponent: i64,
    infinite: bool,
}

impl Extended {
    pub const ZERO: Extended = Extended { negative: false, mantissa: 0, exponent: 0, infinite: false };

    /// As C's strtold reads the whole text; `None` for what is no number, NaN, or out of range.
    pub fn parse(text: &[u8]) -> Option<Extended> {
        if text.is_empty() || text.len() >= TEXT_BYTES_MAX {
            return None;
        }
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let magnitude = match rest {
            _ if is_word(rest, "inf") || is_word(rest, "infinity") => {
                Extended { infinite: true, ..Extended::ZERO }
            }
            [b'0', b'x' | b'X', hex @ ..] => Literal::read(hex, 16)?.hexadecimal()?,
            _ => Literal::read(rest, 10)?.decimal()?,
        };
        Some(Extended { negative, ..magnitude })
    }

    /// The sum; `None` where it is not finite.
    pub fn add(self, other: Extended) -> Option<Extended> {
        if self.infinite || other.infinite {
            return None;
        }
        if other.mantissa == 0 {
            return Some(self);
        }
        if self.mantissa == 0 {
            return Some(other);
        }
        let (large, small) = if (self.exponent, self.mantissa) >= (other.exponent, other.mantissa) {
            (self, other)
        } else {
            (other, self)
        };
        // Two bits above for the carry, and below as many as decide the rounding.
        let a = u128::from(large.mantissa) << 62;
        let b = shift_right(u128::from(small.mantissa) << 62, large.exponent - small.exponent);
        let same_sign = large.negative == small.negative;
        let sum = if same_sign { a + b } else { a - b };
        let magnitude = Extended::rounded(sum, large.exponent - 62, false)?;
        Some(Extended { negative: large.negative && magnitude.mantissa != 0, ..magnitude })
    }

    /// bits × 2^exponent to 64 bits; `more` says that there was something below the bits.
    fn rounded(bits: u128, exponent: i64, more: bool) -> Option<Extended> {
        if bits == 0 {
            return Some(Extended::ZERO);
        }
        let len = 128 - bits.leading_zeros() as i64;
        let drop = len - MANTISSA_BITS as i64;
        if drop <= 0 {
            return Extended::finite((bits << -drop) as u64, exponent + drop);
        }
        let kept = (bits >> drop) as u64;
        let (rest, half) = (bits & ((1 << drop) - 1), 1u128 << (drop - 1));
        let up = rest > half || rest == half && (more || kept & 1 == 1);
        match kept.checked_add(u64::from(up)) {
            Some(mantissa) => Extended::finite(mantissa, exponent + drop),
            None => Extended::finite(1 << 63, exponent + drop + 1),
        }
    }

    fn finite(mantissa: u64, exponent: i64) -> Option<Extended> {
        let top = exponent + MANTISSA_BITS as i64;
        (EXPONENT_MIN < top && top <= EXPONENT_MAX).then_some(Extended {
            negative: false,
            mantissa,
            exponent,
            infinite: false,
        })
    }

    /// As `%.17Lf` writes it, without the zeros at the end.
    pub fn to_text(self) -> String {
        let digits = if self.exponent >= 0 {
            let mut whole = Big::from(u128::from(self.mantissa));
            whole.shift_left(self.exponent as usize);
            whole.to_text()
        } else {
            self.fraction_text()
        };
        if self.negative && digits != "0" { format!("-{digits}") } else { digits }
    }

    fn fraction_text(self) -> String {
        let scaled = u128::from(self.mantissa) * SCALE;
        let shift = -self.exponent;
        let mut n = if shift < 128 { scaled >> shift } else { 0 };
        if shift < 128 {
            let (rest, half) = (scaled & ((1 << shift) - 1), 1u128 << (shift - 1));
            n += u128::from(rest > half || rest == half && n & 1 == 1);
        }
        let text = format!("{}.{:0width$}", n / SCALE, n % SCALE, width = DIGITS);
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

/// `bits` ÷ 2^by, with the lowest bit set where something was lost.
fn shift_right(bits: u128, by: i64) -> u128 {
    if by >= 128 {
        return 1;
    }
    let lost = bits & ((1u128 << by) - 1) != 0;
    bits >> by | u128::from(lost)
}

fn is_word(text: &[u8], word: &str) -> bool {
    text.eq_ignore_ascii_case(word.as_bytes())
}

/// A number as it is written: digits × base^(−behind the point), and the exponent after them.
struct Literal {
    digits: Big,
    behind: i64,
    exponent: i64,
}

impl Literal {
    /// Digits with a point at most, then an exponent (`e`, or `p` after hexadecimal digits).
    fn read(text: &[u8], base: u32) -> Option<Literal> {
        let mark = if base == 16 { b'p' } else { b'e' };
        let end = text.iter().position(|b| b.to_ascii_lowercase() == mark);
        let (number, exponent) = match end {
            Some(end) => (&text[..end], exponent(&text[end + 1..])?),
            None => (text, 0),
        };
        let point = number.iter().position(|&b| b == b'.');
        let behind = point.map_or(0, |point| (number.len() - point - 1) as i64);
        let mut digits = Big::from(0);
        for &b in number.iter().filter(|&&b| b != b'.') {
            digits.multiply_add(base, (b as char).to_digit(base)?);
        }
        let count = number.len() - usize::from(point.is_some());
        (count > 0 && number.iter().filter(|&&b| b == b'.').count() < 2).then_some(Literal {
            digits,
            behind,
            exponent,
        })
    }

    fn hexadecimal(self) -> Option<Extended> {
        let (bits, low, more) = self.digits.top();
        Extended::rounded(bits, low + self.exponent - 4 * self.behind, more)
    }

    fn decimal(mut self) -> Option<Extended> {
        let power = self.exponent - self.behind;
        if self.digits.is_zero() {
            return Some(Extended::ZERO);
        }
        if power.abs() > DECIMAL_EXPONENT_MAX {
            return None;
        }
        if power >= 0 {
            self.digits.multiply_power_of_ten(power);
            let (bits, low, more) = self.digits.top();
            return Extended::rounded(bits, low, more);
        }
        let mut divisor = Big::from(1);
        divisor.multiply_power_of_ten(-power);
        let (bits, low) = quotient(self.digits, divisor);
        // The lowest bit stands for all that is below it.
        Extended::rounded(bits, low, false)
    }
}

fn exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut n: i64 = 0;
    for &b in digits {
        let digit = (b as char).to_digit(10)?;
        n = (n * 10 + i64::from(digit)).min(10 * DECIMAL_EXPONENT_MAX);
    }
    Some(if negative { -n } else { n })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(a: &str, b: &str) -> String {
        let add = || Extended::parse(a.as_bytes())?.add(Extended::parse(b.as_bytes())?);
        add().map_or("none".to_string(), Extended::to_text)
    }

    /// What redis-server 7.0.15 answers.
    #[test]
    fn sums_as_the_server_gives_them() {
        for (a, b, expected) in [
            ("0.1", "0.2", "0.3"),
            ("10.50", "0.1", "10.6"),
            ("5.0e3", "2.0e2", "5200"),
            ("3", "-3", "0"),
            ("-1.5", "0.25", "-1.25"),
            ("1e18", "1", "1000000000000000001"),
            ("18446744073709551616", "1", "18446744073709551616"),
            ("18446744073709551616", "3", "18446744073709551620"),
            ("0x10", "1", "17"),
            ("-0", "-0", "0"),
            ("1e-20", "0", "0"),
            (".5", "5.", "5.5"),
        ] {
            assert_eq!(sum(a, b), expected, "{a} + {b}");
        }
    }

    #[test]
    fn what_is_no_number() {
        for text in ["", " 1", "1 ", "1e", "e1", ".", "1.2.3", "nan", "0x", "1e5000", "1e-5000", "--1", "1,5"]
        {
            assert_eq!(Extended::parse(text.as_bytes()), None, "{text}");
        }
    }
}
