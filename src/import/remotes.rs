//! The remote documents of the suite, which canaries serve.
//!
//! The module takes paths that schemas contain and returns documents. A path can never leave the suite's folder. The
//! module must not know who requests a document.

use std::collections::BTreeMap;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::placeholders;
use super::references::{HOST, replaced};
use crate::file;
use crate::jsonrpc::nesting;

/// The largest number of documents that are read.
const MOST_FILES: usize = 256;
const MOST_BYTES: usize = 64 << 10;

/// The name of the suite's folder of remote documents.
const FOLDER: &str = "remotes";

/// The remote documents of a suite, with a cache.
pub(super) struct Remotes {
    /// The folder of the suite.
    suite: Utf8PathBuf,
    read: BTreeMap<String, Option<Value>>,
}

impl Remotes {
    pub(super) fn new(suite: Utf8PathBuf) -> Self {
        Self { suite, read: BTreeMap::new() }
    }

    /// Returns the document at a path, with relative addresses in place of absolute ones, or `None` if none can be
    /// served.
    pub(super) fn document(&mut self, path: &str) -> Option<Value> {
        if !self.read.contains_key(path) && self.read.len() < MOST_FILES {
            self.read.insert(path.to_owned(), self.read(path));
        }
        self.read.get(path)?.clone()
    }

    fn read(&self, path: &str) -> Option<Value> {
        // The folder itself also comes from someone else and may be a link.
        let file = below(&self.suite, &Utf8Path::new(FOLDER).join(path))?;
        let bytes = file::read(&file, MOST_BYTES).ok()?;
        let document: Value = nesting::read(&bytes).ok()?;
        let up = "../".repeat(path.matches('/').count());
        let relative = replaced(&document, &mut |_, text| Some(format!("{up}{}", text.strip_prefix(HOST)?).into()));
        (!placeholders::has_places(&relative)).then_some(relative)
    }
}

/// Returns the file or folder at a path strictly below a folder, or `None` if a component is a link or does not exist.
pub(super) fn below(folder: &Utf8Path, path: &Utf8Path) -> Option<Utf8PathBuf> {
    path.components().try_fold(folder.to_owned(), |folder, part| {
        let Utf8Component::Normal(name) = part else { return None };
        let inner = folder.join(name);
        inner.symlink_metadata().is_ok_and(|metadata| !metadata.is_symlink()).then_some(inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_outside_the_folder_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = Utf8Path::from_path(folder.path()).expect("UTF-8");
        std::fs::create_dir(folder.join("draft")).expect("a folder");
        std::fs::write(folder.join("draft/word.json"), "{}").expect("a file");
        #[cfg(unix)]
        std::os::unix::fs::symlink("/", folder.join("draft/root")).expect("a link");
        assert_eq!(below(folder, Utf8Path::new("draft/word.json")), Some(folder.join("draft/word.json")));
        let absolute = folder.join("draft/word.json");
        for path in [absolute.as_str(), "../x", "draft/../draft/word.json", "draft/root/etc/passwd", "draft/none.json"]
        {
            assert_eq!(below(folder, Utf8Path::new(path)), None, "{path}");
        }
    }
}
