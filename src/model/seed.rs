//! Seeds: documents from which cases were made, paragraph by paragraph.

use super::RequirementId;

/// A document: a proposal, or a pull request.
#[derive(Debug)]
pub struct Seed {
    /// The name, such as `sep-2106`.
    pub id: String,
    /// The title.
    pub title: String,
    /// The page of the specification's site, or a URL.
    pub source: String,
    /// The paragraphs, in the order of the document.
    pub paragraphs: Vec<Paragraph>,
}

/// A paragraph that says something about implementations.
#[derive(Debug)]
pub struct Paragraph {
    /// The name within the seed.
    pub id: String,
    /// A summary.
    pub says: String,
    /// The requirements that the catalogue made of it.
    pub requirements: Vec<RequirementId>,
    /// The tests that ask for it, as prefixes: `FOLDER`, `FOLDER/FILE`, `FOLDER/FILE/TEST` or `FOLDER/FILE/TEST/ROW`.
    pub tests: Vec<String>,
    /// The reason why no test, or only a part of it, is asked for.
    pub reason: Option<String>,
}
