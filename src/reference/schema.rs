//! Schemas that came from outside: what is accepted, and what fits them.
//!
//! Takes text and the bounds, gives a compiled schema or the reason against it. Nothing is ever fetched (but by a
//! mutant), and checking a value is bounded in time. Must not know tools, methods or transports.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value};
use tokio::task::JoinError;

use crate::fetch::{self, Fetch};
use crate::mutant::Mutant;
use crate::nesting;
use crate::references;
use crate::server::session::locked;

/// How long one value may take.
pub(crate) const BUDGET: Duration = Duration::from_secs(2);

/// How often a pattern with look-around or back-references may backtrack.
const BACKTRACKS: usize = 100_000;

/// Levels of a value times the longest chain of subschemas for each: what the stack of a thread must hold.
const STEPS: usize = 20_000;

/// How many bytes of a schema, and values in a value, are few.
const LIGHT: usize = 4 << 10;

/// How large a schema may be.
pub(crate) struct Bounds {
    /// Levels of subschemas.
    pub(crate) depth: usize,
    /// Subschemas.
    pub(crate) count: usize,
    /// Ways through the subschemas that judge one value.
    pub(crate) ways: usize,
    /// Subschemas in a row that judge one value.
    pub(crate) chain: usize,
}

const BOUNDS: Bounds = Bounds { depth: 64, count: 10_000, ways: 100_000, chain: 1_024 };
const NARROW: Bounds = Bounds { depth: 12, ..BOUNDS };
const UNBOUNDED: Bounds = Bounds { depth: usize::MAX, count: usize::MAX, ways: usize::MAX, chain: usize::MAX };

/// Why a schema is not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemaError {
    #[error("a schema must be an object")]
    NotAnObject,
    #[error("the schema can't be read: {reason}")]
    Unreadable { reason: String },
    #[error("the schema has more than {limit} levels of subschemas")]
    TooDeep { limit: usize },
    #[error("the schema has more than {limit} subschemas")]
    TooMany { limit: usize },
    #[error("one value would be judged in more than {limit} ways")]
    TooManyWays { limit: usize },
    #[error("more than {limit} subschemas in a row judge one value")]
    TooLong { limit: usize },
    #[error("reading the schema takes more than {} s", BUDGET.as_secs())]
    TooSlow,
    #[error("the dialect `{uri}` is not supported")]
    Dialect { uri: String },
    #[error("the reference `{reference}` leads out of the document, and nothing is fetched")]
    External { reference: String },
    #[error("the reference `{reference}` leads nowhere: {reason}")]
    Dangling { reference: String, reason: String },
    #[error("a subschema refers to itself without taking anything off the value")]
    Endless,
    #[error("the schema is not valid: {reason}")]
    Invalid { reason: String },
}

/// A schema, ready for use. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    compiled: Arc<Compiled>,
    /// A check outlived its budget. It can't be stopped, so there must not be a second one.
    is_exhausted: Arc<AtomicBool>,
}

/// The schemas that were read last, by their texts: most come again with other revisions.
static KEPT: LazyLock<Mutex<HashMap<String, Arc<Compiled>>>> = LazyLock::new(Mutex::default);

/// How many of them there are at most, and the longest text, in bytes.
const MOST_KEPT: (usize, usize) = (256, 32 << 10);

#[derive(Debug)]
struct Compiled {
    value: Value,
    /// `None` accepts everything; only mutants have it.
    validator: Option<Validator>,
    chain: usize,
    /// It was short and plain to read.
    is_light: bool,
    /// How long one value may take.
    budget: Duration,
    /// A mutant's engine for patterns, with which a long text takes for ever.
    backtracks: bool,
}

impl Compiled {
    fn read(text: &str, mutant: Option<Mutant>) -> Result<Self, SchemaError> {
        let mutant = mutant.map(Mutant::of_schemas);
        let value = tree(text, mutant)?;
        let Value::Object(members) = value else { return Err(SchemaError::NotAnObject) };
        let value = mutated(members, mutant);
        let is_patient = matches!(mutant, Some(Mutant::DepthUnlimited | Mutant::ValueUnbounded));
        let budget = if is_patient { Duration::MAX } else { BUDGET };
        let is_lax = mutant == Some(Mutant::ValidationSkippedWhenUncompilable);
        let (validator, chain) = match compile(&value, mutant) {
            Ok((validator, chain)) => (Some(validator), chain),
            Err(_) if is_lax => (None, 1),
            Err(error) => return Err(error),
        };
        let backtracks = mutant == Some(Mutant::ValueUnbounded);
        Ok(Self { value, validator, chain, is_light: is_light(text), budget, backtracks })
    }

