//! The findings of each target: an overview, then the worst of them with the evidence of their first test.
//!
//! Takes records as they come. Of each finding it keeps one test in full, a few names and counts, so that memory does
//! not grow with the number of tests. Must not know where records come from.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::evidence::{Labelled, SHOWN, evidence, line, lines};
use super::{BOLD, DIM, RED, name, padded, style, widest};
use crate::model::case::Library;
use crate::model::record::{Record, Verdict};
use crate::model::spec::{Catalogue, Harm, Revision, Role};
use crate::model::text::{count, grouped, quotation};
use crate::model::transcript::{Served, Transcript};
use crate::model::verdict::VerdictKind;
use crate::model::{CaseId, RequirementId, TargetId};
use crate::report::{Status, Untrusted};

/// A target with more findings than this gets an overview of them.
const FEW: usize = 5;
/// The number of rows of an overview.
const ROWS: usize = 40;
/// The number of unexpected findings of a target that are shown in full.
const IN_FULL: usize = 20;
/// The number of tests of a finding that are named beside the first.
const NAMED: usize = 4;
/// The number of reasons of each target and status that are listed, unless each is.
const REASONS: usize = 10;
/// The characters of any line that are shown: escaped, a message has more of them.
const LINE: usize = 6_000;

/// The extent of the output.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// Show each finding in full, and each reason.
    pub(super) is_verbose: bool,
    /// Tests that the adapter cannot express are unexpected.
    pub(super) is_strict: bool,
}

/// All results that are not passes.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The case files that test clients; all others test servers.
    clients: BTreeSet<CaseId>,
    found: BTreeMap<Key, Finding>,
    /// Verdicts that are listed by their reasons only.
    reasons: BTreeMap<(VerdictKind, String, String), Reason>,
    /// Targets that were given up, with the reason and the number of tests.
    given_up: BTreeMap<(TargetId, String), usize>,
    /// Tests in which the harness itself failed, with its message.
    bugs: Vec<(String, String)>,
}

/// The name of a finding: all variants of a target share one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    target: String,
    status: Reverse<Status>,
    role: Role,
    requirement: RequirementId,
}

/// The tests that violate one requirement on one target.
#[derive(Debug)]
struct Finding {
    /// The first test.
    test: String,
    case: String,
    title: String,
    revision: Revision,
    verdict: Verdict,
    evidence: Vec<Labelled>,
    /// The names of the next few tests of the same variant.
    others: Vec<String>,
    /// The number of tests by variant.
    tests: BTreeMap<Option<String>, usize>,
}

/// The verdicts that have one reason in common.
#[derive(Debug, Default)]
struct Reason {
    requirements: BTreeSet<RequirementId>,
    variants: BTreeSet<Option<String>>,
    tests: usize,
}

impl Findings {
    pub(super) fn new(library: &Library) -> Self {
        let clients = library.cases.iter().filter(|case| case.role == Role::Client);
        Self { clients: clients.map(|case| case.id.clone()).collect(), ..Self::default() }
    }

