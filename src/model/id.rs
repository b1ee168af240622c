//! Identifiers, and the one text form that each has everywhere: filters, known failures, snapshots, links.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::spec::{Revision, Transport};

/// A case file: `sep-2106/external-ref`, its folder and its name without `.json`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CaseId(String);

impl CaseId {
    /// Joins a folder and a file's stem.
    pub fn new(folder: &str, file: &str) -> Self {
        Self(format!("{folder}/{file}"))
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder: a SEP, or a part of the specification.
    pub fn folder(&self) -> &str {
        self.0.split_once('/').map_or("", |(folder, _)| folder)
    }

    /// The file's stem.
    pub fn file(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(_, file)| file)
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A requirement of the catalogue: `sep-2106/no-network-deref`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequirementId(String);

impl RequirementId {
    /// Reads an id as a case writes it: without a slash it is of the same folder.
    pub fn within(folder: &str, written: &str) -> Self {
        if written.contains('/') { Self(written.to_owned()) } else { Self(format!("{folder}/{written}")) }
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder that holds it.
    pub fn folder(&self) -> &str {
        self.0.split_once('/').map_or("", |(folder, _)| folder)
    }
}

impl fmt::Display for RequirementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A system under test: `some-sdk`, or one of its variants, `some-sdk:low`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId {
    /// The name of the target's folder.
    pub name: String,
    /// The variant; `None` where the target has only one.
    pub variant: Option<String>,
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.variant.iter().try_for_each(|variant| write!(f, ":{variant}"))
    }
}

impl FromStr for TargetId {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.split_once(':') {
            Some((name, variant)) => Self { name: name.to_owned(), variant: Some(variant.to_owned()) },
            None => Self { name: text.to_owned(), variant: None },
        })
    }
}

impl Serialize for TargetId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TargetId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Ok(id) = String::deserialize(deserializer)?.parse();
        Ok(id)
    }
}

/// One run of one test: `sep-2106/external-ref/number/http@2026-07-28+stdio`,
/// that is folder / file / test / row @ revision + transport. The row is missing where a file has none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestId {
    /// The case file.
    pub case: CaseId,
    /// The test in it.
    pub test: String,
    /// The row, where the file has rows.
    pub row: Option<String>,
    /// The revision of the specification that is spoken.
    pub revision: Revision,
    /// What carries the messages.
    pub transport: Transport,
}

impl TestId {
    /// The part before the `@`: what is asked, without how.
    pub fn path(&self) -> String {
        match &self.row {
            Some(row) => format!("{}/{}/{row}", self.case, self.test),
            None => format!("{}/{}", self.case, self.test),
        }
    }

    /// The part behind the `@`: how it is asked, `REVISION+TRANSPORT`.
    pub fn how(&self) -> String {
        format!("{}+{}", self.revision, self.transport)
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row.as_ref().map(|row| ["/", row]).unwrap_or_default();
        let how = ["@", self.revision.name(), "+", self.transport.word()];
        [&self.case.0, "/", &self.test].into_iter().chain(row).chain(how).try_for_each(|part| f.write_str(part))
    }
}

impl FromStr for TestId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || format!("`{text}` is no test id; one looks like folder/file/test/row@2026-07-28+http");
        let (path, how) = text.split_once('@').ok_or_else(bad)?;
        let (revision, transport) = how.split_once('+').ok_or_else(bad)?;
        let parts: Vec<&str> = path.split('/').collect();
        let (folder, file, test, row) = match parts.as_slice() {
            [folder, file, test] => (folder, file, test, None),
            [folder, file, test, row] => (folder, file, test, Some((*row).to_owned())),
            _ => return Err(bad()),
        };
        Ok(Self {
            case: CaseId::new(folder, file),
            test: (*test).to_owned(),
            row,
            revision: revision.parse().map_err(|_| bad())?,
            transport: transport.parse().map_err(|_| bad())?,
        })
    }
}

impl Serialize for TestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// How many bytes a pattern may have; what is compiled of these stays small.
const LONGEST: usize = 1 << 12;
/// How many characters of one that can't be used are told.
const SHOWN: usize = 200;

/// A glob over test ids: `*` stands for one component, `**` for many. Without an `@` it means every revision and
/// transport, without a `+` every transport; a pattern that names a folder, file or test means all below it.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    /// How each path begins that it means.
    prefix: String,
    path: [Matcher; 2],
    how: Option<Matcher>,
}

