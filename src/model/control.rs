//! The tests that depend on a control.

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
