//! The releases of an SDK: what its package manager lists, and the ranges of them that people name.
//!
//! Takes a list as JSON, gives releases in the order of their versions. Must not know where the list comes from.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;

use super::version::order;

/// The longest version.
const MOST_VERSION: usize = 64;
/// The number of releases that are kept.
const MOST_RELEASES: usize = 10_000;
/// The time after a release at which users had its dependencies: what was published together with it belongs to it.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// One release of an SDK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Its version, without a leading `v`.
    pub version: String,
    /// The moment when it was published, as in `2026-01-24T10:00:00Z`, where the registry tells it.
    pub date: Option<String>,
}

impl Release {
    /// The day on which it was published.
    pub fn day(&self) -> Option<&str> {
        self.date.as_deref().and_then(|date| date.get(..10))
    }

    /// One day after its publication, as in `2026-01-25T10:00:00Z`.
    pub fn next_day(&self) -> Option<String> {
        let time = humantime::parse_rfc3339(self.date.as_deref()?).ok()?;
        Some(humantime::format_rfc3339_seconds(time.checked_add(DAY)?).to_string())
    }

    /// Whether its version says that it comes before a release.
    pub fn is_pre_release(&self) -> bool {
        !order(&self.version).1.pre.is_empty()
    }
}

/// Returns whether a text can be a version: it begins with a digit, and has no character with another meaning anywhere.
pub fn is_version(text: &str) -> bool {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || ".+-".contains(one);
    text.starts_with(|one: char| one.is_ascii_digit()) && text.len() <= MOST_VERSION && text.chars().all(is_plain)
}

/// Reads the releases from a JSON object of versions with their dates. Other members have other names than versions.
///
/// # Errors
/// The reason why the text is no such object.
pub fn releases(json: &str) -> Result<Vec<Release>, String> {
    let members: serde_json::Map<String, Value> =
        serde_json::from_str(json).map_err(|error| format!("it is no JSON object of versions and dates: {error}"))?;
    let release = |(version, date): (String, Value)| {
        let version = version.strip_prefix('v').unwrap_or(&version).to_owned();
        let date =
            date.as_str().map(|date| date.strip_suffix("+00:00").map_or(date.to_owned(), |date| format!("{date}Z")));
        let date = date.filter(|date| humantime::parse_rfc3339(date).is_ok());
        is_version(&version).then_some(Release { version, date })
    };
    let mut releases: Vec<_> = members.into_iter().filter_map(release).take(MOST_RELEASES).collect();
    releases.sort_by(|one, other| order(&one.version).cmp(&order(&other.version)));
    releases.dedup_by(|one, other| one.version == other.version);
    if releases.is_empty() { Err("it names no version".to_owned()) } else { Ok(releases) }
}

/// Some releases, as people name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Releases {
    /// So many, the newest.
    Newest(usize),
    /// The last of each minor version.
    Minor,
    /// From one version to another, both of them included.
    Range(String, String),
}

impl Releases {
    /// Returns those of a list, which is in the order of versions. A pre-release is among them only where it is named.
    /// Releases outside of `within` are not.
    pub fn of<'l>(&self, list: &'l [Release], within: Option<&Self>) -> Vec<&'l Release> {
        let known = list.iter().filter(|release| within.is_none_or(|within| within.may_have(&release.version)));
        let final_ones = known.clone().filter(|release| !release.is_pre_release());
        match self {
            Self::Newest(number) => {
                let all: Vec<_> = final_ones.collect();
                all[all.len().saturating_sub(*number)..].to_vec()
            }
            Self::Minor => {
                let mut last: Vec<&Release> = Vec::new();
                let minor = |release: &Release| {
                    let version = order(&release.version).1;
                    (version.major, version.minor)
                };
                for release in final_ones {
                    last.pop_if(|one| minor(one) == minor(release));
                    last.push(release);
                }
                last
            }
            Self::Range(from, to) => {
                let is_named = |release: &Release| [from, to].contains(&&release.version);
                known.filter(|one| is_named(one) || self.may_have(&one.version) && !one.is_pre_release()).collect()
            }
        }
    }

    /// Returns whether a version is in a range; a number of releases has no limits.
    pub fn may_have(&self, version: &str) -> bool {
        match self {
            Self::Newest(_) | Self::Minor => true,
            Self::Range(from, to) => order(version).1 >= order(from).1 && reaches(to, version),
        }
    }
}

