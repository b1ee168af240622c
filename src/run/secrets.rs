//! Masks the secrets of a target and of the environment in texts.
//!
//! Takes a target and the environment of this process, gives texts with `[NAME]` in place of the value of a variable.
//! Must not know records. Used only after judging, because a name in place of a number is not JSON.

use std::borrow::Cow;
use std::cmp::Reverse;

use base64::engine::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::model::target::{Fixed, Target, TargetKind};

/// The length of the shortest value that is masked, in bytes. Shorter values occur in any text.
const SHORTEST: usize = 8;
/// The variable that names further secret variables, separated by commas or spaces; `-NAME` is not a secret.
const NAMED: &str = "CASEBOOK_SECRETS";
/// The parts of names that mark a secret.
const PARTS: &str = "AUTH AUTHORIZATION BEARER COOKIE COOKIES CRED CREDENTIAL CREDENTIALS CREDS DSN JWT KEY KEYS OAUTH OTP \
                     PASS PASSPHRASE PASSWD PAT PSK SAS SESSIONID SIG SIGNATURE WEBHOOK WEBHOOKS";
/// The endings of parts of names that mark a secret: `PGPASSWORD`.
const ENDINGS: &str = "TOKEN TOKENS SECRET SECRETS PASSWORD PASSWORDS APIKEY ACCESSKEY ACCOUNTKEY PRIVATEKEY SSHPASS";
/// The last parts of names whose values lead to a secret and are none.
const PLACES: [&str; 5] = ["DIR", "ENV", "FILE", "PATH", "SOCK"];

/// The most backslashes in a row that are read at once: those of fifteen in a value, in JSON within JSON.
const BACKSLASHES: usize = 63;

/// A text to mask.
#[derive(Debug)]
struct Pattern {
    text: String,
    /// The replacement.
    name: String,
}

/// The secret values of one target, by their first byte.
#[derive(Debug, Default)]
pub struct Secrets(Vec<Vec<Pattern>>);

impl Secrets {
    /// Returns the secrets of a target: the variables that its file sets, the values of its headers, the secrets in the words
    /// of a server's command and in its URL, and the inherited variables that are named like secrets.
    pub fn of(target: &Target) -> Self {
        let mut set: Vec<_> = target.env.clone().into_iter().collect();
        let mut names = target.secrets.clone();
        match &target.drives {
            TargetKind::Fixed(Fixed::Running(endpoint)) => {
                names.extend(endpoint.headers.iter().map(|header| header.variable.clone()));
                set.extend(in_words(&[&endpoint.url]));
            }
            TargetKind::Fixed(Fixed::Server(command)) => {
                set.extend(in_words(&command.iter().map(String::as_str).collect::<Vec<_>>()));
            }
            TargetKind::Fixed(Fixed::Client(_)) | TargetKind::Adapter(_) | TargetKind::Pair(_) => {}
        }
        let typed = std::env::var(NAMED).unwrap_or_default();
        names.extend(typed.split([',', ' ']).map(str::to_owned));
        let inherited = std::env::vars_os();
        Self::among(set, inherited.map(|(name, value)| (lossy(&name), lossy(&value))), &names)
    }

    /// Returns the secrets among these variables: those that are `set`, and the inherited ones that are named like secrets
    /// or listed in `names`. A name with `-` before it is not a secret.
    fn among(
        set: Vec<(String, String)>,
        inherited: impl IntoIterator<Item = (String, String)>,
        names: &[String],
    ) -> Self {
        let is_excluded = |name: &String| names.iter().any(|one| one.strip_prefix('-') == Some(name));
        let is_named = |name: &String| names.contains(name) || is_secret(name);
        let set = set.into_iter().map(|(name, value)| (is_named(&name), name, value));
        let inherited = inherited.into_iter().filter(|(name, _)| is_named(name));
        let all = set.chain(inherited.map(|(name, value)| (true, name, value)));
        let mut patterns: Vec<Vec<Pattern>> = Vec::new();
        for (is_named, name, value) in all.filter(|(_, name, _)| !is_excluded(name)) {
            // The word after `Bearer` is a secret of its own.
            let mut values = vec![value.trim(), value.split_whitespace().next_back().unwrap_or_default()];
            values.dedup();
            for value in values.into_iter().filter(|value| value.len() >= SHORTEST && (is_named || !is_word(value))) {
                for text in [value.to_owned()].into_iter().chain(in_base64(value.as_bytes())) {
                    patterns.resize_with(256, Vec::new);
                    patterns[usize::from(text.as_bytes()[0])].push(Pattern { text, name: format!("[{name}]") });
                }
            }
        }
        Self(patterns)
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text without the secrets.
    pub fn out_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.out_of_first(text, text.len())
    }

    /// Returns the first bytes of a text without the secrets. A secret that is cut at the end is masked too.
    pub(super) fn out_of_first<'t>(&self, text: &'t str, most: usize) -> Cow<'t, str> {
        let most = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (mut out, mut kept, mut at) = (String::new(), 0, 0);
        while at < most {
            let (rest, first) = (&text[at..], usize::from(text.as_bytes()[at]));
            // An escape can stand for any character.
            let all = if first == usize::from(b'\\') { self.0.get(..) } else { self.0.get(first..=first) };
            let all = all.unwrap_or_default().iter().flatten();
            let found = all.filter_map(|pattern| Some((length(rest, &pattern.text)?, pattern)));
            // A whole value comes before the beginning of a longer one.
            let best = found.max_by_key(|(length, pattern)| (*length, Reverse(pattern.text.len())));
            if let Some((length, Pattern { name, .. })) = best {
                out += &text[kept..at];
                out += name;
                at += length;
                kept = at;
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        if kept == 0 { Cow::Borrowed(&text[..most]) } else { Cow::Owned(out + &text[kept.min(most)..most]) }
    }
}

