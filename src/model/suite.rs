//! The names of cases that were imported from the JSON-Schema-Test-Suite, so that reports can group their results.

use super::CaseId;
use super::spec::words;

words! {
    /// A draft of JSON Schema that a tool's schema can declare.
    Draft {
        /// The default dialect of the protocol.
        Latest = "2020-12",
        /// The previous draft, which a schema can declare.
        Earlier = "2019-09",
    }
}

words! {
    /// The feature of the protocol through which a schema validates an instance.
    Door {
        /// `inputSchema`, validated by the server when a tool is called.
        Arguments = "arguments",
        /// `outputSchema`, validated by the server when its tool returns.
        Results = "results",
        /// `outputSchema`, validated by the client when it receives the result.
        Client = "client",
    }
}

/// The cases with references to remote documents. They check that nothing is fetched, not whether instances are valid.
pub const REMOTE: &str = "remote-refs";

/// The control of these cases, which needs no remote document.
pub const CONTROL: &str = "local";

/// An imported case: one keyword, tested through one door, such as `json-schema-2020-12/items-arguments`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Imported {
    /// The draft.
    pub draft: Draft,
    /// The keyword, which is the name of a file in the suite.
    pub keyword: String,
    /// The door.
    pub door: Door,
}

impl Imported {
    /// Returns the folder of a draft's cases.
    pub fn folder(draft: Draft) -> String {
        format!("json-schema-{draft}")
    }

    /// Parses the id of a case; `None` if the case was not imported.
    pub fn of(case: &CaseId) -> Option<Self> {
        let draft = case.folder().strip_prefix("json-schema-")?.parse().ok()?;
        let (keyword, door) = case.as_str().rsplit('/').next()?.rsplit_once('-')?;
        Some(Self { draft, keyword: keyword.to_owned(), door: door.parse().ok()? })
    }

    /// Returns the id of the case.
    pub fn case(&self) -> CaseId {
        CaseId::new(&Self::folder(self.draft), &format!("{}-{}", self.keyword, self.door))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_case_id_round_trips() {
        let imported = Imported { draft: Draft::Latest, keyword: "if-then-else".into(), door: Door::Client };
        assert_eq!(imported.case().as_str(), "json-schema-2020-12/if-then-else-client");
        assert_eq!(Imported::of(&imported.case()), Some(imported));
        for other in ["json-schema-2020-12/items", "json-schema-3/items-client", "sep-2106/text-client"] {
            let (folder, file) = other.split_once('/').expect("two parts");
            assert_eq!(Imported::of(&CaseId::new(folder, file)), None, "{other}");
        }
    }
}
