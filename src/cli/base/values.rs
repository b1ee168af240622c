//! Parsers of option values. Each error names the allowed values and gives an example.
//!
//! Takes the text of one value, gives a number, a duration or a word. Must not know which command uses it.

use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::load::did_you_mean;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::transcript::StdioMode;
use crate::model::{Pattern, Shard};

/// Parses a pattern. An empty one would select all tests, and is usually an unset variable of a script.
pub(in crate::cli) fn pattern(text: &str) -> Result<Pattern, String> {
    let is_empty = text.trim().is_empty();
    let parsed = text.parse::<Pattern>().map_err(|error| error.to_string());
    parsed.and_then(|pattern| if is_empty { Err("the pattern is empty".to_owned()) } else { Ok(pattern) }).map_err(
        |why| format!("{why}; expected a part of the names that `casebook list` prints, as in tools or 'sep-2106/**'"),
    )
}

/// Parses a number of workers.
pub(in crate::cli) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number, at least 1, as in --jobs 4".to_owned())
}

/// Parses a number of further attempts. The run log keeps every attempt in the record of its test.
pub(in crate::cli) fn retries(text: &str) -> Result<usize, String> {
    const MOST: usize = 100;
    let retries = text.parse().ok().filter(|retries| *retries <= MOST);
    retries.ok_or_else(|| format!("expected a whole number from 0 to {MOST}, as in --retries 2"))
}

/// Parses a number of tests to show.
pub(in crate::cli) fn tests(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number, as in --tests 20".to_owned())
}

/// Parses the number of a proposal, with or without `SEP-` before it.
pub(in crate::cli) fn sep(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix("SEP-").or_else(|| text.strip_prefix("sep-")).unwrap_or(text);
    number.parse().map_err(|_| "expected the number of a proposal, as in --sep 2106".to_owned())
}

/// Parses `K/N`.
pub(in crate::cli) fn shard(text: &str) -> Result<Shard, String> {
    text.parse().map_err(|_| "expected K/N, with K from 1 to N: 2/5 is the second of five shards".to_owned())
}

/// Parses a time limit. It is more than no time, and at most a day.
pub(in crate::cli) fn limit(text: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_secs(24 * 60 * 60);
    let limit = humantime::parse_duration(text).ok().filter(|limit| !limit.is_zero() && *limit <= MOST);
    limit.ok_or_else(|| "expected a time with its unit, at most 24h, as in 500ms, 10s, 2m or 1h".to_owned())
}

/// Divides `KIND=VALUE` with one of some kinds. The error proposes the most similar kind, unless `guess` is better.
pub(in crate::cli) fn kind<'t, K: FromStr>(
    text: &'t str,
    kinds: &[&str],
    form: &str,
    example: &str,
    guess: Option<String>,
) -> Result<(K, &'t str), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if let Ok(kind) = name.parse()
        && kinds.contains(&name)
    {
        return Ok((kind, value));
    }
    let hint = guess.or_else(|| did_you_mean(name, kinds)).map_or(String::new(), |question| format!("; {question}"));
    Err(format!("expected {form}, with a KIND of {}, as in {example}{hint}", kinds.join(", ")))
}

/// Parses a role.
pub(in crate::cli) fn role() -> impl TypedValueParser<Value = Role> {
    word(Role::SINGLE.iter().map(|role| role.word()))
}

/// Parses a transport.
pub(in crate::cli) fn transport() -> impl TypedValueParser<Value = Transport> {
    word(Transport::ALL.iter().map(|transport| transport.word()))
}

/// Parses a way of serving over stdio.
pub(in crate::cli) fn stdio() -> impl TypedValueParser<Value = StdioMode> {
    word(StdioMode::ALL.iter().map(|mode| mode.word()))
}

/// Parses a revision of the specification.
pub(in crate::cli) fn revision() -> impl TypedValueParser<Value = Revision> {
    word(Revision::all().map(Revision::name))
}

/// Parses one of some words. clap lists the words, and proposes the one with the most similar spelling.
pub(in crate::cli) fn word<T>(words: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|text| text.parse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limit_out_of_range_is_refused() {
        assert_eq!(limit("90s"), Ok(Duration::from_secs(90)));
        for wrong in ["0s", "25h", "18446744073709551615s", "500years", "soon", "10", "-1s"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn empty_pattern_is_refused() {
        assert!(pattern("tools/**").is_ok());
        for wrong in ["", " "] {
            assert!(pattern(wrong).is_err_and(|why| why.contains("casebook list")), "{wrong:?}");
        }
    }

    #[test]
    fn proposal_is_parsed_with_and_without_its_prefix() {
        assert_eq!([sep("2106"), sep("SEP-2106"), sep("sep-2106")], [Ok(2106), Ok(2106), Ok(2106)]);
        assert!(sep("tools").is_err());
    }
}