    pub(super) fn add(&mut self, record: &Record, transcript: Option<&Transcript>) {
        if let (Some(reason), true) = (&record.observation.unavailable, record.bug) {
            self.bugs.push((name(&record.target, &record.test), reason.clone()));
        } else if let Some(reason) = &record.observation.unavailable {
            // The transcript has the whole reason.
            let reason = match transcript.map(|transcript| &transcript.served) {
                Some(Served::Unavailable { reason }) => reason,
                _ => reason,
            };
            *self.given_up.entry((record.target.clone(), reason.clone())).or_default() += 1;
        }
        let role = if self.clients.contains(&record.test.case) { Role::Client } else { Role::Server };
        let TargetId { name: target, variant } = &record.target;
        let mut seen = BTreeSet::new();
        for verdict in &record.verdicts {
            let status = match verdict.kind {
                VerdictKind::Fail
                | VerdictKind::Stale
                | VerdictKind::Warn
                | VerdictKind::Note
                | VerdictKind::NotAdopted => Status::from(verdict.kind),
                VerdictKind::Error if record.observation.unavailable.is_some() => continue,
                VerdictKind::Known
                | VerdictKind::KnownInconclusive
                | VerdictKind::Author
                | VerdictKind::NotAsked
                | VerdictKind::Cannot
                | VerdictKind::Flaky
                | VerdictKind::Inconclusive
                | VerdictKind::Error => {
                    let known = verdict.known.as_ref().filter(|_| verdict.excuses.is_some());
                    let detail = verdict.detail.first().map(ToString::to_string);
                    let reason = known.map(|known| known.reason.clone()).or(detail).unwrap_or_default();
                    let entry = self.reasons.entry((verdict.kind, target.clone(), reason)).or_default();
                    entry.requirements.insert(verdict.requirement.clone());
                    entry.variants.insert(variant.clone());
                    entry.tests += 1;
                    continue;
                }
                VerdictKind::Pass
                | VerdictKind::Allowed
                | VerdictKind::Taken
                | VerdictKind::NotTaken
                | VerdictKind::Adopted => continue,
            };
            let requirement = verdict.requirement.clone();
            let key = Key { target: target.clone(), status: Reverse(status), role, requirement };
            // Several steps of a test may check one requirement.
            if !seen.insert(key.clone()) {
                continue;
            }
            let finding = self.found.entry(key).or_insert_with(|| Finding::new(record, verdict, transcript));
            let is_first_variant = finding.tests.is_empty() || finding.tests.keys().eq([variant]);
            let tests = finding.tests.entry(variant.clone()).or_default();
            if *tests > 0 && is_first_variant && finding.others.len() < NAMED {
                finding.others.push(Untrusted(&record.test.to_string()).line(300));
            }
            *tests += 1;
        }
    }

    pub(super) fn print(&self, out: &mut impl Write, catalogue: &Catalogue, extent: Extent) -> io::Result<()> {
        let mut by_target: BTreeMap<&str, Vec<(&Key, &Finding)>> = BTreeMap::new();
        for (key, finding) in &self.found {
            by_target.entry(&key.target).or_default().push((key, finding));
        }
        for (target, mut findings) in by_target {
            let is_grave = |key: &Key| gravity(catalogue, key).is_grave();
            // Harm to users comes first, whatever the level of the sentence.
            findings.sort_by_key(|(key, _)| (!is_grave(key), key.status, gravity(catalogue, key), *key));
            let is_long = findings.len() > FEW;
            if is_long {
                overview(out, target, &findings, catalogue, extent)?;
            }
            let needs_evidence = |key: &Key| is_grave(key) || key.status.0.is_unexpected(extent.is_strict);
            let in_full = match findings.iter().filter(|(key, _)| needs_evidence(key)).count() {
                _ if extent.is_verbose || !is_long => findings.len(),
                needed => needed.min(IN_FULL),
            };
            for (key, finding) in &findings[..in_full] {
                finding.print(out, key, catalogue, extent)?;
            }
            if in_full < findings.len() {
                let left = count(findings.len() - in_full, if in_full > 0 { "other finding" } else { "finding" });
                let target = shown(target);
                writeln!(out, "\n{DIM}the evidence of {left} of {target} is not shown; --verbose shows it{DIM:#}")?;
            }
        }
        self.print_reasons(out, extent)?;
        for (test, reason) in &self.bugs {
            let words = "a bug of casebook, which says nothing about the target; please report it";
            writeln!(out, "\n{RED}error{RED:#}  {words}")?;
            field(out, "test", &line(test))?;
            field(out, "panicked", &lines(reason))?;
        }
        for ((target, reason), tests) in &self.given_up {
            let target = shown(&target.to_string());
            let tests = count(*tests, "test");
            writeln!(
                out,
                "\n{RED}error{RED:#}  {BOLD}{target}{BOLD:#}  {DIM}given up; {tests} without a result{DIM:#}"
            )?;
            field(out, "reason", &lines(reason))?;
        }
        Ok(())
    }

