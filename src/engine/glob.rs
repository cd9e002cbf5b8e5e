//! The glob patterns of KEYS and SCAN: `*`, `?`, `[a-z]`, `[^a]` and `\` before a literal.
//!
//! Gives the same answers as Redis's matcher, its odd cases included: an unclosed class ends with the pattern, a
//! range may stand backwards, and nothing matches the empty string but the empty pattern. A `*` that fails is
//! retried only at the last one, so work is at most pattern × text and no pattern blows up.

/// Whether the whole text matches.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Pattern after the last star, and the text that it was last tried at.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        let step = match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                if p == pattern.len() {
                    return true;
                }
                star = Some((p, t));
                continue;
            }
            Some(_) => one(&pattern[p..], text[t]),
            None => None,
        };
        if let Some(taken) = step {
            p += taken;
            t += 1;
        } else if let Some((after, tried)) = &mut star {
            *tried += 1;
            (p, t) = (*after, *tried);
        } else {
            return false;
        }
    }
    // What is left of the pattern may only be stars; they match nothing where no text was seen at all.
    let rest = &pattern[p..];
    rest.is_empty() || !text.is_empty() && star_tail(&star, t) && rest.iter().all(|&b| b == b'*')
}

/// A star is never tried at the end of the text, so one that ran there has failed.
fn star_tail(star: &Option<(usize, usize)>, end: usize) -> bool {
    star.is_none_or(|(_, tried)| tried < end)
}

/// Matches one byte with the pattern's first element; how much of the pattern that was.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', class @ ..] => {
            let (hit, len) = in_class(class, byte);
            hit.then_some(1 + len)
        }
        [b'\\', literal, ..] => (*literal == byte).then_some(2),
        [literal, ..] => (*literal == byte).then_some(1),
        [] => None,
    }
}

/// Whether the byte is in the class that begins here, and the length of the class with its `]`.
fn in_class(class: &[u8], byte: u8) -> (bool, usize) {
    let negated = class.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut hit = false;
    loop {
        at += match class[at.min(class.len())..] {
            [] => break,
            [b']', ..] => {
                at += 1;
                break;
            }
            [b'\\', literal, ..] => {
                hit |= literal == byte;
                2
            }
            [low, b'-', high, ..] => {
                hit |= within(low, high, byte);
                3
            }
            [literal, ..] => {
                hit |= literal == byte;
                1
            }
        };
    }
    (hit != negated, at)
}

/// Redis compares ranges as signed bytes.
fn within(low: u8, high: u8, byte: u8) -> bool {
    let (low, high) = (low as i8, high as i8);
    (low.min(high)..=low.max(high)).contains(&(byte as i8))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_as_redis_reads_them() {
        for (pattern, text, expected) in [
            ("*", "anything", true),
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h*llo", "heeello", true),
            ("h[ae]llo", "hello", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]llo", "hbllo", true),
            ("h[c-a]llo", "hbllo", true),
            ("h[\\]]llo", "h]llo", true),
            ("h[", "hx", false),
            ("h[x", "hx", true),
            ("h\\*llo", "h*llo", true),
            ("h\\*llo", "hxllo", false),
            ("a*", "a", true),
            ("a**", "a", true),
            ("*a", "ba", true),
            ("*a*b*c*", "xxaxxbxxc", true),
            ("*a*b", "ab0", false),
            ("", "", true),
            ("*", "", false),
            ("a\\", "a\\", true),
        ] {
            let found = matches(pattern.as_bytes(), text.as_bytes());
            assert_eq!(found, expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn stars_do_not_blow_up() {
        let pattern = "a*".repeat(1_000) + "b";
        let text = "a".repeat(10_000);
        assert!(!matches(pattern.as_bytes(), text.as_bytes()));
    }
}
