//! The frozen sets that this program was built with: one for each released revision.
//!
//! Takes a name, gives the text of the set. Must not know what is in it.

use crate::load::text::bundle::{Bundle, bundle};

/// The files of `sets/`.
static FILES: Bundle = bundle!("sets");

/// Returns the text of the published set with this name.
pub fn published_set(name: &str) -> Option<&'static str> {
    let is_it = |path: &str| path.strip_suffix(".json") == Some(name);
    FILES.files().find(|(path, _)| is_it(path)).and_then(|(_, bytes)| std::str::from_utf8(bytes).ok())
}

/// Returns the names of the published sets.
pub fn published_sets() -> impl Iterator<Item = &'static str> {
    FILES.paths().filter_map(|path| path.strip_suffix(".json"))
}