/// Returns whether a range that ends with a version has another one. `1.30` is the end of all of 1.30, and `1` of all of 1.
fn reaches(end: &str, version: &str) -> bool {
    let is_part = |rest: &str| rest.starts_with('.');
    order(version).1 <= order(end).1 || end.split('.').count() < 3 && version.strip_prefix(end).is_some_and(is_part)
}

impl FromStr for Releases {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let range = text.split_once("..").filter(|(from, to)| is_version(from) && is_version(to));
        match (text, text.parse(), range) {
            ("minor", ..) => Ok(Self::Minor),
            (_, Ok(number @ 1..), _) => Ok(Self::Newest(number)),
            (.., Some((from, to))) if reaches(to, from) => Ok(Self::Range(from.to_owned(), to.to_owned())),
            _ => Err(
                "expected a number of the newest releases, a range as in 1.20..1.30, or minor for the last release \
                      of each minor version"
                    .to_owned(),
            ),
        }
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest(number) => write!(f, "{number}"),
            Self::Minor => write!(f, "minor"),
            Self::Range(from, to) => write!(f, "{from}..{to}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"created":"2024-11-25T10:00:00Z","v1.2.0":"2025-01-03T10:00:00.123Z","1.10.0":null,
        "1.9.0":"2025-05-15T10:00:00+00:00","1.10.1":"yesterday","1.11.0-beta.1":5,"1.11.0":[],"../1":"","1.11.0rc2":""}"#;

    fn list() -> Vec<Release> {
        releases(LIST).expect("an object")
    }

    fn named(text: &str, within: Option<&str>) -> Vec<String> {
        let wanted: Releases = text.parse().expect(text);
        let within = within.map(|within| within.parse().expect(within));
        wanted.of(&list(), within.as_ref()).into_iter().map(|one| one.version.clone()).collect()
    }

    #[test]
    fn list_has_versions_in_their_order_with_dates() {
        let versions: Vec<_> = list().into_iter().map(|one| one.version).collect();
        assert_eq!(versions, ["1.2.0", "1.9.0", "1.10.0", "1.10.1", "1.11.0-beta.1", "1.11.0rc2", "1.11.0"]);
        let dates: Vec<_> = list().iter().map(Release::next_day).collect();
        assert_eq!(dates[..4], [Some("2025-01-04T10:00:00Z".into()), Some("2025-05-16T10:00:00Z".into()), None, None]);
        for broken in ["", "[]", "{}", r#"{"latest":"1"}"#, "npm error"] {
            assert!(releases(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn ranges_leave_out_pre_releases_and_what_is_too_old() {
        assert_eq!(named("2", None), ["1.10.1", "1.11.0"]);
        assert_eq!(named("minor", None), ["1.2.0", "1.9.0", "1.10.1", "1.11.0"]);
        assert_eq!(named("minor", Some("1.10.0..1")), ["1.10.1", "1.11.0"]);
        assert_eq!(named("5", Some("1.9..1.10")), ["1.9.0", "1.10.0", "1.10.1"]);
        assert_eq!(named("1.9..1.10", None), ["1.9.0", "1.10.0", "1.10.1"]);
        assert_eq!(named("1.9.0..1.10.0", None), ["1.9.0", "1.10.0"]);
        assert_eq!(named("1.11.0rc2..1.11.0", None), ["1.11.0rc2", "1.11.0"]);
        for wrong in ["0", "-1", "1.2..", "..1.2", "1.10..1.9", "latest", "1.2", ""] {
            assert!(wrong.parse::<Releases>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_plain_words_that_begin_with_a_digit_are_versions() {
        assert!(["1", "1.2.3", "2.0.0a1", "1.0.0-rc.1+build.5"].iter().all(|text| is_version(text)));
        assert!(["", ".", "main", "../1.2.3", "1/2", "1 2", "1.2.3;rm", "v1.2.3"].iter().all(|text| !is_version(text)));
        assert!(!is_version(&"1".repeat(MOST_VERSION + 1)));
    }
}