/// Returns the length of a value at the beginning of a text, in which each character may be escaped as in JSON, also in JSON
/// within JSON. The beginning of the value is enough where the text is cut.
fn length(text: &str, value: &str) -> Option<usize> {
    let (mut rest, mut before) = (text, ' ');
    for (at, one) in value.char_indices() {
        // All backslashes in a row are read at once.
        if (before, one) != ('\\', '\\') {
            match after(rest, one, before == '\\') {
                Some(next) => rest = next,
                None if at >= SHORTEST && (rest.is_empty() || rest.starts_with(['…', '\n'])) => break,
                None => return None,
            }
        }
        before = one;
    }
    Some(text.len() - rest.len())
}

/// Returns the text after its first character, if that is this one, possibly escaped. The backslashes of the escape may be
/// read already.
fn after(text: &str, one: char, is_escaped: bool) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(one).filter(|_| one != '\\') {
        return Some(rest);
    }
    let backslashes = text.bytes().take(BACKSLASHES).take_while(|byte| *byte == b'\\').count();
    let mut rest = &text[backslashes..];
    if backslashes == 0 && !is_escaped {
        return None;
    }
    let letter = match one {
        '\\' => return Some(rest),
        '\n' => 'n',
        '\t' => 't',
        '\r' => 'r',
        one => one,
    };
    // `\u` begins a code unit, so that letters are not escaped by themselves.
    if let Some(rest) = rest.strip_prefix(letter).filter(|_| !one.is_alphanumeric()) {
        return Some(rest);
    }
    for unit in one.encode_utf16(&mut [0; 2]) {
        let (digits, next) = rest.trim_start_matches('\\').strip_prefix('u')?.split_at_checked(4)?;
        rest = next;
        (u16::from_str_radix(digits, 16) == Ok(*unit)).then_some(())?;
    }
    Some(rest)
}

/// Returns the part that all base64 texts with a value have in common, for each number of bytes before the value.
fn in_base64(value: &[u8]) -> impl Iterator<Item = String> {
    (0..3).flat_map(move |lead| {
        let bytes = [&[0; 2][..lead], value].concat();
        let (start, end) = ((lead * 8).div_ceil(6), bytes.len() * 8 / 6);
        let common = |text: String| text[start..end].to_owned();
        let (standard, url_safe) = (common(STANDARD_NO_PAD.encode(&bytes)), common(URL_SAFE_NO_PAD.encode(&bytes)));
        let is_other = url_safe != standard;
        std::iter::once(standard).chain(is_other.then_some(url_safe))
    })
}

/// Returns the values in the words of a command that stand after the name of a secret: `--token VALUE`, `TOKEN=VALUE`,
/// `X-Api-Key: VALUE`, `https://host/?token=VALUE`.
fn in_words(words: &[&str]) -> Vec<(String, String)> {
    let is_value = |value: &str| !value.starts_with(['-', '/', '.', '~']);
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let option = word.strip_prefix('-').map(|option| option.trim_start_matches('-'));
        let next = words.get(place + 1).filter(|next| is_value(next));
        found.extend(option.filter(|name| is_secret(name)).zip(next).map(|(name, value)| (name, *value)));
        let is_url = word.contains("://");
        for (at, _) in word.match_indices(['=', ':']) {
            let name = word[..at].rsplit(['=', ':', '?', '&', ';', '/', ',']).next().unwrap_or_default();
            let (name, value) = (name.trim_start_matches('-'), word[at + 1..].trim());
            let end = if is_url { value.find(['&', '#']) } else { None };
            let value = &value[..end.unwrap_or(value.len())];
            found.extend((is_secret(name) && is_value(value)).then_some((name, value)));
        }
        let user = word.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next()?.rsplit_once('@'));
        found.extend(user.and_then(|(user, _)| user.split_once(':')).map(|(_, password)| ("password", password)));
    }
    let mut found: Vec<_> = found.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    // A whole command line, such as the one after `sh -c`.
    for word in words.iter().filter(|word| word.contains(char::is_whitespace)) {
        let parts: Vec<_> = word.split_whitespace().map(|part| part.trim_matches(['"', '\''])).collect();
        found.extend(in_words(&parts));
    }
    found
}

/// Returns whether a variable, a header, an option or a parameter of this name is a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts: Vec<_> = name.split(['_', '-', '.', ' ']).filter(|part| !part.is_empty()).collect();
    let has = |part: &&str| {
        let ends = ENDINGS.split(' ').any(|ending| part.ends_with(ending)) || part.len() > 2 && part.ends_with("PW");
        // `PWD` alone is a folder.
        PARTS.split(' ').any(|one| one == *part) || ends || ["PWD", "PW"].contains(part) && parts.len() > 1
    };
    let is_place = parts.last().is_some_and(|last| PLACES.contains(last)) || parts.first() == Some(&"NO");
    let is_named = parts.iter().any(has) || parts.windows(2).any(|two| two == ["SESSION", "ID"]) || name == "CODE";
    is_named && !is_place
}

/// Returns whether a value consists of words only, such as `tool-error`.
fn is_word(value: &str) -> bool {
    value.chars().all(|one| one.is_alphabetic() || "-_. ".contains(one))
}

fn lossy(text: &std::ffi::OsStr) -> String {
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
pub(super) mod tests;