    /// Prints a line for each reason of known failures, tests that were not asked, and the like.
    fn print_reasons(&self, out: &mut impl Write, extent: Extent) -> io::Result<()> {
        let mut groups: BTreeMap<(VerdictKind, &str), Vec<(&str, &Reason)>> = BTreeMap::new();
        for ((kind, target, text), reason) in &self.reasons {
            groups.entry((*kind, target)).or_default().push((text, reason));
        }
        if !groups.is_empty() {
            writeln!(out)?;
        }
        for ((kind, target), mut reasons) in groups {
            let (status, style) = (Status::from(kind), style(kind.into()));
            let most = match status {
                _ if extent.is_verbose => usize::MAX,
                _ if status.is_unexpected(extent.is_strict) => REASONS,
                // Expected results are listed if they are few, and only counted otherwise.
                _ if reasons.len() > FEW => 0,
                _ => FEW,
            };
            reasons.sort_by_key(|(_, reason)| Reverse(reason.tests));
            for (text, Reason { requirements, variants, tests }) in reasons.iter().take(most) {
                let first = requirements.first().map(ToString::to_string).unwrap_or_default();
                let more = match requirements.len() {
                    0 | 1 => String::new(),
                    several => format!(" and {} more", several - 1),
                };
                let whose = match variants.iter().collect::<Vec<_>>().as_slice() {
                    [Some(variant)] => format!("{target}:{variant}"),
                    _ => target.to_owned(),
                };
                let tests =
                    if *tests == 1 { String::new() } else { format!(" {DIM}({}){DIM:#}", count(*tests, "check")) };
                let text = Untrusted(&text.split_whitespace().collect::<Vec<_>>().join(" ")).line(200);
                writeln!(
                    out,
                    "{style}{status:>12}{style:#}  {}: {text}{tests}",
                    shown(&format!("{whose}  {first}{more}"))
                )?;
            }
            if most < reasons.len() {
                let tests: usize = reasons.iter().skip(most).map(|(_, reason)| reason.tests).sum();
                let left = reasons.len() - most;
                let left = if most == 0 { count(left, "reason") } else { count(left, "more reason") };
                let text = format!("{left} for {}; --verbose lists them", count(tests, "check"));
                writeln!(out, "{style}{status:>12}{style:#}  {}: {text}", shown(target))?;
            }
        }
        Ok(())
    }
}

/// The harm of a finding.
fn gravity(catalogue: &Catalogue, key: &Key) -> Harm {
    catalogue.get(&key.requirement).map_or(Harm::None, |requirement| requirement.harm)
}

/// Prints a row for each finding of a target.
fn overview(
    out: &mut impl Write,
    target: &str,
    findings: &[(&Key, &Finding)],
    catalogue: &Catalogue,
    extent: Extent,
) -> io::Result<()> {
    let mut counts: BTreeMap<Reverse<Status>, usize> = BTreeMap::new();
    for (key, _) in findings {
        *counts.entry(key.status).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(status, findings)| format!("{findings} {}", status.0)).collect();
    let all = count(findings.len(), "finding");
    writeln!(out, "\n{BOLD}{}{BOLD:#}  {all}, the worst first: {}\n", shown(target), counts.join(", "))?;
    let most = if extent.is_verbose { findings.len() } else { ROWS };
    let rows = findings.iter().take(most).map(|(key, finding)| {
        let harm = catalogue.get(&key.requirement).map_or("", |requirement| requirement.harm.word());
        [
            finding.verdict.level.to_string(),
            harm.to_owned(),
            Untrusted(key.requirement.as_str()).line(100),
            key.role.to_string(),
            grouped(finding.all()),
            finding.variants(),
        ]
    });
    let heads = ["level", "harm", "requirement", "tested", "tests", "variants"].map(ToOwned::to_owned);
    let mut rows: Vec<_> = std::iter::once(heads).chain(rows).collect();
    if rows[1..].iter().all(|row| row[5].is_empty()) {
        rows[0][5].clear();
    }
    let widths: [usize; 6] = std::array::from_fn(|place| widest(rows.iter().map(|row| &row[place])));
    for (place, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(place, (cell, width))| match place {
                4 => format!("{cell:>width$}"),
                _ => padded(cell, width),
            })
            .collect();
        let cells = cells.join("  ");
        match place.checked_sub(1) {
            None => writeln!(out, "  {DIM}{:>8}  {}{DIM:#}", "", cells.trim_end())?,
            Some(place) => {
                let status = findings[place].0.status.0;
                let style = style(status);
                writeln!(out, "  {style}{status:>8}{style:#}  {}", cells.trim_end())?;
            }
        }
    }
    match findings.len().saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(out, "  {DIM}{:>8}  and {more} more; --verbose lists them{DIM:#}", ""),
    }
}

