//! The suite's remote files: what a canary serves to whoever comes.
//!
//! Takes paths that schemas name, gives documents; a path is never more than a name below the suite's own folder.
//! Must not know who comes.

use std::collections::BTreeMap;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::super::source::bytes;
use super::references::{HOST, replaced};
use crate::model::nesting;

/// The most documents that are read, and the most bytes of one.
const MOST_FILES: usize = 256;
const MOST_BYTES: usize = 64 << 10;

/// The folder of remote files, and what was read of it.
pub(super) struct Remotes {
    folder: Utf8PathBuf,
    read: BTreeMap<String, Option<Value>>,
}

impl Remotes {
    pub(super) fn new(folder: Utf8PathBuf) -> Self {
        Self { folder, read: BTreeMap::new() }
    }

    /// The document behind a path, its absolute addresses made relative to it; `None` where there is none to serve.
    pub(super) fn document(&mut self, path: &str) -> Option<Value> {
        if !self.read.contains_key(path) && self.read.len() < MOST_FILES {
            self.read.insert(path.to_owned(), self.read(path));
        }
        self.read.get(path)?.clone()
    }

    fn read(&self, path: &str) -> Option<Value> {
        let is_below = |part: Utf8Component<'_>| matches!(part, Utf8Component::Normal(_));
        let file = self.folder.join(path);
        let is_file = Utf8Path::new(path).components().all(is_below)
            && file.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        let bytes = bytes(&file).ok().filter(|bytes| is_file && bytes.len() <= MOST_BYTES)?;
        let document: Value = nesting::read(&bytes).ok()?;
        let up = "../".repeat(path.matches('/').count());
        let relative = replaced(&document, &mut |_, text| Some(format!("{up}{}", text.strip_prefix(HOST)?).into()));
        (!super::cases::has_places(&relative)).then_some(relative)
    }
}
