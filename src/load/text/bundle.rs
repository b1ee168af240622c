//! The files that `build.rs` embedded: a list of their paths and lengths, and their bytes in one compressed block.
//!
//! Takes such a list and block, gives each file by its path. The paths are known without decompression, which happens at
//! most once per process. Must not know what the files contain.

use std::io::Read as _;
use std::sync::OnceLock;

use flate2::read::DeflateDecoder;

/// The files of one folder.
pub(in crate::load) struct Bundle {
    /// The paths below the folder, in order, and the length of each file in bytes.
    list: &'static [(&'static str, usize)],
    packed: &'static [u8],
    unpacked: OnceLock<Vec<u8>>,
}

/// The bundle of a folder at the root of the repository.
macro_rules! bundle {
    ($folder:literal) => {
        $crate::load::text::bundle::Bundle::new(
            include!(concat!(env!("OUT_DIR"), "/", $folder, ".rs")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $folder, ".deflate")),
        )
    };
}
pub(in crate::load) use bundle;

impl Bundle {
    /// Used by `bundle!`.
    pub(in crate::load) const fn new(list: &'static [(&'static str, usize)], packed: &'static [u8]) -> Self {
        Self { list, packed, unpacked: OnceLock::new() }
    }

    /// The paths of the files, in order.
    pub(in crate::load) fn paths(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.list.iter().map(|(path, _)| *path)
    }

    /// The paths and bytes of the files, in order.
    pub(in crate::load) fn files(&'static self) -> impl Iterator<Item = (&'static str, &'static [u8])> {
        let mut rest = self.bytes();
        self.list.iter().map(move |(path, length)| {
            let (bytes, after) = rest.split_at(*length);
            rest = after;
            (*path, bytes)
        })
    }

    fn bytes(&'static self) -> &'static [u8] {
        self.unpacked.get_or_init(|| {
            let length = self.list.iter().map(|(_, length)| length).sum();
            let mut bytes = Vec::with_capacity(length);
            DeflateDecoder::new(self.packed).read_to_end(&mut bytes).expect("`build.rs` compressed it");
            assert_eq!(bytes.len(), length, "`build.rs` measured it");
            bytes
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn embedded_cases_are_the_files_of_the_folder() {
        static CASES: Bundle = bundle!("cases");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
        let files: Vec<_> = CASES.files().collect();
        assert!(files.len() > 50, "{}", files.len());
        assert_eq!(files.iter().map(|(path, _)| *path).collect::<Vec<_>>(), CASES.paths().collect::<Vec<_>>());
        for (path, bytes) in files {
            assert!(
                fs::read(folder.join(path)).expect(path) == bytes,
                "{path} differs from the file of the repository"
            );
        }
    }
}
