//! How deep a JSON text is nested, read off its brackets without building anything.
//!
//! Everything that comes from outside passes here before it becomes a tree: dropping a tree of 200,000 levels
//! overflows the stack, and no limit of a parser helps once the tree exists.

use serde::de::DeserializeOwned;

/// Levels that we make trees of. Beyond, a text stays text.
pub const LIMIT: usize = 512;
/// Values that a message may have: a tree takes up to a hundred times the memory of its text.
pub const VALUES: usize = 400_000;

/// Why a text didn't become a value.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is nested deeper than [`LIMIT`].
    #[error("nested {0} levels deep, more than {LIMIT}")]
    TooDeep(usize),
    /// It is no JSON, or not of the wanted shape.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The greatest number of open brackets at any place outside strings; 0 for a scalar.
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

/// How many values a text has, at most: scalars, lists, objects and their members, counted by what parts them.
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

/// Reads a text of at most [`LIMIT`] levels.
///
/// # Errors
/// [`ReadError`] where it is deeper, or no JSON of that shape.
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
    fn values_are_counted_by_what_parts_them() {
        assert_eq!([values(b"1"), values(b"[1,2]"), values(br#"{"a,[":"\\\",{",}"#), values(b"[[],[]]")], [1, 3, 3, 5]);
    }

    #[test]
    fn what_the_default_limit_gives_up_on_is_read_and_the_absurd_is_refused() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read::<Value>(deep(LIMIT).as_bytes()).is_ok());
        assert!(matches!(read::<Value>(deep(200_000).as_bytes()), Err(ReadError::TooDeep(200_000))));
        assert!(read::<Value>(b"[1] 2").is_err());
    }
}
