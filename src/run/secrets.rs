//! Removes the secrets of a target and of the environment from texts.
//!
//! Takes a target and the environment of this process, gives texts with `[NAME]` in place of the value of a variable.
//! Must not know records. Used only after judging, because a name in place of a number is not JSON.

mod matcher;
mod words;

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::model::endpoint::HeaderValue;
use crate::model::target::{Fixed, Target, TargetKind};
use matcher::{Matcher, PIECE, Wanted};

/// The length of the shortest secret, in bytes. Shorter values are words such as `error` and `true`, which texts need.
const SHORTEST: usize = PIECE;
/// The variable that names further secret variables, separated by commas or spaces; `-NAME` is not a secret.
const NAMED: &str = "CASEBOOK_SECRETS";
/// The parts of names that mark a variable as a secret.
const NAMES: [&str; 24] = [
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "COOKIES",
    "CRED",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "KEY",
    "KEYS",
    "OAUTH",
    "OTP",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PAT",
    "PSK",
    "SAS",
    "SESSIONID",
    "WEBHOOK",
    "WEBHOOKS",
];
/// The endings of parts of names that mark a variable as a secret: `PGPASSWORD`, `BINDPW`.
const ENDINGS: [&str; 11] = [
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWORDS",
    "APIKEY",
    "ACCESSKEY",
    "ACCOUNTKEY",
    "PRIVATEKEY",
    "SSHPASS",
];
/// The parts of names that mark a secret only beside other parts: `PWD` alone is a folder.
const BESIDE_OTHERS: [&str; 2] = ["PWD", "PW"];
/// The beginnings of values that are secrets under any name: tokens of well-known services, JWTs and private keys.
const TOKENS: [&str; 29] = [
    "-----BEGIN ",
    "AIza",
    "AKIA",
    "ASIA",
    "SG.",
    "dop_v1_",
    "eyJ",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "npm_",
    "pypi-",
    "rk_live_",
    "shpat_",
    "sk-",
    "sk_live_",
    "sk_test_",
    "xapp-",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "ya29.",
];
/// The length of the shortest token and of the shortest random word, in bytes.
const TOKEN: usize = 16;

/// The secret values of one target.
#[derive(Debug, Default)]
pub struct Secrets(Option<Matcher>);

impl Secrets {
    /// Returns the secrets of a target: all variables that its file sets, the secrets in the words of a server's command
    /// and in its URL, and the inherited variables that are secrets by their name or value, or that the user names as
    /// secrets.
    pub fn of(target: &Target) -> Self {
        let mut set: Vec<_> = target.env.clone().into_iter().collect();
        let mut names = target.secrets.clone();
        if let TargetKind::Fixed(Fixed::Running(endpoint)) = &target.drives {
            // The variables of headers, whatever their names are.
            names.extend(endpoint.headers.iter().filter_map(|header| match &header.value {
                HeaderValue::Variable(name) => Some(name.clone()),
                HeaderValue::Given(_) => None,
            }));
            set.extend(endpoint.headers.iter().filter_map(|header| match &header.value {
                HeaderValue::Given(value) if is_secret(&header.name) || has_secret(value) => {
                    Some((header.name.clone(), value.clone()))
                }
                HeaderValue::Given(_) | HeaderValue::Variable(_) => None,
            }));
            set.extend(words::of_url(&endpoint.url));
        }
        if let TargetKind::Fixed(Fixed::Server(command)) = &target.drives {
            set.extend(words::of_command(command));
        }
        Self::among(set, inherited(), &Named::of(&names))
    }

    /// Returns the secrets of the environment of this process.
    pub fn inherited() -> Self {
        Self::among([], inherited(), &Named::of(&[]))
    }

    fn among(
        set: impl IntoIterator<Item = (String, String)>,
        inherited: impl IntoIterator<Item = (String, String)>,
        named: &Named,
    ) -> Self {
        let mut wanted = BTreeSet::new();
        let set = set.into_iter().map(|(name, value)| (name, value, true));
        let inherited = inherited.into_iter().map(|(name, value)| (name, value, false));
        for (name, value, is_set) in set.chain(inherited).filter(|(name, ..)| !named.no.contains(name)) {
            let is_named = named.yes.contains(&name);
            wanted.extend(
                wanted_of(&name, &value, is_set, is_named).into_iter().filter(|one| one.value.len() >= SHORTEST),
            );
        }
        let mut wanted: Vec<_> = wanted.into_iter().collect();
        // Shorter values first, so that a value inside another value is shown with its own name.
        wanted.sort_by_key(|one| one.value.len());
        Self(Matcher::new(&wanted))
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns a text without the secrets.
    pub fn out_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.as_ref().map_or(Cow::Borrowed(text), |matcher| matcher.replaced(text))
    }

    /// Returns the first bytes of a text without the secrets. A secret that is cut at the end is hidden too.
    pub(super) fn out_of_first<'t>(&self, text: &'t str, most: usize) -> Cow<'t, str> {
        match &self.0 {
            Some(matcher) => matcher.replaced_within(text, most),
            None => Cow::Borrowed(&text[..matcher::floor(text, most)]),
        }
    }
}

/// The variables that the user has named.
#[derive(Debug, Default)]
struct Named {
    yes: BTreeSet<String>,
    no: BTreeSet<String>,
}

