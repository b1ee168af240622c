//! Findings, grouped by requirement: the first test in full, the others by name.
//!
//! Takes records as they come and keeps no more of each than is shown.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{BOLD, CYAN, DIM, RED, YELLOW, name};
use crate::model::record::{Record, Verdict, VerdictKind};
use crate::model::spec::Catalogue;
use crate::model::text::count;
use crate::model::transcript::{End, Party, Served, Transcript};
use crate::model::{RequirementId, TargetId};
use crate::report::Untrusted;

/// The number of tests that are named beside the first.
const NAMED: usize = 10;
/// The number of characters of a message that are shown.
const SHOWN: usize = 600;
/// The characters of any line that are shown: escaped, a message has more of them.
const LINE: usize = 6_000;
/// The number of the last lines of a process that didn't start.
const LAST_LINES: usize = 20;

/// The results that aren't plain passes.
#[derive(Default)]
pub(super) struct Findings {
    /// Violated requirements: the gravest first, then by target and requirement.
    broken: BTreeMap<(Weight, TargetId, RequirementId), Broken>,
    /// Findings that get a line each, with the number of tests.
    short: BTreeMap<(VerdictKind, TargetId, RequirementId, String), usize>,
    /// Targets that were given up, with the reason and the number of tests.
    gone: BTreeMap<(TargetId, String), usize>,
    /// Tests in which the harness itself failed, with its message.
    bugs: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Fail,
    Warn,
    Note,
}

/// The tests that violate one requirement on one target.
struct Broken {
    test: String,
    case: String,
    title: String,
    verdict: Verdict,
    evidence: Vec<(&'static str, String)>,
    others: Vec<String>,
    more: usize,
}

impl Findings {
    pub(super) fn add(&mut self, record: &Record, transcript: Option<&Transcript>) {
        if let (Some(reason), true) = (&record.observation.unavailable, record.bug) {
            self.bugs.push((name(&record.target, &record.test), reason.clone()));
        } else if let Some(reason) = &record.observation.unavailable {
            // The transcript has the whole reason.
            let reason = match transcript.map(|transcript| &transcript.served) {
                Some(Served::Unavailable { reason }) => reason,
                _ => reason,
            };
            *self.gone.entry((record.target.clone(), reason.clone())).or_default() += 1;
        }
        for verdict in &record.verdicts {
            let weight = match verdict.kind {
                VerdictKind::Fail | VerdictKind::Stale => Weight::Fail,
                VerdictKind::Warn => Weight::Warn,
                VerdictKind::Note => Weight::Note,
                VerdictKind::Error if record.observation.unavailable.is_some() => continue,
                VerdictKind::Known
                | VerdictKind::Cannot
                | VerdictKind::Flaky
                | VerdictKind::Inconclusive
                | VerdictKind::Error => {
                    let known = verdict.known.as_ref().filter(|_| verdict.kind == VerdictKind::Known);
                    let detail = verdict.detail.first().map(ToString::to_string);
                    let reason = known.map(|known| known.reason.clone()).or(detail).unwrap_or_default();
                    let key = (verdict.kind, record.target.clone(), verdict.requirement.clone(), reason);
                    *self.short.entry(key).or_default() += 1;
                    continue;
                }
                _ => continue,
            };
            let key = (weight, record.target.clone(), verdict.requirement.clone());
            let test = name(&record.target, &record.test);
            match self.broken.get_mut(&key) {
                Some(known) if known.others.len() < NAMED => known.others.push(test),
                Some(known) => known.more += 1,
                None => {
                    self.broken.insert(key, Broken::new(test, record, verdict, transcript));
                }
            }
        }
    }

    pub(super) fn print(&self, out: &mut impl Write, catalogue: &Catalogue) -> io::Result<()> {
        for ((weight, ..), broken) in &self.broken {
            broken.print(out, *weight, catalogue)?;
        }
        if !self.short.is_empty() {
            writeln!(out)?;
        }
        for ((kind, target, requirement, reason), tests) in &self.short {
            let style = if matches!(kind, VerdictKind::Known | VerdictKind::Cannot) { CYAN } else { RED };
            let which = Untrusted(&format!("{target}  {requirement}")).line(200);
            let tests = if *tests == 1 { String::new() } else { format!(" {DIM}({}){DIM:#}", count(*tests, "test")) };
            writeln!(out, "{style}{kind:>12}{style:#}  {which}: {}{tests}", Untrusted(reason).line(200))?;
        }
        for (test, reason) in &self.bugs {
            writeln!(out, "\n{RED}BUG{RED:#}   in casebook, which shows nothing of the target; please report it")?;
            field(out, "test", &shown(test))?;
            field(out, "panicked", &shown(reason))?;
        }
        for ((target, reason), tests) in &self.gone {
            writeln!(out, "\n{RED}GONE{RED:#}  {BOLD}{}{BOLD:#}", Untrusted(&target.to_string()).line(200))?;
            first_and_last(reason).iter().try_for_each(|(what, line)| field(out, what, &shown(line)))?;
            field(out, "missed", &count(*tests, "test"))?;
        }
        Ok(())
    }
}

impl Broken {
    fn new(test: String, record: &Record, verdict: &Verdict, transcript: Option<&Transcript>) -> Self {
        let (verdict, title) = (verdict.clone(), Untrusted(&record.title).line(200));
        let case = Untrusted(record.test.case.as_str()).line(200);
        let evidence = transcript.map(|transcript| evidence(transcript, &verdict)).unwrap_or_default();
        Self { test, case, title, verdict, evidence, others: Vec::new(), more: 0 }
    }

