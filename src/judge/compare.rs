//! Comparison of JSON values: equality with numbers by value, containment, and differences as JSON Pointers.
//!
//! Takes trees of at most [`nesting::LIMIT`](crate::jsonrpc::nesting::LIMIT) levels. Must not know their origin.

use serde_json::{Map, Number, Value};

use crate::jsonrpc::pointer::below;
use crate::model::observation::AdvertisedTool;

/// The number of pointers of one kind that are kept.
pub(crate) const KEPT: usize = 20;
/// The number of pointers of one kind that are collected before they are sorted: a schema may differ in 400,000 places.
const COLLECTED: usize = 10_000;

/// Returns whether two values are equal as JSON: members in any order, and numbers by value, so that `1` is `1.0`.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Returns whether `whole` has at least the members of `part`, at every level. Lists must have the same length.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| contains(whole, part))
        }
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| contains(whole, part)))
        }
        _ => equal(whole, part),
    }
}

/// Integers are compared as integers: 2⁵³ + 1 and 2⁵³ are two numbers.
fn same_number(a: &Number, b: &Number) -> bool {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.as_f64() == b.as_f64(),
        _ => false,
    }
}

/// The number as an integer; `None` if it is not an integer of 128 bits.
fn integer(number: &Number) -> Option<i128> {
    let exact = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    exact.or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e38)?;
        #[expect(clippy::cast_possible_truncation, reason = "an integer within 128 bits, as was just checked")]
        let whole = float as i128;
        Some(whole)
    })
}

/// Collects the places where `wire` differs from `given`. A missing or new subtree counts once, at its root.
pub(crate) fn differences(given: &Value, wire: &Value, at: &str, into: &mut AdvertisedTool) {
    match (given, wire) {
        (Value::Object(given), Value::Object(wire)) => members(given, wire, at, into),
        (Value::Array(given), Value::Array(wire)) => {
            for index in 0..given.len().max(wire.len()) {
                member(given.get(index), wire.get(index), format!("{at}/{index}"), into);
            }
        }
        _ if equal(given, wire) => {}
        _ => into.changed.push(at.to_owned()),
    }
}

fn members(given: &Map<String, Value>, wire: &Map<String, Value>, at: &str, into: &mut AdvertisedTool) {
    for (key, value) in given {
        member(Some(value), wire.get(key), below(at, key), into);
    }
    for (key, _) in wire.iter().filter(|(key, _)| !given.contains_key(*key)) {
        if into.added.len() == COLLECTED {
            return;
        }
        into.added.push(below(at, key));
    }
}

/// Compares one place, which may be missing on either side.
pub(crate) fn member(given: Option<&Value>, wire: Option<&Value>, at: String, into: &mut AdvertisedTool) {
    if [&into.removed, &into.added, &into.changed].iter().any(|list| list.len() >= COLLECTED) {
        return;
    }
    match (given, wire) {
        (Some(given), Some(wire)) => differences(given, wire, &at, into),
        (Some(_), None) => into.removed.push(at),
        (None, Some(_)) => into.added.push(at),
        (None, None) => {}
    }
}

/// Sorts each list, and cuts it at [`KEPT`]; a last item then states the number of the others.
pub(crate) fn bound(differences: &mut AdvertisedTool) {
    for list in [&mut differences.removed, &mut differences.added, &mut differences.changed] {
        list.sort_unstable();
        if list.len() > KEPT {
            let more = list.len() - KEPT;
            list.truncate(KEPT);
            let least = if more + KEPT >= COLLECTED { "at least " } else { "" };
            list.push(format!("… and {least}{more} more"));
        }
    }
}

/// Returns whether [`bound`] cut a list of pointers.
pub(crate) fn is_cut(pointers: &[String]) -> bool {
    pointers.len() > KEPT
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_equal_by_value() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(equal(&json!({"a": [1, {"b": -0.0}]}), &json!({"a": [1.0, {"b": 0}]})));
        assert!(!equal(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
        assert!(!equal(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992.0)));
        assert!(equal(&json!(u64::MAX), &json!(u64::MAX)));
        assert!(!equal(&json!(i64::MIN), &json!(u64::MAX)));
        assert!(!equal(&json!(1), &json!("1")));
        assert!(!equal(&json!(0), &json!(null)));
    }

    #[test]
    fn equal_objects_have_the_same_members_in_any_order() {
        assert!(equal(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})));
        assert!(!equal(&json!({"a": null}), &json!({})));
        assert!(!equal(&json!([1, 2]), &json!([2, 1])));
    }

    #[test]
    fn contained_value_may_have_fewer_members() {
        let whole = json!({"a": {"b": 1, "c": [{"d": 2, "e": 3}]}, "f": null});
        assert!(contains(&whole, &json!({"a": {"c": [{"d": 2.0}]}})));
        assert!(contains(&whole, &json!({"f": null})));
        assert!(!contains(&whole, &json!({"g": null})));
        assert!(!contains(&whole, &json!({"a": {"c": []}})));
    }

    #[test]
    fn difference_is_reported_once_at_its_root() {
        let given = json!({"type": "object", "anyOf": [{"required": ["id"]}, true], "x/y": {"deep": {"er": 1}}});
        let wire = json!({"type": "object", "anyOf": [{"required": ["name"]}], "$schema": "s"});
        let mut found = AdvertisedTool::default();
        differences(&given, &wire, "/inputSchema", &mut found);
        bound(&mut found);
        assert_eq!(found.removed, ["/inputSchema/anyOf/1", "/inputSchema/x~1y"]);
        assert_eq!(found.added, ["/inputSchema/$schema"]);
        assert_eq!(found.changed, ["/inputSchema/anyOf/0/required/0"]);
    }

    #[test]
    fn differences_beyond_the_limit_are_not_collected() {
        let wire: Map<_, _> = (0..3 * COLLECTED).map(|n| (n.to_string(), json!(0))).collect();
        let mut found = AdvertisedTool::default();
        differences(&json!({}), &Value::Object(wire), "/inputSchema", &mut found);
        bound(&mut found);
        assert_eq!(found.added.last().map(String::as_str), Some("… and at least 9980 more"));
    }

    #[test]
    fn long_list_of_pointers_is_cut_with_a_count() {
        let mut found = AdvertisedTool { added: (0..50).map(|n| format!("/{n}")).collect(), ..Default::default() };
        bound(&mut found);
        assert!(is_cut(&found.added));
        assert_eq!(found.added.last().map(String::as_str), Some("… and 30 more"));
    }
}