impl Finding {
    fn new(record: &Record, verdict: &Verdict, transcript: Option<&Transcript>) -> Self {
        Self {
            test: name(&record.target, &record.test),
            case: Untrusted(record.test.case.as_str()).line(200),
            title: Untrusted(&record.title).line(200),
            revision: record.test.revision,
            verdict: verdict.clone(),
            evidence: transcript.map(|transcript| evidence(transcript, verdict, SHOWN)).unwrap_or_default(),
            others: Vec::new(),
            tests: BTreeMap::new(),
        }
    }

    /// The number of tests of all variants.
    fn all(&self) -> usize {
        self.tests.values().sum()
    }

    /// `high, low`; empty for a target without variants.
    fn variants(&self) -> String {
        let variants: Vec<_> = self.tests.keys().flatten().map(|variant| Untrusted(variant).line(60)).collect();
        variants.join(", ")
    }

    fn print(&self, out: &mut impl Write, key: &Key, catalogue: &Catalogue, extent: Extent) -> io::Result<()> {
        let (status, style) = (key.status.0, style(key.status.0));
        let Verdict { requirement: id, level, step, line: at, detail, .. } = &self.verdict;
        let tests = count(self.all(), "test");
        let variants = if self.tests.len() > 1 { format!("; variants {}", self.variants()) } else { String::new() };
        let requirement = catalogue.get(id);
        let grave = requirement.filter(|requirement| requirement.harm.is_grave());
        let harm = grave.map(|requirement| format!("; harm {}", requirement.harm)).unwrap_or_default();
        let about = format!("{}; {tests}{variants}{harm}", key.role);
        writeln!(out, "\n{style}{status}{style:#}  {BOLD}{}{BOLD:#}  {DIM}{about}{DIM:#}", shown(id.as_str()))?;
        if let Some(requirement) = requirement {
            let statement = requirement.on(self.revision);
            field(out, level.word(), &quotation(statement.quote))?;
            field(out, "", &statement.link())?;
            field(out, "why", &requirement.why)?;
            requirement.fix.as_deref().map_or(Ok(()), |fix| field(out, "fix", fix))?;
        }
        field(out, "test", &self.test)?;
        field(out, "", &self.title)?;
        field(out, "check", &format!("{}.json:{at}, step {}", self.case, step + 1))?;
        for (index, miss) in detail.iter().enumerate() {
            field(out, if index == 0 { "reason" } else { "" }, &lines(&miss.to_string()))?;
        }
        for (label, text) in &self.evidence {
            field(out, label, text)?;
        }
        for (index, other) in self.others.iter().enumerate() {
            field(out, if index == 0 { "also" } else { "" }, other)?;
        }
        let more = self.all() - 1 - self.others.len();
        if more > 0 {
            let label = if self.others.is_empty() { "also" } else { "" };
            let tip = if extent.is_verbose { "" } else { "; --verbose lists every test" };
            field(out, label, &format!("{} more{tip}", grouped(more)))?;
        }
        Ok(())
    }
}

/// A label at the left, and lines beside it, escaped.
fn field(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    for (index, line) in text.lines().enumerate() {
        let label = if index == 0 { label } else { "" };
        writeln!(out, "  {DIM}{label:>10}{DIM:#}  {}", Untrusted(line).line(LINE))?;
    }
    Ok(())
}

fn shown(name: &str) -> String {
    Untrusted(name).line(200)
}
