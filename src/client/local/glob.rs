//! Patterns for the names of settings and commands: those of KEYS, in any case.

use crate::engine::glob;

/// Whether the pattern matches the whole name.
pub(super) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // Servers match an empty name by no pattern but the empty one; no setting or command is called that.
    glob::matches(&pattern.to_ascii_lowercase(), &name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_of_every_shape() {
        for (pattern, text, expected) in [
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
