//! Glob patterns as servers match them: `*`, `?`, `[a-z]`, `[^a]`, `\` before what is meant literally.
//!
//! Iterative: where a `*` took too little, the last one takes one byte more, so that a pattern of many stars costs
//! at most its length times the text's and never an exponential search. Case is ignored: these are names of
//! settings and commands.

/// Whether the pattern matches the whole text.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on when what follows the last star does not fit: behind the star, one byte further in the text.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match (pattern.get(p), text.get(t)) {
            (Some(b'*'), _) => {
                retry = Some((p + 1, t));
                p += 1;
                continue;
            }
            (None, None) => return true,
            (Some(_), Some(&byte)) => one(&pattern[p..], byte),
            _ => None,
        };
        match (step, retry) {
            (Some(used), _) => {
                p += used;
                t += 1;
            }
            (None, Some((behind, from))) if from < text.len() => {
                retry = Some((behind, from + 1));
                p = behind;
                t = from + 1;
            }
            (None, _) => return false,
        }
    }
}

/// How many bytes of the pattern stand for this one byte; `None` where they do not.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    let same = |literal: u8| literal.eq_ignore_ascii_case(&byte);
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', class @ ..] => {
            let (holds, used) = class_holds(class, byte);
            holds.then_some(1 + used)
        }
        [b'\\', literal, ..] => same(*literal).then_some(2),
        [literal, ..] => same(*literal).then_some(1),
        [] => None,
    }
}

/// Whether a class holds the byte, and its length with the `]`; without one it ends with the pattern.
fn class_holds(class: &[u8], byte: u8) -> (bool, usize) {
    let byte = byte.to_ascii_lowercase();
    let negated = class.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut holds = false;
    loop {
        match &class[at..] {
            [] => return (holds != negated, at),
            [b']', ..] => return (holds != negated, at + 1),
            [b'\\', literal, ..] => {
                holds |= literal.to_ascii_lowercase() == byte;
                at += 2;
            }
            [a, b'-', b, ..] => {
                let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
                holds |= (a.min(b)..=a.max(b)).contains(&byte);
                at += 3;
            }
            [literal, ..] => {
                holds |= literal.to_ascii_lowercase() == byte;
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_of_every_shape() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("max*", "MAXMEMORY", true),
            ("max*y", "maxmemory-policy", true),
            ("max?emory", "maxmemory", true),
            ("*replica-read*", "replica-read-only", true),
            ("[m-n]ax", "max", true),
            ("[^m]ax", "max", false),
            ("[^", "x", true),
            ("m\\*x", "m*x", true),
            ("m\\*x", "max", false),
            ("", "x", false),
            ("x", "", false),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
            ("\\", "\\", true),
        ] {
            let got = matches(pattern.as_bytes(), text.as_bytes());
            assert_eq!(got, expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn many_stars_are_no_bomb() {
        let pattern = b"a*".repeat(2_000);
        let text = [b"a".repeat(4_000), b"b".to_vec()].concat();
        assert!(matches(&pattern, &text));
        assert!(!matches(&[&pattern[..], b"c"].concat(), &text));
    }
}
