//! Arrays put together by ranges: elements are found, copied, and never looked into.
//!
//! MGET over several shards may be thousands of values, so a value costs the finding of its end and one copy.

use super::{Misfit, Part};
use crate::resp::{value, write};

/// MGET: value `i` is the next one of part `order[i]`. Every part must be used up, or a value would be missing.
pub(super) fn in_order(order: &[u16], parts: &[Part], out: &mut Vec<u8>) -> Result<(), Misfit> {
    let mut at = Vec::with_capacity(parts.len());
    for part in parts {
        at.push(value::elements(&part.reply).ok_or(Misfit(part.shard))?.1);
    }
    out.reserve(parts.iter().map(|part| part.reply.len()).sum::<usize>() + 16);
    write::array(out, order.len());
    for &from in order {
        let from = from as usize;
        let Some(part) = parts.get(from) else {
            return Err(Misfit(parts[0].shard));
        };
        let rest = &part.reply[at[from]..];
        let len = value::skip(rest).ok().flatten().ok_or(Misfit(part.shard))?;
        out.extend_from_slice(&rest[..len]);
        at[from] += len;
    }
    for (part, at) in parts.iter().zip(at) {
        if at != part.reply.len() {
            return Err(Misfit(part.shard));
        }
    }
    Ok(())
}

/// KEYS: one array with the elements of all. That a part is as long as its header says is its lane's promise.
pub(super) fn one_after_the_other(parts: &[Part], out: &mut Vec<u8>) -> Result<(), Misfit> {
    let mut elements = Vec::with_capacity(parts.len());
    let mut count = 0usize;
    for part in parts {
        let (n, body) = value::elements(&part.reply).ok_or(Misfit(part.shard))?;
        count = count.saturating_add(n);
        elements.push(&part.reply[body..]);
    }
    out.reserve(parts.iter().map(|part| part.reply.len()).sum::<usize>() + 16);
    write::array(out, count);
    for bytes in elements {
        out.extend_from_slice(bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::ShardId;

    fn part(shard: u16, reply: &[u8]) -> Part {
        Part { shard: ShardId(shard), reply: reply.to_vec() }
    }

    #[test]
    fn values_come_in_the_order_asked() {
        let parts = [part(0, b"*2\r\n$1\r\na\r\n$-1\r\n"), part(4, b"*2\r\n$12\r\nbbbbbbbbbbbb\r\n_\r\n")];
        let mut out = Vec::new();
        in_order(&[1, 0, 0, 1], &parts, &mut out).unwrap();
        assert_eq!(out, b"*4\r\n$12\r\nbbbbbbbbbbbb\r\n$1\r\na\r\n$-1\r\n_\r\n");
    }

    #[test]
    fn a_part_with_too_few_or_too_many_values_is_no_reply_to_this() {
        let one = part(3, b"*1\r\n$1\r\na\r\n");
        let two = part(3, b"*2\r\n$1\r\na\r\n$1\r\nb\r\n");
        for (order, part) in [(&[0, 0][..], &one), (&[0], &two)] {
            let misfit = in_order(order, std::slice::from_ref(part), &mut Vec::new());
            assert_eq!(misfit.unwrap_err().0, ShardId(3));
        }
    }
}
