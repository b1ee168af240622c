//! The environment's secrets, and texts without them.
//!
//! Takes a target and the environment of this process, gives texts with `[NAME]` where the value of a variable was.
//! Must not know records. Verdicts are made before: a name in place of a number is no JSON.

mod matcher;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::target::Target;
use matcher::{Matcher, PIECE, Wanted};

/// Shorter values, in bytes, are words like `error` and `true`, which mean something wherever they are.
const SHORTEST: usize = PIECE;
/// Variables to be hidden besides, and with a `-` before it one that isn't: names, with commas or spaces between them.
const NAMED: &str = "CASEBOOK_SECRETS";
/// A name with such a part is a secret's.
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
/// A name with a part that ends so is a secret's: `PGPASSWORD`, `BINDPW`.
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
/// Parts that are a secret's only beside others: `PWD` alone is a folder.
const BESIDE_OTHERS: [&str; 2] = ["PWD", "PW"];
/// A value that begins so is a secret, whatever its name is: the tokens of well-known services, JWTs and private keys.
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
/// Shorter values, in bytes, are no tokens, whatever they begin with; and shorter words are not taken for random ones.
const TOKEN: usize = 16;

/// The values that are not to be told of one target.
#[derive(Debug, Default)]
pub struct Secrets(Option<Matcher>);

impl Secrets {
    /// Those of a target: all that its file sets, and of the inherited environment what is a secret by its name or its
    /// value, or is named as one.
    pub fn of(target: &Target) -> Self {
        Self::among(&target.env, inherited(), &Named::of(&target.secrets))
    }

    /// Those of a process that has no more than the environment of this one.
    pub fn inherited() -> Self {
        Self::among(&BTreeMap::new(), inherited(), &Named::of(&[]))
    }

    fn among(
        set: &BTreeMap<String, String>,
        inherited: impl IntoIterator<Item = (String, String)>,
        named: &Named,
    ) -> Self {
        let mut wanted = BTreeSet::new();
        let set = set.iter().map(|(name, value)| (name.clone(), value.clone(), true));
        let inherited = inherited.into_iter().map(|(name, value)| (name, value, false));
        for (name, value, is_set) in set.chain(inherited).filter(|(name, ..)| !named.no.contains(name)) {
            let is_named = named.yes.contains(&name);
            wanted.extend(
                wanted_of(&name, &value, is_set, is_named).into_iter().filter(|one| one.value.len() >= SHORTEST),
            );
        }
        let mut wanted: Vec<_> = wanted.into_iter().collect();
        // A value that is inside of another one has its own name where it is alone.
        wanted.sort_by_key(|one| one.value.len());
        Self(Matcher::new(&wanted))
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// A text without them.
    pub fn out_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.as_ref().map_or(Cow::Borrowed(text), |matcher| matcher.replaced(text))
    }

    /// The first bytes of a text without them: one that is cut there is hidden too.
    pub(super) fn out_of_first<'t>(&self, text: &'t str, most: usize) -> Cow<'t, str> {
        match &self.0 {
            Some(matcher) => matcher.replaced_within(text, most),
            None => Cow::Borrowed(&text[..matcher::floor(text, most)]),
        }
    }
}

/// The variables that somebody has named.
#[derive(Debug, Default)]
struct Named {
    yes: BTreeSet<String>,
    no: BTreeSet<String>,
}

impl Named {
    /// Those of a target's file, and those of [`NAMED`].
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

/// The environment of this process. A value that is not UTF-8 is there twice: with replacement characters, and as Latin-1.
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

/// The parts of a variable that are hidden.
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
    // Much of an address, a path or a setting is in texts that have nothing to do with it.
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

/// The secrets inside of a value: the password, or the key in its place, of an address, and `Password=…` of a list.
fn inner(value: &str) -> Vec<&str> {
    let user = value.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next()?.rsplit_once('@'));
    let in_address = user.and_then(|(user, _)| match user.split_once(':') {
        Some((_, password)) => Some(password),
        None => is_random(user).then_some(user),
    });
    let pairs = value.split([';', '&', '?', ',', ' ', '\n']).filter_map(|pair| pair.split_once('='));
    let secret = pairs.filter(|(name, _)| is_secret(&format!("in {name}")) || name.eq_ignore_ascii_case("sig"));
    let quotes = ['"', '\'', ' '];
    let all = in_address.into_iter().chain(secret.map(|(_, value)| value.trim_matches(quotes)));
    all.filter(|part| part.len() >= SHORTEST).collect()
}

#[cfg(test)]
pub(super) mod tests;
