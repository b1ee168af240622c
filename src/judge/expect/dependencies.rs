//! The members of an observation on which a schema depends, so that only these need to be readable.
//!
//! Takes a schema, gives names of members. Must not know observations.

use std::collections::BTreeSet;

use serde_json::Value;

/// The members of an object on which a schema over it can depend.
#[derive(Default)]
pub(super) struct Dependencies<'s> {
    /// The members whose values matter.
    pub(super) values: BTreeSet<&'s str>,
    /// The members whose presence matters.
    pub(super) present: BTreeSet<&'s str>,
}

impl<'s> Dependencies<'s> {
    /// Collects the members; returns `false` if the schema may depend on others too.
    pub(super) fn collect(&mut self, schema: &'s Value) -> bool {
        let Value::Object(keywords) = schema else { return schema.is_boolean() };
        keywords.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                self.values.extend(properties.keys().map(String::as_str));
                true
            }
            ("required", Value::Array(names)) => {
                self.present.extend(names.iter().filter_map(Value::as_str));
                true
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter().all(|schema| self.collect(schema)),
            ("not" | "if" | "then" | "else", schema) => self.collect(schema),
            ("type" | "title" | "description" | "$comment", _) => true,
            _ => false,
        })
    }
}
