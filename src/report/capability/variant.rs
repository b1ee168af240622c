//! The answer of another variant of an SDK, where the first one has none, or where another one is dangerous.
//!
//! Takes the answers of all columns to one question. Pure.

use super::{Answer, CapabilityCell, CapabilityRow, Reason, WORDS};
use crate::model::spec::Harm;
use crate::model::text::shortened;
use crate::report::Column;

/// The answer of a column, if that of another variant of the same version tells more.
pub(super) fn answer(row: &CapabilityRow, columns: &[&Column], at: usize) -> Option<CapabilityCell> {
    let (column, own) = (columns[at], &row.answers[at]);
    let is_variant = |other: &Column| {
        column.is_main
            && !other.is_main
            && !other.is_reference()
            && (&other.id.name, &other.version) == (&column.id.name, &column.version)
    };
    let others = || columns.iter().zip(&row.answers).filter(|(other, _)| is_variant(other));
    let has_none = |cell: &CapabilityCell| matches!(cell.answer, Answer::Absent | Answer::NotTested);
    let right_is_yes = row.right == "yes";
    if !own.is_grave()
        && (own.answer == Answer::Right || has_none(own))
        && let Some((other, cell)) = others().find(|(_, cell)| cell.is_grave())
    {
        let api = api(other);
        // “only with” would tell where it works.
        let words = words(if right_is_yes { "fails with" } else { "yes, with" }, &api);
        return Some(CapabilityCell { answer: Answer::Partly, words, by: Some(api), ..cell.clone() });
    }
    if !has_none(own) {
        return None;
    }
    let (other, cell) = others().filter(|(_, cell)| !has_none(cell)).min_by_key(|(_, cell)| cell.answer)?;
    let api = api(other);
    if cell.answer == Answer::Right {
        // Nothing that the first variant cannot express can go wrong in it.
        let (answer, words) = if right_is_yes && cell.words == row.right {
            (Answer::Partly, words("works only with", &api))
        } else {
            (Answer::Right, cell.words.clone())
        };
        let reasons = if answer == Answer::Right { Vec::new() } else { own.reasons.clone() };
        return Some(CapabilityCell { answer, words, by: Some(api), reasons, ..cell.clone() });
    }
    let mut cell = cell.clone();
    let text = Some(format!("measured with {api}, because {} cannot say it", self::api(column)));
    let short = cell.words.clone();
    cell.reasons.insert(0, Reason { short, text, url: None, harm: Harm::None, checks: 0, rank: 0, tests: Vec::new() });
    Some(CapabilityCell { by: Some(api), ..cell })
}

/// The name of the API of a variant.
fn api(column: &Column) -> String {
    let variant = column.id.variant.clone().unwrap_or_else(|| column.name.clone());
    column.api.clone().unwrap_or(variant)
}

fn words(words: &str, api: &str) -> String {
    shortened(&format!("{words} {api}"), WORDS).into_owned()
}
