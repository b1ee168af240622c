//! The order of versions: by number, each pre-release before its release.

use semver::{Prerelease, Version};

/// The key by which versions are sorted: the package, then the version as semver orders it, then the text.
///
/// Versions of registries that don't keep to semver are read as if they did: `1.9.0b2` and `v1.9-beta.2` are
/// pre-releases of 1.9.0. A version without a number comes first.
pub fn order(version: &str) -> (&str, Version, &str) {
    let (package, number) = version.rsplit_once(' ').unwrap_or(("", version));
    let number = number.strip_prefix('v').unwrap_or(number);
    let end = number.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(number.len());
    let (release, rest) = number.split_at(end);
    let mut numbers = release.split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    let mut parsed = Version::new(next(), next(), next());
    let rest = rest.split('+').next().unwrap_or_default();
    if !rest.starts_with("post") {
        parsed.pre = Prerelease::new(&identifiers(rest)).unwrap_or_default();
    }
    (package, parsed, version)
}

/// The parts of a pre-release with dots between them, numbers apart from words: `b.2` of `b2`.
fn identifiers(text: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(|one: char| !one.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let digits = part.trim_start_matches(|one: char| one.is_ascii_alphabetic());
        let word = &part[..part.len() - digits.len()];
        parts.extend((!word.is_empty()).then(|| word.to_owned()));
        parts
            .extend((!digits.is_empty()).then(|| digits.parse::<u64>().map_or(digits.to_owned(), |it| it.to_string())));
    }
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pre_releases_come_before_their_release_and_numbers_by_size() {
        let sorted = [
            "sdk 1.9.0",
            "sdk v1.10.0-alpha.2",
            "sdk 1.10.0-alpha.10",
            "sdk 1.10.0b2",
            "sdk 1.10.0b10",
            "sdk 1.10.0-rc.1",
            "sdk 1.10.0",
            "sdk 1.10.0.post1",
            "sdk 1.10.1.dev3",
            "sdk 1.10.1",
            "sdk 2.0.0-M1",
            "sdk 2",
        ];
        let mut versions = sorted;
        versions.reverse();
        versions.sort_by_key(|version| order(version));
        assert_eq!(versions, sorted);
    }
}
