//! A limit for the depth of JSON text.
//!
//! The depth is measured by brackets before a tree is built: dropping a tree of 200,000 levels overflows the stack, and
//! a parser's limit does not help once the tree exists.

use serde::de::{DeserializeOwned, Error as _};

/// The depth of the deepest tree that is built.
pub(crate) const LIMIT: usize = 512;

/// Returns whether a text is nested too deeply to become a tree.
pub(crate) fn is_too_deep(text: &[u8]) -> bool {
    depth(text) > LIMIT
}

/// Returns the greatest number of open brackets outside strings; 0 for a scalar.
pub(crate) fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut is_escaped) = (0usize, 0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Reads text of at most [`LIMIT`] levels.
///
/// # Errors
/// If the text is too deep, is not JSON, or does not have the expected shape.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    read_within(LIMIT, text)
}

/// Reads text of at most `limit` levels. The errors are those of [`read`].
pub(crate) fn read_within<T: DeserializeOwned>(limit: usize, text: &[u8]) -> serde_json::Result<T> {
    if depth(text) > limit {
        return Err(serde_json::Error::custom(format!("nested more than {limit} levels deep")));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert_eq!(depth(br#"{"a":["]]\"[[",{}]}"#), 3);
        assert_eq!(depth(b"1"), 0);
    }

    #[test]
    fn text_up_to_the_limit_is_read() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read::<Value>(nested(LIMIT).as_bytes()).is_ok());
        assert!(read::<Value>(nested(200_000).as_bytes()).is_err());
        assert!(read::<Value>(b"[1] 2").is_err());
    }
}
