//! The tests that depend on a control.

use super::case::Test;

/// The scope of a control: the tests that are not asked if it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// All other tests of the file.
    File,
    /// The tests of these names, with all of their rows.
    Tests(Vec<String>),
    /// The other tests of the same row.
    Row,
}

impl Control {
    /// Returns whether a control of this scope, with this row, governs a test of its file. No control governs one of its
    /// own kind.
    pub fn governs(&self, row: Option<&str>, test: &Test) -> bool {
        match (self, &test.control) {
            (_, Some(Self::File)) | (Self::Tests(_), Some(_)) | (Self::Row, Some(Self::Row)) => false,
            (Self::File, _) => true,
            (Self::Tests(names), None) => names.contains(&test.id),
            (Self::Row, _) => row == test.row.as_deref(),
        }
    }
}
