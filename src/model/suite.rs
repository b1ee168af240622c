//! The names under which tests of the JSON-Schema-Test-Suite are known, so that records tell what they are about.

use super::CaseId;
use super::spec::words;

words! {
    /// A draft whose schemas name it, so that a tool's schema says by which it is meant.
    Draft {
        /// The protocol's own.
        Latest = "2020-12",
        /// The one before, which a schema may name.
        Earlier = "2019-09",
    }
}

words! {
    /// Where a schema and its instances are held against each other.
    Door {
        /// `inputSchema`, and a server that is called.
        Arguments = "arguments",
        /// `outputSchema`, and a server whose tool returns.
        Results = "results",
        /// `outputSchema`, and a client that is handed the result.
        Client = "client",
    }
}

/// The file of the suite that leads elsewhere: what is asked of it is not what fits.
pub const REMOTE: &str = "remote-refs";

/// The test among them that shows that what needs no remote file works.
pub const CONTROL: &str = "local";

/// The tests of one keyword at one door: `json-schema-2020-12/items-arguments`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Imported {
    /// The draft.
    pub draft: Draft,
    /// The keyword: a file of the suite.
    pub keyword: String,
    /// Where it is asked.
    pub door: Door,
}

impl Imported {
    /// The folder of cases that a draft makes.
    pub fn folder(draft: Draft) -> String {
        format!("json-schema-{draft}")
    }

    /// What a case is about, where it is one of these.
    pub fn of(case: &CaseId) -> Option<Self> {
        let draft = case.folder().strip_prefix("json-schema-")?.parse().ok()?;
        let (keyword, door) = case.as_str().rsplit('/').next()?.rsplit_once('-')?;
        Some(Self { draft, keyword: keyword.to_owned(), door: door.parse().ok()? })
    }

    /// The case's name.
    pub fn case(&self) -> CaseId {
        CaseId::new(&Self::folder(self.draft), &format!("{}-{}", self.keyword, self.door))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_tells_what_it_is_about() {
        let imported = Imported { draft: Draft::Latest, keyword: "if-then-else".into(), door: Door::Client };
        assert_eq!(imported.case().as_str(), "json-schema-2020-12/if-then-else-client");
        assert_eq!(Imported::of(&imported.case()), Some(imported));
        for other in ["json-schema-2020-12/items", "json-schema-3/items-client", "sep-2106/text-client"] {
            let (folder, file) = other.split_once('/').expect("two parts");
            assert_eq!(Imported::of(&CaseId::new(folder, file)), None, "{other}");
        }
    }
}
