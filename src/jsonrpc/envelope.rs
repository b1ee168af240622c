//! Messages read by a lenient reader: each part stays text, so that its depth does not matter.
//!
//! Takes a message's text, gives its parts. Must not know what they mean.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ambiguity::Keys;
use super::text;

/// An object's members, each as text.
pub(crate) type Members<'a> = BTreeMap<String, &'a RawValue>;

/// A JSON-RPC message. A member that is `null` counts as absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope<'a> {
    /// The id, as it was written.
    pub(crate) id: Option<&'a RawValue>,
    /// The method, in a request or notification.
    pub(crate) method: Option<String>,
    pub(crate) params: Option<&'a RawValue>,
    /// The result, in a response.
    pub(crate) result: Option<&'a RawValue>,
    /// The error, in a response.
    pub(crate) error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads a message; `None` where it is none, or has a member twice.
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

    /// The members of the result; `None` where there is none, or it is no object.
    pub(crate) fn members(&self) -> Option<Members<'a>> {
        members(self.result?)
    }
}

/// An object's members in their order, each as text; `None` where it is no object, or has a key twice.
pub(crate) fn ordered(text: &str) -> Option<Vec<(String, &RawValue)>> {
    let text::Members(members) = text::Members::of(text)?;
    let mut keys = Keys::default();
    let is_unique = members.iter().all(|(key, _)| keys.insert(key.as_str()));
    drop(keys);
    is_unique.then_some(members)
}

/// An object's members; `None` where it is no object, or has a key twice.
pub(crate) fn members(raw: &RawValue) -> Option<Members<'_>> {
    Some(ordered(raw.get())?.into_iter().collect())
}

/// A list's items; `None` where it is no list.
pub(crate) fn items(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// A scalar of the wanted type.
pub(crate) fn scalar<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// An error's code; a float of the same value is the same code.
pub(crate) fn code(error: &RawValue) -> Option<i64> {
    let code = members(error)?.get("code").copied()?;
    scalar(code).or_else(|| {
        let float = scalar::<f64>(code).filter(|float| float.fract() == 0.0 && float.abs() < 1e15)?;
        #[expect(clippy::cast_possible_truncation, reason = "an integer within 64 bits, as was just checked")]
        let code = float as i64;
        Some(code)
    })
}