    fn backtracks_on(&self, value: &Value) -> bool {
        const MOST: usize = 32;
        let (pattern, text) = (self.value.pointer("/properties/v/pattern"), value.get("v").and_then(Value::as_str));
        self.backtracks && pattern.is_some() && text.is_some_and(|text| text.len() > MOST)
    }
}

impl Schema {
    /// Reads and compiles a schema.
    ///
    /// # Errors
    /// The reason against it.
    pub(crate) fn read(text: &str, mutant: Option<Mutant>) -> Result<Self, SchemaError> {
        let (most, longest) = MOST_KEPT;
        let is_kept = mutant.is_none() && text.len() <= longest;
        if let Some(known) = is_kept.then(|| locked(&KEPT).get(text).cloned()).flatten() {
            return Ok(Self { compiled: known, is_exhausted: Arc::default() });
        }
        let compiled = Arc::new(Compiled::read(text, mutant)?);
        if is_kept {
            let mut kept = locked(&KEPT);
            if kept.len() >= most {
                kept.clear();
            }
            kept.insert(text.to_owned(), Arc::clone(&compiled));
        }
        Ok(Self { compiled, is_exhausted: Arc::default() })
    }

    /// Reads and compiles a schema, away from the tasks that talk to others if it is more than they should wait for.
    ///
    /// # Errors
    /// The reason against it.
    pub(crate) async fn read_in_time(text: String, mutant: Option<Mutant>) -> Result<Self, SchemaError> {
        let work = aside_unless(is_light(&text), move || Self::read(&text, mutant));
        match tokio::time::timeout(BUDGET, work).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(SchemaError::Unreadable { reason: "reading it broke down".to_owned() }),
            Err(_) => Err(SchemaError::TooSlow),
        }
    }

    /// The schema itself.
    pub(crate) fn value(&self) -> &Value {
        &self.compiled.value
    }

    /// Checks a value, away from the tasks that talk to others if it is more than they should wait for.
    ///
    /// # Errors
    /// The first thing that is wrong with the value, with its place.
    pub(crate) async fn check(&self, value: &Arc<Value>) -> Result<(), String> {
        let too_long =
            || Err(format!("checking a value by this schema takes more than {} s", self.compiled.budget.as_secs()));
        if self.is_exhausted.load(Ordering::Relaxed) {
            return too_long();
        }
        if self.compiled.is_light && !self.compiled.backtracks && size(value, LIGHT) < LIGHT {
            return self.check_now(value);
        }
        let (schema, value) = (self.clone(), value.clone());
        let work = tokio::task::spawn_blocking(move || schema.check_now(&value));
        match tokio::time::timeout(self.compiled.budget, work).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err("the value could not be checked".to_owned()),
            Err(_) => {
                self.is_exhausted.store(true, Ordering::Relaxed);
                too_long()
            }
        }
    }

    /// Checks a value here and now.
    ///
    /// # Errors
    /// The first thing that is wrong with the value, with its place.
    pub(crate) fn check_now(&self, value: &Value) -> Result<(), String> {
        let Some(validator) = &self.compiled.validator else { return Ok(()) };
        if self.compiled.backtracks_on(value) {
            loop {
                std::thread::park();
            }
        }
        if levels(value).saturating_mul(self.compiled.chain) > STEPS {
            return Err("the value is nested too deeply for this schema".to_owned());
        }
        validator.validate(value).map_err(|error| {
            let place = match error.instance_path().as_str() {
                "" => "the root",
                place => place,
            };
            format!("at {place}: {}", shortened(&error.to_string()))
        })
    }
}

fn tree(text: &str, mutant: Option<Mutant>) -> Result<Value, SchemaError> {
    let unreadable = |reason: String| SchemaError::Unreadable { reason };
    if mutant == Some(Mutant::DepthUnlimited) {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        deserializer.disable_recursion_limit();
        return serde::Deserialize::deserialize(&mut deserializer)
            .map_err(|error: serde_json::Error| unreadable(error.to_string()));
    }
    nesting::read(text.as_bytes()).map_err(|error| unreadable(error.to_string()))
}

