//! Finds the secrets in the words of a command and in a URL.
//!
//! Takes words, gives names and values. A word is a secret by its own form, by the name before its `=` or `:`, or by the
//! option before it. Must not know targets or environment variables.

use super::{inner, is_location, is_secret, is_token};

/// The name of a secret that has none.
const UNNAMED: &str = "SECRET";
/// The name of a secret in a URL.
const URL: &str = "URL";
/// The number of names in front of a value within each other that are read.
const LEVELS: usize = 3;
/// The ends of names whose values lead to a secret and are none.
const PLACES: [&str; 4] = ["DIR", "ENV", "FILE", "PATH"];

/// Returns the secrets in the words of a command.
pub(super) fn of_command(words: &[String]) -> Vec<(String, String)> {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    of_words(&words)
}

/// Returns the secrets in a URL.
pub(super) fn of_url(url: &str) -> Vec<(String, String)> {
    let parts = url.split(['/', '?', '&', '=', '#']).filter(|part| is_token(part));
    inner(url).into_iter().chain(parts).map(|part| (URL.to_owned(), part.to_owned())).collect()
}

fn of_words(words: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        of_word(word, LEVELS, &mut found);
        let option = word.strip_prefix('-').map(|option| option.trim_start_matches('-'));
        let value = words.get(place + 1).filter(|value| !value.starts_with('-'));
        if let (Some(option), Some(value)) = (option.filter(|option| names_secret(option)), value) {
            add(option, value, &mut found);
        }
    }
    found
}

fn of_word(word: &str, levels: usize, found: &mut Vec<(String, String)>) {
    if is_token(word.trim()) {
        add(UNNAMED, word, found);
        return;
    }
    let pair = ['=', ':'].iter().filter_map(|between| word.split_once(*between)).min_by_key(|(name, _)| name.len());
    match pair.map(|(name, value)| (name.trim_start_matches('-'), value.trim())) {
        Some((name, value)) if names_secret(name) => add(name, value, found),
        // `--env=NAME=VALUE` and `--header=NAME: VALUE`.
        Some((name, value)) if is_name(name) && levels > 0 => of_word(value, levels - 1, found),
        _ => {}
    }
    let name = if word.contains("://") { URL } else { UNNAMED };
    for part in inner(word) {
        if found.iter().all(|(_, value)| value != part) {
            add(name, part, found);
        }
    }
    // A whole command line, such as the one after `sh -c`.
    let parts: Vec<_> = word.split_whitespace().map(|part| part.trim_matches(['"', '\''])).collect();
    if parts.len() > 1 {
        found.extend(of_words(&parts));
    }
}

fn add(name: &str, value: &str, found: &mut Vec<(String, String)>) {
    let is_path = is_location(value) && !value.contains("://");
    if !is_path {
        found.push((name.to_owned(), value.to_owned()));
    }
}

/// Returns whether an option or a variable of this name has a secret value.
fn names_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let last = upper.rsplit(['_', '-', '.']).next().unwrap_or_default();
    is_name(name)
        && is_secret(name)
        && !upper.starts_with("NO-")
        && !upper.starts_with("NO_")
        && !PLACES.contains(&last)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || "_-.".contains(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(line: &str) -> Vec<String> {
        let words: Vec<_> = line.split(' ').map(|word| word.replace('~', " ")).collect();
        let mut values: Vec<_> = of_command(&words).into_iter().map(|(_, value)| value).collect();
        values.sort();
        values.dedup();
        values
    }

    #[test]
    fn secrets_in_the_words_of_a_command_are_found() {
        for (line, expected) in [
            ("npx pkg --api-key=abcd1234efgh", "abcd1234efgh"),
            ("npx --token abcd1234efgh pkg", "abcd1234efgh"),
            ("npx pkg ghp_abcdefghijklmnopqrst", "ghp_abcdefghijklmnopqrst"),
            ("env -u X MY_TOKEN=abcd1234,efgh cmd", "abcd1234,efgh"),
            ("docker run -e MY_TOKEN=abcd1234efgh image", "abcd1234efgh"),
            ("docker run --env=MY_TOKEN=abcd1234efgh image", "abcd1234efgh"),
            ("docker run -eMY_TOKEN=abcd1234efgh image", "abcd1234efgh"),
            ("pkg postgres://me:abcd1234efgh@host/db", "abcd1234efgh"),
            ("pkg --url=https://host/?apikey=abcd1234efgh", "abcd1234efgh"),
            ("pkg --header Authorization:~Basic~abcd1234efgh", "Basic abcd1234efgh"),
            ("pkg --header X-Api-Key:abcd1234efgh", "abcd1234efgh"),
            ("sh -c MY_TOKEN='abcd1234efgh'~./server", "abcd1234efgh"),
            ("sh -c ./server~--password~abcd1234efgh", "abcd1234efgh"),
        ] {
            assert!(values(line).iter().any(|value| value == expected), "{line}: {:?}", values(line));
        }
    }

    #[test]
    fn words_that_are_no_secrets_stay() {
        for line in [
            "node server.js --port 8080 --name something",
            "npx -y @scope/server@2026.8.31 stdio",
            "pkg --key-file certificate.pem --key ./server.key --no-auth server.js",
            "pkg --token --verbose-output",
            "docker run -v /home/me:/data mcp/server:latest-version",
            "env -u X PWD=/home/somebody cmd",
            "pkg https://example.com/mcp?version=20261124",
        ] {
            assert_eq!(values(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn each_secret_of_a_url_is_found() {
        let url = "https://host/mcp/ghp_abcdefghijklmnopqrst?api_key=abcd1234efgh&x=1&token=ijkl5678mnop";
        let mut values: Vec<_> = of_url(url).into_iter().map(|(_, value)| value).collect();
        values.sort();
        assert_eq!(values, ["abcd1234efgh", "ghp_abcdefghijklmnopqrst", "ijkl5678mnop"]);
    }
}
