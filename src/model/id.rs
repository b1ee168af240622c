//! Identifiers, each with one text form that is used everywhere: filters, known failures, snapshots and links.

use std::fmt;
use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::spec::{Revision, Transport};
use super::untrusted::{Untrusted, is_hidden};

/// Returns whether a text can be one component of an id: at most 60 lower-case letters and digits, in words joined by a
/// single `-`.
pub fn is_id(text: &str) -> bool {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.len() <= 60 && text.split('-').all(word)
}

/// Returns whether a text has exactly `wanted` components that are all valid.
fn has_parts(text: &str, wanted: usize) -> bool {
    text.split('/').count() == wanted && text.split('/').all(is_id)
}

/// Deserializes an id and checks its grammar with `is_good`, because the file may come from someone else.
fn read_checked<'de, D: Deserializer<'de>>(
    deserializer: D,
    what: &str,
    is_good: impl Fn(&str) -> bool,
) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_good(&text) { Ok(text) } else { Err(D::Error::custom(invalid_id(&text, what))) }
}

fn invalid_id(text: &str, what: &str) -> String {
    format!("`{}` is not a {what}", Untrusted(text).line(SHOWN))
}

/// The id of a case file: its folder and its name without `.json`, such as `sep-2106/external-ref`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CaseId(String);

impl<'de> Deserialize<'de> for CaseId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_checked(deserializer, "case id (expected FOLDER/FILE)", |id| has_parts(id, 2)).map(Self)
    }
}

impl CaseId {
    /// Joins a folder and a file name without its extension.
    pub fn new(folder: &str, file: &str) -> Self {
        Self(format!("{folder}/{file}"))
    }

    /// Returns the whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the folder: a SEP, or a part of the specification.
    pub fn folder(&self) -> &str {
        self.0.split_once('/').map_or("", |(folder, _)| folder)
    }

    /// Returns the file name without its extension.
    pub fn file(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(_, file)| file)
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a requirement in the catalogue, such as `sep-2106/no-network-deref`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RequirementId(String);

impl<'de> Deserialize<'de> for RequirementId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_checked(deserializer, "requirement id (expected FOLDER/NAME)", |id| has_parts(id, 2)).map(Self)
    }
}

impl RequirementId {
    /// Reads an id as written in a case of `folder`: an id without a slash belongs to that folder.
    pub fn within(folder: &str, written: &str) -> Self {
        if written.contains('/') { Self(written.to_owned()) } else { Self(format!("{folder}/{written}")) }
    }

    /// Returns the whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the folder of the requirement.
    pub fn folder(&self) -> &str {
        self.0.split_once('/').map_or("", |(folder, _)| folder)
    }
}

impl fmt::Display for RequirementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a target, such as `some-sdk`, or of one of its variants, such as `some-sdk:low`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId {
    /// The name of the target's folder.
    pub name: String,
    /// The variant; `None` if the target has only one.
    pub variant: Option<String>,
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.variant.iter().try_for_each(|variant| write!(f, ":{variant}"))
    }
}

/// The character between the client and the server in the id of a pair.
const PAIR: char = '+';

impl TargetId {
    /// Returns the id of a pair. It has no variant of its own, because each side can have one.
    pub fn of_pair(client: &Self, server: &Self) -> Self {
        Self { name: format!("{client}{PAIR}{server}"), variant: None }
    }

    /// Returns the ids of the client and the server, if this is the id of a pair.
    pub fn sides(&self) -> Option<(Self, Self)> {
        let (client, server) = self.name.split_once(PAIR)?;
        let Ok(client) = client.parse();
        let Ok(server) = server.parse();
        Some((client, server))
    }
}

impl FromStr for TargetId {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains(PAIR) {
            return Ok(Self { name: text.to_owned(), variant: None });
        }
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
        let Ok(id) = read_checked(deserializer, "target name", is_target_name)?.parse();
        Ok(id)
    }
}

/// The longest name of a target including its variant, in bytes.
pub const LONGEST_TARGET_NAME: usize = 400;

/// Returns whether a text can be the name of a target: the name of a folder, without hidden characters.
pub fn is_target_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_TARGET_NAME && !text.chars().any(is_hidden)
}

/// The id of a test on one revision and transport: `FOLDER/FILE/TEST/ROW@REVISION+TRANSPORT`, such as
/// `sep-2106/external-ref/number/http@2026-07-28+stdio`. If the file has no rows, `/ROW` is absent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestId {
    /// The case file.
    pub case: CaseId,
    /// The name of the test in the case file.
    pub test: String,
    /// The name of the row, if the file has rows.
    pub row: Option<String>,
    /// The revision of the specification.
    pub revision: Revision,
    /// The transport.
    pub transport: Transport,
}