/// A glob that is compiled when it is first asked: a target lists many, and most runs ask few of them.
#[derive(Clone, Debug)]
struct Matcher {
    glob: Glob,
    compiled: OnceLock<GlobMatcher>,
}

impl Matcher {
    fn new(glob: &str) -> Result<Self, globset::Error> {
        let glob = GlobBuilder::new(glob).literal_separator(true).build()?;
        Ok(Self { glob, compiled: OnceLock::new() })
    }

    fn is_match(&self, text: &str) -> bool {
        self.compiled.get_or_init(|| self.glob.compile_matcher()).is_match(text)
    }
}

/// Why a pattern can't be used.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{pattern}` is no pattern: {reason}; `*` stands for one part of a test's name, `**` for many")]
pub struct PatternError {
    /// What was written.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Pattern {
    /// What was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it means this test.
    pub fn matches(&self, id: &TestId) -> bool {
        // Most of thousands of tests differ in the file already, and a glob takes its time.
        self.may_mean(&id.case)
            && self.how.as_ref().is_none_or(|glob| glob.is_match(&id.how()))
            && self.matches_path(&id.path())
    }

    /// Whether it may mean a test of this case file, as far as the beginnings of their names tell.
    pub fn may_mean(&self, case: &CaseId) -> bool {
        let case = case.as_str();
        case.starts_with(&self.prefix) || self.prefix.starts_with(case)
    }

    /// Whether it means the test with this path (the part of an id before the `@`).
    pub fn matches_path(&self, path: &str) -> bool {
        self.path.iter().any(|glob| glob.is_match(path))
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |reason: String| PatternError { pattern: text.chars().take(SHOWN).collect(), reason };
        if text.len() > LONGEST {
            return Err(refuse(format!("it has {} bytes, and {LONGEST} are enough", text.len())));
        }
        let (path, how) = text.split_once('@').map_or((text, None), |(path, how)| (path, Some(how)));
        let glob = |pattern: &str| Matcher::new(pattern).map_err(|error| refuse(error.kind().to_string()));
        let path = path.trim_end_matches('/');
        let path = if path.is_empty() { "**" } else { path };
        let how = how.map(|how| if how.contains('+') { how.to_owned() } else { format!("{how}+*") });
        Ok(Self {
            text: text.to_owned(),
            prefix: path.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default().to_owned(),
            path: [glob(path)?, glob(&format!("{path}/**"))?],
            how: how.map(|how| glob(&how)).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TestId {
        text.parse().expect("a test id")
    }

    #[test]
    fn a_test_id_reads_back_as_it_prints() {
        for text in ["sep-2106/bounds/large/depth-61@2026-07-28+stdio", "tools/errors/unknown@2025-06-18+http"] {
            assert_eq!(id(text).to_string(), text);
        }
        assert!("sep-2106/bounds".parse::<TestId>().is_err());
    }

    #[test]
    fn a_pattern_means_what_stands_below_it_on_every_revision() {
        let test = id("sep-2106/bounds/large/depth-61@2026-07-28+stdio");
        let matches = |pattern: &str| pattern.parse::<Pattern>().expect("a pattern").matches(&test);
        for pattern in [
            "sep-2106",
            "sep-2106/bounds",
            "**/depth-*",
            "sep-2106/*/large/*@2026-07-28",
            "@*+stdio",
            "**@2026-07-28+stdio",
        ] {
            assert!(matches(pattern), "{pattern}");
        }
        for pattern in ["sep-210", "bounds", "sep-2106/*/depth-61", "sep-2106@2025-11-25", "**@*+http"] {
            assert!(!matches(pattern), "{pattern}");
        }
        let may_mean = |pattern: &str| pattern.parse::<Pattern>().expect("a pattern").may_mean(&test.case);
        for (pattern, may) in
            [("**/depth-*", true), ("sep-2106/b*", true), ("sep-2106/bounds/small", true), ("tools", false)]
        {
            assert_eq!(may_mean(pattern), may, "{pattern}");
        }
        assert!("sep-[".parse::<Pattern>().is_err());
        let (enough, more) = ("{a,b}".repeat(819), "?".repeat(LONGEST + 1));
        assert!(!matches(&enough));
        assert!(more.parse::<Pattern>().expect_err("too long").to_string().contains("it has 4097 bytes"));
    }
}