fn mutated(mut members: Map<String, Value>, mutant: Option<Mutant>) -> Value {
    if mutant == Some(Mutant::KeywordStripped) {
        members.shift_remove("anyOf");
    }
    let mut value = Value::Object(members);
    match mutant {
        Some(Mutant::ExternalRefIgnored) => ignore_external(&mut value),
        Some(Mutant::DialectIgnored) => drop(value.as_object_mut().and_then(|root| root.shift_remove("$schema"))),
        _ => {}
    }
    value
}

fn ignore_external(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(ignore_external),
        Value::Object(members) => {
            for keyword in ["$ref", "$dynamicRef"] {
                if members.get(keyword).and_then(Value::as_str).is_some_and(|reference| !reference.starts_with('#')) {
                    members.shift_remove(keyword);
                }
            }
            members.values_mut().for_each(ignore_external);
        }
        _ => {}
    }
}

fn refuse_by_prefix(value: &Value) -> Result<(), SchemaError> {
    match value {
        Value::Array(items) => items.iter().try_for_each(refuse_by_prefix),
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(reference) if reference.starts_with("http:") || reference.starts_with("https:") => {
                Err(SchemaError::External { reference: reference.to_owned() })
            }
            _ => members.values().try_for_each(refuse_by_prefix),
        },
        _ => Ok(()),
    }
}

fn compile(schema: &Value, mutant: Option<Mutant>) -> Result<(Validator, usize), SchemaError> {
    let bounds = match mutant {
        Some(Mutant::DepthUnlimited) => &UNBOUNDED,
        Some(Mutant::DepthOfTwelve) => &NARROW,
        _ => &BOUNDS,
    };
    fetch::visit(schema, mutant);
    let assumed = if mutant == Some(Mutant::DraftSevenAssumed) { Draft::Draft7 } else { Draft::default() };
    let draft = references::dialect(schema, assumed)?;
    if mutant == Some(Mutant::OwnDialectUnknown) && schema.get("$schema").is_some() && draft == Draft::default() {
        return Err(SchemaError::Dialect { uri: schema["$schema"].to_string() });
    }
    let options = jsonschema::options().with_draft(draft);
    let fetch = Fetch::of(mutant);
    if mutant == Some(Mutant::PrefixCheckOnRef) {
        refuse_by_prefix(schema)?;
    }
    let chain = match (references::survey(schema, draft, bounds), fetch) {
        (Err(SchemaError::External { .. }), Some(_)) => 1,
        (chain, _) => chain?,
    };
    let options = match fetch {
        Some(fetch) => options.with_retriever(fetch),
        None => options.offline(),
    };
    // The linear engine first; what it can't express falls to one that backtracks, with a limit.
    let validator = options.clone().with_pattern_options(PatternOptions::regex()).build(schema).or_else(|_| {
        options.with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS)).build(schema)
    });
    let validator = validator.map_err(|error| SchemaError::Invalid {
        reason: format!("at {}: {}", error.instance_path().as_str(), shortened(&error.to_string())),
    })?;
    Ok((validator, chain))
}

/// Whether a schema, or many in one text, can be read and used where one stands: it is short, and has nothing in it of
/// which a little makes much work. Another thread costs more than most of them.
pub(crate) fn is_light(text: &str) -> bool {
    const LABORIOUS: [&str; 3] = [r#""$ref""#, r#""$dynamicRef""#, r#""pattern"#];
    text.len() < LIGHT && !LABORIOUS.iter().any(|keyword| text.contains(keyword))
}

/// Does light work at once, and all other away from the tasks that talk to others.
///
/// # Errors
/// Where the work panicked elsewhere.
pub(crate) async fn aside_unless<T: Send + 'static>(
    is_light: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    if is_light { Ok(work()) } else { tokio::task::spawn_blocking(work).await }
}

/// How many values are in a value, itself included; it is enough to know that there are so many.
fn size(value: &Value, enough: usize) -> usize {
    let of = |sum: usize, value| if sum < enough { sum + size(value, enough - sum) } else { sum };
    match value {
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => items.iter().fold(1, of),
        Value::Object(members) => members.values().fold(1, of),
        _ => 1,
    }
}

/// How deeply a value is nested; a scalar is one level.
fn levels(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

/// Messages quote the value, which may be large.
fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