impl TestId {
    /// Returns the part before the `@`, which names the test without revision and transport.
    pub fn path(&self) -> String {
        match &self.row {
            Some(row) => format!("{}/{}/{row}", self.case, self.test),
            None => format!("{}/{}", self.case, self.test),
        }
    }

    /// Returns the part after the `@`: `REVISION+TRANSPORT`.
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
        let bad = || invalid_id(text, "test id (expected FOLDER/FILE/TEST/ROW@2026-07-28+http)");
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

/// The longest pattern, in bytes. The limit keeps compiled patterns small.
const LONGEST: usize = 1 << 12;
/// The deepest nesting of braces.
const DEEPEST: usize = 16;
/// The number of characters of an invalid pattern that an error message shows.
const SHOWN: usize = 200;

/// A glob over test ids: `*` matches one component, `**` any number. A pattern without `@` matches every revision and
/// transport, and one without `+` every transport. A pattern that names a folder, file or test matches everything below
/// it.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    /// The literal prefix of every path that the pattern matches.
    prefix: String,
    path: [GlobMatcher; 2],
    how: Option<GlobMatcher>,
}

/// The error for an invalid pattern.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{pattern}` is not a valid pattern: {reason}; `*` matches one component, `**` any number")]
pub struct PatternError {
    /// The pattern as written.
    pub pattern: String,
    /// A description of the error.
    pub reason: String,
}

impl Pattern {
    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the pattern matches this test.
    pub fn matches(&self, id: &TestId) -> bool {
        // Of thousands of tests, most are in another file, and comparing prefixes is faster than matching a glob.
        self.may_match(&id.case)
            && self.how.as_ref().is_none_or(|glob| glob.is_match(id.how()))
            && self.matches_path(&id.path())
    }

    /// Returns whether the pattern says on which transports it matches: it has a `+` behind its `@`.
    pub fn names_transport(&self) -> bool {
        self.text.split_once('@').is_some_and(|(_, how)| how.contains('+'))
    }

    /// Returns whether the pattern can match a test of this case file, judged by its literal prefix alone.
    pub fn may_match(&self, case: &CaseId) -> bool {
        let case = case.as_str();
        case.starts_with(&self.prefix) || self.prefix.starts_with(case)
    }

    /// Returns whether the pattern is literally this folder or file, or begins with it.
    pub fn is_below(&self, above: &str) -> bool {
        self.text.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
    }

    /// Returns whether the pattern matches the test with this path (the part of an id before the `@`).
    pub fn matches_path(&self, path: &str) -> bool {
        self.path.iter().any(|glob| glob.is_match(path))
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |reason: String| PatternError { pattern: text.chars().take(SHOWN).collect(), reason };
        if text.len() > LONGEST {
            return Err(refuse(format!("it has {} bytes, and the limit is {LONGEST}", text.len())));
        }
        let mut open = 0_usize;
        for byte in text.bytes() {
            open = if byte == b'}' { open.saturating_sub(1) } else { open + usize::from(byte == b'{') };
            if open > DEEPEST {
                return Err(refuse(format!("braces are nested more than {DEEPEST} levels deep")));
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
    fn test_id_round_trips_through_text() {
        for text in ["sep-2106/bounds/large/depth-61@2026-07-28+stdio", "tools/errors/unknown@2025-06-18+http"] {
            assert_eq!(id(text).to_string(), text);
        }
        assert!("sep-2106/bounds".parse::<TestId>().is_err());
    }

    #[test]
    fn id_with_invalid_grammar_is_rejected_on_read() {
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
                assert!(error.contains(" is not a ") && !error.chars().any(is_hidden), "{error}");
            }
        }
        for name in ["\u{1b}[2J", "a\u{202e}", "a\n::error::", "", &"a".repeat(401)] {
            let error = read::<TargetId>(name).expect_err(name);
            assert!(error.contains("is not a target name") && !error.chars().any(is_hidden), "{error}");
        }
        assert!(read::<TargetId>("My SDK (1.0):low").is_ok() && read::<CaseId>("sep-1/a-b").is_ok());
        assert!(read::<CaseId>("a").is_err() && read::<RequirementId>("a/b/c").is_err());
    }

    #[test]
    fn pattern_matches_everything_below_it_on_every_revision() {
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
        let may_match = |pattern: &str| pattern.parse::<Pattern>().expect("a pattern").may_match(&test.case);
        for (pattern, may) in
            [("**/depth-*", true), ("sep-2106/b*", true), ("sep-2106/bounds/small", true), ("tools", false)]
        {
            assert_eq!(may_match(pattern), may, "{pattern}");
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
