//! The words of a line typed into a terminal, with quotes and escapes as redis-cli and servers read them.
//!
//! Only inline requests come here: nothing about it has to be fast.

/// Words of an inline request: split at blanks, "…" with escapes (\n \r \t \b \a \xHH), '…' with \'; `None` where
/// a quote is not closed or is followed by something else than a blank.
pub fn split_words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        while let [b, tail @ ..] = rest {
            if !is_blank(*b) {
                break;
            }
            rest = tail;
        }
        if rest.is_empty() {
            return Some(words);
        }
        let (word, tail) = split_word(rest)?;
        words.push(word);
        rest = tail;
    }
}

fn split_word(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    loop {
        match rest {
            [] => return Some((word, rest)),
            [b, ..] if is_blank(*b) => return Some((word, rest)),
            [b'"', tail @ ..] => return ended(word, double_quoted, tail),
            [b'\'', tail @ ..] => return ended(word, single_quoted, tail),
            [b, tail @ ..] => {
                word.push(*b);
                rest = tail;
            }
        }
    }
}

type Quoted = for<'a> fn(&mut Vec<u8>, &'a [u8]) -> Option<&'a [u8]>;

/// The rest of a word that ends with a quoted part: a closing quote must be followed by a blank or nothing.
fn ended(mut word: Vec<u8>, quoted: Quoted, tail: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let rest = quoted(&mut word, tail)?;
    rest.first().is_none_or(|&b| is_blank(b)).then_some((word, rest))
}

fn double_quoted<'a>(word: &mut Vec<u8>, mut rest: &'a [u8]) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] => return None,
            [b'"', tail @ ..] => return Some(tail),
            [b'\\', b'x', high, low, tail @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                word.push(hex(*high) << 4 | hex(*low));
                rest = tail;
            }
            [b'\\', escaped, tail @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                rest = tail;
            }
            [b, tail @ ..] => {
                word.push(*b);
                rest = tail;
            }
        }
    }
}

fn single_quoted<'a>(word: &mut Vec<u8>, mut rest: &'a [u8]) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] => return None,
            [b'\\', b'\'', tail @ ..] => {
                word.push(b'\'');
                rest = tail;
            }
            [b'\'', tail @ ..] => return Some(tail),
            [b, tail @ ..] => {
                word.push(*b);
                rest = tail;
            }
        }
    }
}

fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}
