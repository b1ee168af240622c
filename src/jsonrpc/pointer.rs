//! JSON Pointers.
//!
//! Takes and gives pointers as texts. Must not know what they lead to.

/// Returns the pointer to a member of the object at a pointer.
pub(crate) fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Returns the names and indexes on the way of a pointer.
pub(crate) fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// Returns whether a pointer equals another one, or leads to something below it.
pub(crate) fn is_within(pointer: &str, above: &str) -> bool {
    pointer.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_read_again() {
        let pointer = below(&below("", "a/b"), "~1");
        assert_eq!(pointer, "/a~1b/~01");
        assert_eq!(tokens(&pointer).collect::<Vec<_>>(), ["a/b", "~1"]);
        assert_eq!(tokens("").next(), None);
    }

    #[test]
    fn pointer_is_within_itself_and_those_above() {
        assert!(["", "/a", "/a/b"].iter().all(|above| is_within("/a/b", above)));
        assert!(["/", "/a/", "/a/bc", "/a/b/c", "/b"].iter().all(|other| !is_within("/a/b", other)));
    }
}
