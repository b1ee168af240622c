//! The display of an encounter with a client that nobody drives: its sessions, the findings and the numbers.
//!
//! Takes the summaries of the sessions and the judged tests, gives lines of text. Text of the client is
//! escaped here. Must not know how the client was started, or how its messages are judged.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::evidence::lines;
use super::findings::{Extent, Findings};
use super::{BOLD, DIM, GREEN, RED};
use crate::model::case::Library;
use crate::model::encounter::SessionSummary;
use crate::model::record::{Record, Verdict};
use crate::model::text::count;
use crate::model::transcript::Transcript;
use crate::model::verdict::{Meaning, VerdictKind};
use crate::model::{RequirementId, Untrusted};

/// The characters of a line that are shown.
const LINE: usize = 400;
/// The sessions that are shown.
const SESSIONS: usize = 8;

/// An encounter, judged.
#[derive(Clone, Copy, Debug)]
pub struct EncounterView<'a> {
    /// The case, and the reason for which the encounter ended, in words.
    pub head: [&'a str; 2],
    /// The sessions.
    pub sessions: &'a [SessionSummary],
    /// The judged tests.
    pub records: &'a [(Record, Transcript)],
    /// The output of the client with its names, where it explains the end.
    pub output: &'a [(&'static str, String)],
}

/// The requirements of an encounter by their result.
#[derive(Debug, Default)]
pub struct Tally {
    /// Those of level MUST that are violated.
    pub failed: BTreeSet<RequirementId>,
    /// Other checks that do not hold.
    pub weaker: BTreeSet<RequirementId>,
    /// Those of which each decided check holds.
    pub held: BTreeSet<RequirementId>,
    /// Those of which no check was decided.
    pub open: BTreeSet<RequirementId>,
}

impl Tally {
    /// Counts the requirements of some records.
    pub fn of(records: &[(Record, Transcript)]) -> Self {
        let mut tally = Self::default();
        for verdict in records.iter().flat_map(|(record, _)| &record.verdicts) {
            let set = match verdict.kind.meaning() {
                Meaning::Broken if verdict.kind == VerdictKind::Fail => &mut tally.failed,
                Meaning::Broken => &mut tally.weaker,
                Meaning::Holds | Meaning::Option => &mut tally.held,
                Meaning::Undecided | Meaning::Aside => &mut tally.open,
            };
            set.insert(verdict.requirement.clone());
        }
        tally.weaker.retain(|one| !tally.failed.contains(one));
        tally.held.retain(|one| !tally.failed.contains(one) && !tally.weaker.contains(one));
        tally.open.retain(|one| ![&tally.failed, &tally.weaker, &tally.held].iter().any(|set| set.contains(one)));
        tally
    }
}

/// Prints an encounter.
pub(super) fn print(out: &mut impl Write, library: &Library, view: EncounterView<'_>) -> io::Result<()> {
    let EncounterView { head: [case, end], sessions, records, output } = view;
    field(out, "case", case)?;
    field(out, "client", end)?;
    for (label, text) in output {
        for (index, line) in lines(text).lines().enumerate() {
            field(out, if index == 0 { label } else { "" }, line)?;
        }
    }
    for session in sessions.iter().take(SESSIONS) {
        self::session(out, session)?;
    }
    if sessions.len() > SESSIONS {
        field(out, "", &format!("and {}", count(sessions.len() - SESSIONS, "more session")))?;
    }
    let tally = Tally::of(records);
    let mut findings = Findings::new(library);
    for (record, transcript) in records {
        // The reason why a check is open says nothing where another check of the same requirement is decided.
        let is_shown = |verdict: &&Verdict| verdict.kind.is_decided() || tally.open.contains(&verdict.requirement);
        let verdicts = record.verdicts.iter().filter(is_shown).cloned().collect();
        findings.add(&Record { verdicts, ..record.clone() }, Some(transcript));
    }
    findings.print(out, &library.requirements, Extent { is_verbose: true, is_strict: false })?;
    if !tally.held.is_empty() {
        writeln!(out)?;
    }
    for id in &tally.held {
        let level = library.requirements.get(id).map_or("", |one| one.level.word());
        writeln!(out, "{GREEN}{:>12}{GREEN:#}  {} {DIM}{level}{DIM:#}", "passed", Untrusted(id.as_str()).line(LINE))?;
    }
    let numbers = [
        (tally.failed.len(), "violated"),
        (tally.weaker.len(), "below MUST not met"),
        (tally.held.len(), "passed"),
        (tally.open.len(), "not decided"),
    ];
    let numbers: Vec<_> = numbers
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let style = if tally.failed.is_empty() { GREEN } else { RED };
    let numbers = if numbers.is_empty() { "nothing to decide".to_owned() } else { numbers.join(", ") };
    writeln!(out, "\n{style}{BOLD}requirements{BOLD:#}{style:#}: {numbers}")?;
    out.flush()
}

fn session(out: &mut impl Write, session: &SessionSummary) -> io::Result<()> {
    let SessionSummary { revision, named, client, capabilities, methods, tools, headers, refused, unreadable } =
        session;
    let revision = match (revision, named) {
        (Some(revision), _) => revision.to_string(),
        (None, Some(named)) => format!("no common revision; the client named `{named}`"),
        (None, None) => "no revision named".to_owned(),
    };
    let client = client.as_ref().map_or_else(|| "no name".to_owned(), Clone::clone);
    field(out, "session", &format!("{revision}; {client}"))?;
    let times = |all: &[(String, usize)]| {
        let all: Vec<_> = all.iter().map(|(name, number)| format!("{name} {number}×")).collect();
        all.join(", ")
    };
    let called = if tools.is_empty() { String::new() } else { format!(" (tools: {})", times(tools)) };
    if !methods.is_empty() {
        field(out, "sent", &format!("{}{called}", times(methods)))?;
    }
    let wrong = [(*refused, "request answered with an error"), (*unreadable, "message that is no JSON-RPC message")];
    for (number, what) in wrong.into_iter().filter(|(number, _)| *number > 0) {
        let what =
            if number == 1 { what.to_owned() } else { what.replacen(' ', "s ", 1).replace("that is", "that are") };
        field(out, "", &format!("{number} {what}"))?;
    }
    if let Some(capabilities) = capabilities {
        field(out, "declared", capabilities)?;
    }
    for (index, (name, values)) in headers.iter().enumerate() {
        field(out, if index == 0 { "headers" } else { "" }, &format!("{name}: {}", values.join(" | ")))?;
    }
    Ok(())
}

/// A label at the left, and a text beside it, escaped.
fn field(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {DIM}{label:>10}{DIM:#}  {}", Untrusted(text).line(LINE))
}