    fn print(&self, out: &mut impl Write, weight: Weight, catalogue: &Catalogue) -> io::Result<()> {
        let (word, style) = match weight {
            Weight::Fail => ("FAIL", RED),
            Weight::Warn => ("WARN", YELLOW),
            Weight::Note => ("NOTE", CYAN),
        };
        let Verdict { requirement: id, level, step, line, detail, .. } = &self.verdict;
        writeln!(out, "\n{style}{word}{style:#}  {BOLD}{}{BOLD:#}", Untrusted(id.as_str()).line(200))?;
        if let Some(requirement) = catalogue.get(id) {
            field(out, level.word(), &format!("\"{}\"", requirement.quote))?;
            field(out, "", &requirement.link())?;
            field(out, "why", &requirement.why)?;
        }
        field(out, "test", &self.test)?;
        field(out, "", &self.title)?;
        field(out, "check", &format!("{}.json:{line}, step {}", self.case, step + 1))?;
        for (index, miss) in detail.iter().enumerate() {
            field(out, if index == 0 { "missed" } else { "" }, &shown(&miss.to_string()))?;
        }
        for (what, text) in &self.evidence {
            field(out, what, text)?;
        }
        for (index, other) in self.others.iter().enumerate() {
            field(out, if index == 0 { "also" } else { "" }, other)?;
        }
        if self.more > 0 {
            field(out, "", &format!("… and {} more; see the record", self.more))?;
        }
        Ok(())
    }
}

/// A word at the left, and lines beside it, escaped.
fn field(out: &mut impl Write, what: &str, text: &str) -> io::Result<()> {
    for (index, line) in text.lines().enumerate() {
        let what = if index == 0 { what } else { "" };
        writeln!(out, "  {DIM}{what:>10}{DIM:#}  {}", Untrusted(line).line(LINE))?;
    }
    Ok(())
}

/// The last messages of the step, and its end where no answer shows it.
fn evidence(transcript: &Transcript, verdict: &Verdict) -> Vec<(&'static str, String)> {
    let Some(step) = transcript.steps.get(verdict.step) else {
        return match &transcript.served {
            Served::Refused { r#type, message } => vec![("refused", shown(&format!("{type}: {message}")))],
            Served::Failed { detail, .. } => vec![("failed", shown(detail)), ("stderr", tail(&transcript.stderr))],
            _ => Vec::new(),
        };
    };
    let last = |from| step.messages.iter().rfind(|message| message.from == from);
    let sent = last(Party::Harness).map(|message| ("sent", shown(&message.text)));
    let received = last(Party::Target).map(|message| ("received", shown(&message.text)));
    let mut evidence: Vec<_> = sent.into_iter().chain(received).collect();
    match &step.end {
        End::Crash { how: words } | End::Invalid { reason: words } => evidence.push(("ended", shown(words))),
        End::Timeout => evidence.push(("ended", "no answer within the limit".to_owned())),
        End::Http { status } => evidence.push(("ended", format!("HTTP status {status}"))),
        _ => {}
    }
    evidence.extend(step.canary.iter().take(3).map(|hit| ("fetched", shown(&hit.url))));
    if matches!(step.end, End::Crash { .. }) && !transcript.stderr.is_empty() {
        evidence.push(("stderr", tail(&transcript.stderr)));
    }
    evidence
}

/// The first line of a reason, and the last ones, which a process wrote before it died.
fn first_and_last(reason: &str) -> Vec<(&'static str, &str)> {
    let mut lines = reason.lines();
    let first = lines.next().map(|line| ("why", line));
    let rest: Vec<_> = lines.collect();
    let skipped = rest.len().saturating_sub(LAST_LINES);
    let gap = (skipped > 0).then_some(("", "…"));
    first.into_iter().chain(gap).chain(rest[skipped..].iter().map(|line| ("", *line))).collect()
}

fn shown(text: &str) -> String {
    Untrusted(text).line(SHOWN)
}

/// The last lines of standard error, which often have the reason why a process died.
fn tail(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(SHOWN);
    let end: String = text.chars().skip(skipped).collect();
    Untrusted(end.trim()).block(SHOWN)
}
