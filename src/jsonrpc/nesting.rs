//! The nesting depth of JSON text, counted by its brackets without building a tree.
//!
//! All text from outside is measured here before a tree is built from it: dropping a tree of 200,000 levels overflows
//! the stack, and a parser's limit does not help once the tree exists.

use serde::de::DeserializeOwned;

/// The largest number of levels of which a tree is built. Deeper values stay text.
pub const LIMIT: usize = 512;
/// The largest number of values in a message. A tree takes up to a hundred times the memory of its text.
pub const VALUES: usize = 400_000;

/// The error of [`read`].
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text is nested deeper than [`LIMIT`].
    #[error("nested {0} levels deep, more than {LIMIT}")]
    TooDeep(usize),
    /// The text is not JSON, or does not have the expected shape.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Returns the greatest number of open brackets outside strings; 0 for a scalar.
pub fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0usize, false, false);
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Returns an upper bound for the number of values in a text: scalars, lists, objects and members, counted by their
/// separators.
pub fn values(text: &[u8]) -> usize {
    let (mut values, mut in_string, mut escaped) = (1usize, false, false);
    for byte in text {
        if in_string {
            in_string = escaped || *byte != b'"';
            escaped = *byte == b'\\' && !escaped;
        } else {
            in_string = *byte == b'"';
            values += usize::from(matches!(byte, b'{' | b'[' | b','));
        }
    }
    values
}

/// Reads text of at most [`LIMIT`] levels.
///
/// # Errors
/// [`ReadError`] if the text is deeper, or is not JSON of the expected shape.
pub fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, ReadError> {
    let depth = depth(text);
    if depth > LIMIT {
        return Err(ReadError::TooDeep(depth));
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
    fn values_are_counted_by_their_separators() {
        assert_eq!([values(b"1"), values(b"[1,2]"), values(br#"{"a,[":"\\\",{",}"#), values(b"[[],[]]")], [1, 3, 3, 5]);
    }

    #[test]
    fn text_is_read_up_to_the_limit_and_refused_beyond() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read::<Value>(deep(LIMIT).as_bytes()).is_ok());
        assert!(matches!(read::<Value>(deep(200_000).as_bytes()), Err(ReadError::TooDeep(200_000))));
        assert!(read::<Value>(b"[1] 2").is_err());
    }
}
