//! Schemas from outside: compilation with limits, and validation of values.
//!
//! The module takes text and a policy, and returns a compiled schema or an error. A strict policy fetches nothing, and
//! limits the time for a validation. The module must not know tools, methods or transports.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use crate::fetch::Fetch;
use crate::nesting;
use crate::policy::{Policy, SchemasPolicy};
use crate::references;

/// The time limit for the validation of one value.
pub(crate) const BUDGET: Duration = Duration::from_secs(2);

/// The backtracking limit for a pattern with look-around or back-references.
const BACKTRACKS: usize = 100_000;

/// The limit of a value's levels multiplied by the length of the longest chain of subschemas, so that the stack of a
/// thread is large enough.
const STEPS: usize = 20_000;

/// Limits for the size of a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The depth of brackets in its text.
    pub(crate) nesting: usize,
    /// The levels of subschemas.
    pub(crate) depth: usize,
    /// The number of subschemas.
    pub(crate) count: usize,
    /// The number of paths through subschemas that validate the same value.
    pub(crate) ways: usize,
    /// The length of a chain of subschemas that validate the same value.
    pub(crate) chain: usize,
}

pub(crate) const BOUNDS: Bounds =
    Bounds { nesting: nesting::LIMIT, depth: 64, count: 10_000, ways: 100_000, chain: 1_024 };
pub(crate) const UNBOUNDED: Bounds = {
    const MOST: usize = usize::MAX;
    Bounds { nesting: MOST, depth: MOST, count: MOST, ways: MOST, chain: MOST }
};

/// The reason why a schema is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemaError {
    #[error("a schema must be an object")]
    NotAnObject,
    #[error("the schema cannot be read: {reason}")]
    Unreadable { reason: String },
    #[error("the schema has more than {limit} levels of subschemas")]
    TooDeep { limit: usize },
    #[error("the schema has more than {limit} subschemas")]
    TooMany { limit: usize },
    #[error("one value would be validated on more than {limit} paths")]
    TooManyWays { limit: usize },
    #[error("a chain of more than {limit} subschemas validates one value")]
    TooLong { limit: usize },
    #[error("reading the schema takes more than {} s", BUDGET.as_secs())]
    TooSlow,
    #[error("the dialect `{uri}` is not supported")]
    Dialect { uri: String },
    #[error("the reference `{reference}` points to another document, and nothing is fetched")]
    External { reference: String },
    #[error("the reference `{reference}` cannot be resolved: {reason}")]
    Dangling { reference: String, reason: String },
    #[error("a subschema refers to itself without descending into the value")]
    Endless,
    #[error("the schema is not valid: {reason}")]
    Invalid { reason: String },
}

/// A compiled schema. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    compiled: Arc<Compiled>,
    /// `true` after a validation exceeded its time limit. It cannot be stopped, so no other may start.
    is_exhausted: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Compiled {
    value: Value,
    /// The validator; `None` accepts everything, which no strict policy does.
    validator: Option<Validator>,
    chain: usize,
    policy: &'static SchemasPolicy,
}

impl Schema {
    /// Reads and compiles a schema.
    ///
    /// # Errors
    /// The reason why the schema is refused.
    pub(crate) fn read(text: &str, policy: &'static Policy) -> Result<Self, SchemaError> {
        let policy = &policy.schemas;
        let unreadable = |error: serde_json::Error| SchemaError::Unreadable { reason: error.to_string() };
        let mut value = nesting::read_within(policy.bounds.nesting, text.as_bytes()).map_err(unreadable)?;
        if !matches!(value, Value::Object(_)) {
            return Err(SchemaError::NotAnObject);
        }
        (policy.prepare)(&mut value);
        let (validator, chain) = match compile(&value, policy) {
            Ok((validator, chain)) => (Some(validator), chain),
            Err(_) if policy.accepts_uncompilable => (None, 1),
            Err(error) => return Err(error),
        };
        Ok(Self { compiled: Arc::new(Compiled { value, validator, chain, policy }), is_exhausted: Arc::default() })
    }

    /// Reads and compiles a schema within a time limit, on a thread for blocking work.
    ///
    /// # Errors
    /// The reason why the schema is refused.
    pub(crate) async fn read_in_time(text: String, policy: &'static Policy) -> Result<Self, SchemaError> {
        let work = tokio::task::spawn_blocking(move || Self::read(&text, policy));
        match tokio::time::timeout(BUDGET, work).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(SchemaError::Unreadable { reason: "reading it failed".to_owned() }),
            Err(_) => Err(SchemaError::TooSlow),
        }
    }

    /// Returns the schema as a value.
    pub(crate) fn value(&self) -> &Value {
        &self.compiled.value
    }

    /// Validates a value within the time limit, on a thread for blocking work.
    ///
    /// # Errors
    /// The first error in the value, with its place.
    pub(crate) async fn check(&self, value: &Arc<Value>) -> Result<(), String> {
        let budget = self.compiled.policy.budget;
        let too_long = || Err(format!("validating a value against this schema takes more than {} s", budget.as_secs()));
        if self.is_exhausted.load(Ordering::Relaxed) {
            return too_long();
        }
        let (schema, value) = (self.clone(), value.clone());
        let work = tokio::task::spawn_blocking(move || schema.check_now(&value));
        match tokio::time::timeout(budget, work).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err("the value could not be validated".to_owned()),
            Err(_) => {
                self.is_exhausted.store(true, Ordering::Relaxed);
                too_long()
            }
        }
    }

    /// Validates a value on the current thread.
    ///
    /// # Errors
    /// The first error in the value, with its place.
    pub(crate) fn check_now(&self, value: &Value) -> Result<(), String> {
        let Some(validator) = &self.compiled.validator else { return Ok(()) };
        while (self.compiled.policy.hangs_on)(&self.compiled.value, value) {
            std::thread::park();
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

fn compile(schema: &Value, policy: &SchemasPolicy) -> Result<(Validator, usize), SchemaError> {
    let draft = references::dialect(schema, policy.default_dialect)?;
    if draft == Draft::default()
        && let Some(dialect) = schema.get("$schema").filter(|_| !policy.default_dialect_may_be_named)
    {
        return Err(SchemaError::Dialect { uri: dialect.to_string() });
    }
    let options = jsonschema::options().with_draft(draft);
    let (options, chain) = match references::survey(schema, draft, &policy.bounds) {
        Err(SchemaError::External { .. }) if policy.fetches_references => (options.with_retriever(Fetch), 1),
        Ok(chain) if policy.fetches_references => (options.with_retriever(Fetch), chain),
        chain => (options.offline(), chain?),
    };
    // The linear-time engine is tried first. Patterns that it cannot express use one that backtracks, with a limit.
    let validator = options.clone().with_pattern_options(PatternOptions::regex()).build(schema).or_else(|_| {
        options.with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS)).build(schema)
    });
    let validator = validator.map_err(|error| SchemaError::Invalid {
        reason: format!("at {}: {}", error.instance_path().as_str(), shortened(&error.to_string())),
    })?;
    Ok((validator, chain))
}

/// Returns the nesting depth of a value; a scalar has one level.
fn levels(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

/// Shortens a message, which quotes the value and may therefore be long.
fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
