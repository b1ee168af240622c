//! A lenient reader of messages, which keeps each part as text so that its depth does not matter.
//!
//! It takes the text of a message and returns its parts. It must not know their meaning.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ambiguity::Keys;
use super::text;

/// The members of an object, each as text.
pub(crate) type Members<'a> = BTreeMap<String, &'a RawValue>;

/// A JSON-RPC message. A member that is `null` counts as absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope<'a> {
    /// The id, as written.
    pub(crate) id: Option<&'a RawValue>,
    /// The method of a request or notification.
    pub(crate) method: Option<String>,
    pub(crate) params: Option<&'a RawValue>,
    /// The result of a response.
    pub(crate) result: Option<&'a RawValue>,
    /// The error of a response.
    pub(crate) error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads a message. Returns `None` if the text is not a JSON-RPC message, or has duplicate keys.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let members: Members<'a> = ordered(text)?.into_iter().collect();
        let member = |key: &str| members.get(key).copied().filter(|value| value.get() != "null");
        let method = match member("method") {
            Some(method) => Some(scalar(method)?),
            None => None,
        };
        let [id, params, result, error] = ["id", "params", "result", "error"].map(member);
        Some(Self { id, method, params, result, error })
    }

    /// Returns the members of the result, or `None` if there is no result or it is not an object.
    pub(crate) fn members(&self) -> Option<Members<'a>> {
        members(self.result?)
    }

    /// Returns the members of the `_meta` of the parameters, or `None` if there is none.
    pub(crate) fn meta(&self) -> Option<Members<'a>> {
        members(members(self.params?)?.get("_meta")?)
    }
}

/// Returns the members of an object in order, each as text, or `None` if it is not an object or has duplicate keys.
pub(crate) fn ordered(text: &str) -> Option<Vec<(String, &RawValue)>> {
    let text::Members(members) = text::Members::of(text)?;
    let mut keys = Keys::default();
    let is_unique = members.iter().all(|(key, _)| keys.insert(key.as_str()));
    drop(keys);
    is_unique.then_some(members)
}

/// Returns the members of an object, or `None` if it is not an object or has duplicate keys.
pub(crate) fn members(raw: &RawValue) -> Option<Members<'_>> {
    Some(ordered(raw.get())?.into_iter().collect())
}

/// Returns the items of a list, or `None` if the value is not a list.
pub(crate) fn items(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// Returns a scalar of type `T`, or `None` if the value has another type.
pub(crate) fn scalar<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// Returns the code of an error. A float with an integral value counts as that integer.
pub(crate) fn code(error: &RawValue) -> Option<i64> {
    let code = members(error)?.get("code").copied()?;
    scalar(code).or_else(|| {
        let float = scalar::<f64>(code).filter(|float| float.fract() == 0.0 && float.abs() < 1e15)?;
        #[expect(clippy::cast_possible_truncation, reason = "an integer within 64 bits, as was just checked")]
        let code = float as i64;
        Some(code)
    })
}