impl Named {
    /// Returns the variables of a target's file and of [`NAMED`].
    fn of(names: &[String]) -> Self {
        let typed = std::env::var(NAMED).unwrap_or_default();
        let typed = typed.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned);
        Self::among(names.iter().cloned().chain(typed))
    }

    fn among(names: impl IntoIterator<Item = String>) -> Self {
        let mut named = Self::default();
        for name in names {
            match name.strip_prefix('-') {
                Some(name) => named.no.insert(name.to_owned()),
                None => named.yes.insert(name),
            };
        }
        named
    }
}

/// Returns the environment of this process. A value that is not UTF-8 appears twice: with replacement characters, and as
/// Latin-1.
fn inherited() -> impl Iterator<Item = (String, String)> {
    let read = |value: std::ffi::OsString| match value.into_string() {
        Ok(value) => vec![value],
        Err(value) => {
            let latin = value.as_encoded_bytes().iter().copied().map(char::from).collect();
            vec![value.to_string_lossy().into_owned(), latin]
        }
    };
    let named = std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into_owned(), value));
    named.flat_map(move |(name, value)| read(value).into_iter().map(move |value| (name.clone(), value)))
}

/// Returns the parts of a variable that are hidden.
fn wanted_of(name: &str, value: &str, is_set: bool, is_named: bool) -> Vec<Wanted> {
    let wanted = |value: &str, in_part| Wanted { value: value.to_owned(), name: format!("[{name}]"), in_part };
    let is_secret = is_named || is_secret(name) || is_token(value.trim());
    let inner = inner(value);
    if !is_set && !is_secret && inner.is_empty() {
        return Vec::new();
    }
    let mut all: Vec<_> = inner.iter().map(|part| wanted(part, true)).collect();
    if !is_location(value) && (is_secret || is_set && is_random(value.trim())) {
        all.push(wanted(value.trim(), true));
        all.extend((value.trim() != value).then(|| wanted(value, false)));
        return all;
    }
    // Pieces of an address, a path or a setting often appear in unrelated texts, so only the whole value is hidden.
    all.extend([value, value.trim()].into_iter().chain(value.lines().map(str::trim)).map(|one| wanted(one, false)));
    if is_secret {
        let words = value.split(|one: char| !one.is_ascii_alphanumeric());
        all.extend(words.filter(|word| is_random(word)).map(|word| wanted(word, true)));
    }
    all
}

/// Returns whether a variable of this name is a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts: Vec<_> = name.split(['_', '-', '.', ' ']).filter(|part| !part.is_empty()).collect();
    let has = |part: &&str| {
        let ends = ENDINGS.iter().any(|ending| part.ends_with(ending)) || part.len() > 2 && part.ends_with("PW");
        NAMES.contains(part) || ends || BESIDE_OTHERS.contains(part) && parts.len() > 1
    };
    parts.iter().any(has) || parts.windows(2).any(|two| two == ["SESSION", "ID"])
}

/// Returns whether a value is a token, or has one after a word such as `Bearer`.
fn has_secret(value: &str) -> bool {
    is_token(value.trim()) || !inner(value).is_empty()
}

/// Returns the credentials of an `Authorization` header, after the name of their scheme.
fn credentials(value: &str) -> Option<&str> {
    const SCHEMES: [&str; 5] = ["apikey", "basic", "bearer", "digest", "token"];
    let (scheme, rest) = value.trim().split_once(char::is_whitespace)?;
    SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)).then(|| rest.trim())
}

fn is_token(value: &str) -> bool {
    let begins = TOKENS.iter().any(|token| value.starts_with(token));
    begins && value.len() >= TOKEN && (value.starts_with('-') || !value.contains(char::is_whitespace))
}

/// Returns whether a word looks random: long, with letters and digits.
fn is_random(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let is_one_word = !word.contains(|one: char| one.is_whitespace() || one == '-');
    word.len() >= TOKEN && is_one_word && count(u8::is_ascii_digit) >= 2 && count(u8::is_ascii_alphabetic) >= 2
}

/// Returns whether a value is an address or a path.
fn is_location(value: &str) -> bool {
    let is_scheme = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let value = value.trim();
    value.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme))
        || ["/", "./", "../", "~/", "unix:"].iter().any(|start| value.starts_with(start))
        || value.as_bytes().get(1..3).is_some_and(|rest| rest == b":\\")
}

/// Returns the secrets inside a value: the password or key in an address, and `Password=…` in a list.
fn inner(value: &str) -> Vec<&str> {
    let user = value.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next()?.rsplit_once('@'));
    let in_address = user.and_then(|(user, _)| match user.split_once(':') {
        Some((_, password)) => Some(password),
        None => is_random(user).then_some(user),
    });
    let pairs = value.split([';', '&', '?', ',', ' ', '\n']).filter_map(|pair| pair.split_once('='));
    let secret = pairs.filter(|(name, _)| is_secret(&format!("in {name}")) || name.eq_ignore_ascii_case("sig"));
    let quotes = ['"', '\'', ' '];
    let all =
        in_address.into_iter().chain(credentials(value)).chain(secret.map(|(_, value)| value.trim_matches(quotes)));
    all.filter(|part| part.len() >= SHORTEST).collect()
}

#[cfg(test)]
pub(super) mod tests;
