//! Results for people and programs: one result model, and the forms that are made from it.
//!
//! Takes records and the catalogue of requirements. [`Column`] counts the results of a target; a run's [`RunSummary`]
//! and a [`Report`] have columns. The terminal, Markdown, `JUnit` XML, JSON, badges and the HTML page are made from
//! these two; snapshots, `diff`, `known` and `prove` from records. Must not know `drive` or `load`; it starts nothing.

mod annotations;
mod badge;
mod build;
mod capability;
mod column;
pub mod coverage;
pub mod damages;
pub mod evidence;
mod explain;
mod file_names;
mod filters;
mod format;
pub mod history;
pub mod issue;
mod junit;
mod keywords;
pub mod known;
pub mod markdown;
mod matrix;
mod merge;
mod numbers;
mod official;
pub mod pairs;
pub mod proof;
mod rates;
mod score;
mod show;
pub mod site;
pub mod snapshot;
mod status;
mod summary;
pub mod terminal;
mod upgrade;
pub mod versus;
mod view;

pub use annotations::{Annotation, annotations};
pub use badge::badges;
pub use build::ReportContext;
pub use capability::{Answer, CapabilityCell, CapabilityRow, CapabilityRows, Reason};
use column::REFERENCE;
pub use column::{Column, SkippedTests};
pub use explain::{Breakers, expanded, explain, explain_requirement, step_in_words};
pub use format::{Cell, CheckEntry, DetailEntry, REPORT_FORMAT, Report, Sentence, TestEntry};
pub use junit::junit;
pub use keywords::{KeywordEntry, Keywords};
pub use merge::{Caveat, CaveatKind, Source, stale};
pub use numbers::Numbers;
pub use official::official;
pub use rates::{Rate, Rates, SentenceRates};
pub use score::Score;
pub use status::{Counts, Status};
pub use summary::RunSummary;
pub use upgrade::{Upgrade, UpgradeCause};
pub use view::View;

pub use crate::model::Untrusted;

#[cfg(test)]
mod tests {
    use crate::judge::samples;
    use crate::model::RequirementId;
    use crate::model::known::KnownAs;
    use crate::model::reason::{Finding, Stale};
    use crate::model::record::{FORMAT, Footer, Header, Verdict};
    use crate::model::spec::Level;
    use crate::model::verdict::VerdictKind;

    pub(super) fn header(planned: usize) -> Header {
        Header { format: FORMAT, casebook: "0".into(), planned, ..Header::default() }
    }

    pub(super) fn footer() -> Footer {
        Footer { micros: 1_500_000, ..Footer::default() }
    }

    pub(super) fn stale() -> Stale {
        let (test, reason) = ("**".to_owned(), "it is slow".to_owned());
        let (issue, url) = (None, None);
        let known = KnownAs { test, reason, short: None, issue, url, shared: false };
        Stale { target: samples::target(), requirement: RequirementId::within("f", "r"), known }
    }

    pub(super) fn verdict(kind: VerdictKind) -> Verdict {
        let mismatch = Finding::Mismatch {
            place: "outcome".to_owned(),
            expected: "success".to_owned(),
            observed: "crash".to_owned(),
        };
        Verdict {
            step: 0,
            requirement: RequirementId::within("f", "r"),
            level: Level::Must,
            kind,
            excuses: None,
            detail: vec![mismatch.into()],
            line: 7,
            known: None,
            attribution: None,
        }
    }
}
