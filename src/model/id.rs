//! Identifiers, and the one text form that each has everywhere: filters, known failures, snapshots, links.

use std::fmt;
use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::spec::{Revision, Transport};
use super::untrusted::{Untrusted, is_hidden};

/// Returns whether a text can be a part of an id: small letters and digits, with single `-` between them, at most 60.
pub fn is_id(text: &str) -> bool {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.len() <= 60 && text.split('-').all(word)
}

/// Returns whether a text has so many parts, each of which can be one.
fn has_parts(text: &str, wanted: usize) -> bool {
    text.split('/').count() == wanted && text.split('/').all(is_id)
}

/// Reads an id out of a file that somebody else may have written; `is_good` holds it to its grammar.
fn checked<'de, D: Deserializer<'de>>(
    deserializer: D,
    what: &str,
    is_good: impl Fn(&str) -> bool,
) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_good(&text) { Ok(text) } else { Err(D::Error::custom(no_id(&text, what))) }
}

fn no_id(text: &str, what: &str) -> String {
    format!("`{}` is no {what}", Untrusted(text).line(SHOWN))
}

/// A case file: `sep-2106/external-ref`, its folder and its name without `.json`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CaseId(String);

impl<'de> Deserialize<'de> for CaseId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        checked(deserializer, "case id; one looks like folder/file", |id| has_parts(id, 2)).map(Self)
    }
}

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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RequirementId(String);

impl<'de> Deserialize<'de> for RequirementId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        checked(deserializer, "requirement id; one looks like folder/name", |id| has_parts(id, 2)).map(Self)
    }
}

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
        let Ok(id) = checked(deserializer, "name of a target", is_target_name)?.parse();
        Ok(id)
    }
}

/// The longest name of a target in bytes, its variant included.
pub const LONGEST_TARGET_NAME: usize = 400;

/// Returns whether a text can be the name of a target: that of a folder, without hidden characters.
pub fn is_target_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_TARGET_NAME && !text.chars().any(is_hidden)
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
        let bad = || no_id(text, "test id; one looks like folder/file/test/row@2026-07-28+http");
        let (path, how) = text.split_once('@').ok_or_else(bad)?;
        let (revision, transport) = how.split_once('+').ok_or_else(bad)?;
        let parts: Vec<&str> = path.split('/').collect();
        if !parts.iter().all(|part| is_id(part)) {
            return Err(bad());
        }
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
/// How many braces may be within one another.
const DEEPEST: usize = 16;
/// How many characters of one that can't be used are told.
const SHOWN: usize = 200;

/// A glob over test ids: `*` stands for one component, `**` for many. Without an `@` it means every revision and
/// transport, without a `+` every transport; a pattern that names a folder, file or test means all below it.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    /// How each path begins that it means.
    prefix: String,
    path: [GlobMatcher; 2],
    how: Option<GlobMatcher>,
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
            && self.how.as_ref().is_none_or(|glob| glob.is_match(id.how()))
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
        let mut open = 0_usize;
        for byte in text.bytes() {
            open = if byte == b'}' { open.saturating_sub(1) } else { open + usize::from(byte == b'{') };
            if open > DEEPEST {
                return Err(refuse(format!("it has braces in more than {DEEPEST} others")));
            }
        }
        let (path, how) = text.split_once('@').map_or((text, None), |(path, how)| (path, Some(how)));
        let glob = |pattern: &str| {
            let glob = GlobBuilder::new(pattern).literal_separator(true).build();
            glob.map(|glob| glob.compile_matcher()).map_err(|error| refuse(error.kind().to_string()))
        };
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
    fn ids_that_break_their_grammar_are_refused_when_read() {
        fn read<T: serde::de::DeserializeOwned>(id: &str) -> Result<T, String> {
            serde_json::from_value(id.into()).map_err(|error| error.to_string())
        }
        for part in ["\u{1b}]52;c;YQ==\u{7}", "a\nb", "A", "a_b", "-a", "", "::error::", "a\u{202e}", &"a".repeat(61)] {
            let wrong = [
                read::<CaseId>(&format!("a/{part}")).map(drop),
                read::<RequirementId>(&format!("{part}/a")).map(drop),
                read::<TestId>(&format!("a/b/{part}@2026-07-28+http")).map(drop),
                read::<TestId>(&format!("a/b/c/{part}@2026-07-28+http")).map(drop),
            ];
            for error in wrong {
                let error = error.expect_err(part);
                assert!(error.contains(" is no ") && !error.chars().any(is_hidden), "{error}");
            }
        }
        for name in ["\u{1b}[2J", "a\u{202e}", "a\n::error::", "", &"a".repeat(401)] {
            let error = read::<TargetId>(name).expect_err(name);
            assert!(error.contains("is no name of a target") && !error.chars().any(is_hidden), "{error}");
        }
        assert!(read::<TargetId>("My SDK (1.0):low").is_ok() && read::<CaseId>("sep-1/a-b").is_ok());
        assert!(read::<CaseId>("a").is_err() && read::<RequirementId>("a/b/c").is_err());
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
        let nested = |levels| format!("{}b{}", "{a,".repeat(levels), "}".repeat(levels));
        assert!(!matches(&nested(DEEPEST)));
        assert!(nested(DEEPEST + 1).parse::<Pattern>().expect_err("too deep").to_string().contains("more than 16"));
        assert!(more.parse::<Pattern>().expect_err("too long").to_string().contains("it has 4097 bytes"));
    }
}
