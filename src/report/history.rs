//! The history of a target: since which release each answer holds, and what each release changed.
//!
//! Takes run logs of several releases of a target, gives the runs of equal answers and the changes by cause, as text and as
//! Markdown. Names, versions and words are untrusted text. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::build::count_sentences;
use super::capability::answers;
use super::merge::{Merged, MergedTarget, merge};
use super::versus::{Versus, Way};
use super::{Answer, Column, ReportContext, Source, Untrusted};
use crate::model::TestId;
use crate::model::markdown;
use crate::model::record::Record;
use crate::model::spec::Revision;
use crate::model::text::count;

/// The number of causes of one release and direction that are shown.
const CAUSES: usize = 12;
/// The number of releases of a target that are shown.
const RELEASES: usize = 200;
/// The most characters of a name or a text.
const LINE: usize = 200;

/// The releases of one variant of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The target, with its variant.
    pub target: String,
    /// The releases, the oldest first.
    pub releases: Vec<HistoryRelease>,
    /// The questions that not all releases answer alike.
    pub questions: Vec<HistoryQuestion>,
    /// The questions that all releases answer alike once they have what the question is about.
    pub gained: Vec<HistoryGain>,
    /// The number of questions that all releases answer alike.
    pub alike: usize,
}

/// One release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRelease {
    /// Its version, without the name of the package.
    pub version: String,
    /// The day on which it was published.
    pub date: Option<String>,
    /// The versions of the packages that it was run with, of those that decide what is observed.
    pub dependencies: BTreeMap<String, String>,
    /// What is worse and what is better than in the release before, the most common cause first.
    pub changes: [Vec<HistoryChange>; 2],
}

/// Checks that changed in one release, for one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryChange {
    /// The number of checks.
    pub checks: usize,
    /// The keyword of the requirement.
    pub level: String,
    /// What happens instead, in the worse one of the two releases.
    pub words: String,
    /// The requirement.
    pub requirement: String,
}

/// A question with its answers, the newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryQuestion {
    /// The question.
    pub question: String,
    /// The runs of releases with equal answers.
    pub runs: Vec<HistoryRun>,
}

/// Questions that have one answer from a release on, and none before, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryGain {
    /// The first release with the answers.
    pub version: String,
    /// The reason why there was none before, as in `no 2026-07-28`.
    pub before: String,
    /// The questions with their answers, each with one run.
    pub questions: Vec<HistoryQuestion>,
}

/// Releases that follow each other with the same answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRun {
    /// The answer.
    pub answer: Answer,
    /// The answer in words.
    pub words: String,
    /// The oldest of them, and the newest.
    pub versions: [String; 2],
}

impl History {
    /// The histories of all targets that have several releases, each variant for itself.
    pub fn all(sources: &[Source], context: &ReportContext) -> Vec<Self> {
        let Merged { targets: mut merged, .. } = merge(sources);
        // The answers of a part of the tests are no answers of a release.
        merged.retain(|target| !target.records.is_empty() && target.column.missing == 0);
        count_sentences(&mut merged, &context.roles);
        let mut variants: BTreeMap<String, Vec<MergedTarget<'_>>> = BTreeMap::new();
        for target in merged {
            variants.entry(target.column.id.to_string()).or_default().push(target);
        }
        // The columns of a target stand in the order of its versions.
        let several = variants.into_iter().filter(|(_, releases)| releases.len() > 1);
        several.map(|(target, releases)| Self::new(target, releases, context)).collect()
    }

    fn new(target: String, mut merged: Vec<MergedTarget<'_>>, context: &ReportContext) -> Self {
        merged.drain(..merged.len().saturating_sub(RELEASES));
        for one in &mut merged {
            one.column.is_main = true;
        }
        let mut before: Option<&MergedTarget<'_>> = None;
        let releases = merged.iter().map(|one| {
            let changes = before.replace(one).map(|before| changes(&before.records, &one.records, context));
            let (version, date) = (version(&one.column).to_owned(), one.column.date.clone());
            let dependencies = one.column.dependencies.clone();
            HistoryRelease { version, date, dependencies, changes: changes.unwrap_or_default() }
        });
        let releases = releases.collect();
        let whole = rows(&merged, context);
        // A release that speaks a further revision is asked more, which changes no answer.
        let mut common: BTreeSet<Revision> = Revision::all().collect();
        for one in &merged {
            common.retain(|revision| one.column.revisions.contains(revision));
        }
        for one in &mut merged {
            one.records.retain(|test, _| common.contains(&test.revision));
        }
        let (mut questions, mut gained) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        let mut alike = 0;
        for (compared, whole) in rows(&merged, context).into_iter().zip(whole) {
            let (question, runs) = compared;
            let is_asked = runs.iter().any(|run| run.answer.is_decided() || run.answer == Answer::Author);
            match (is_asked, runs.len(), whole.1.as_slice()) {
                (true, 1, _) => alike += 1,
                (true, ..) => questions.push(HistoryQuestion { question, runs }),
                (false, _, [now, before]) if before.answer == Answer::Absent && now.answer.is_decided() => {
                    let key = (now.versions[0].clone(), before.words.clone());
                    gained.entry(key).or_default().push(HistoryQuestion { question, runs: vec![now.clone()] });
                }
                _ => {}
            }
        }
        let gained =
            gained.into_iter().map(|((version, before), questions)| HistoryGain { version, before, questions });
        Self { target, releases, questions, gained: gained.collect(), alike }
    }

    /// The heading: the target, with its first and its last release.
    fn title(&self) -> String {
        let ends = [self.releases.first(), self.releases.last()];
        let [first, last] = ends.map(|one| one.map(|one| one.version.as_str()).unwrap_or_default());
        format!("{}, {first} to {last} ({})", self.target, count(self.releases.len(), "release"))
    }

    /// The history as text for a terminal.
    pub fn text(&self) -> String {
        let plain = |text: &str| Untrusted(text).line(LINE);
        let mut out = format!("{}\n\nsince when\n", plain(&self.title()));
        for question in &self.questions {
            out += &format!("  {}\n", plain(&question.question));
            out.extend(question.runs.iter().map(|run| format!("      {}\n", plain(&run.text()))));
        }
        for gain in &self.gained {
            out += &format!("  {}\n", plain(&gain.title()));
            out.extend(gain.questions.iter().map(|question| format!("      {}\n", plain(&question.line()))));
        }
        out += &format!("  {}\n\nwhat each release changed\n", self.rest());
        for (release, before) in self.with_before() {
            out += &format!("  {}\n", plain(&release.title(before)));
            for (way, changes) in [Way::Worse, Way::Better].iter().zip(&release.changes) {
                for change in changes.iter().take(CAUSES) {
                    let HistoryChange { checks, level, words, requirement } = change;
                    out += &format!(
                        "    {way:<7}{checks:>5}  {level:<10}  {}\n",
                        plain(&format!("{words}  {requirement}"))
                    );
                }
                let more = changes.len().saturating_sub(CAUSES);
                out += &if more > 0 { format!("    … and {more} more causes\n") } else { String::new() };
            }
        }
        out
    }

    /// The history as Markdown, one table for the questions and one for the releases.
    pub fn markdown(&self) -> String {
        let text = |text: &str| markdown::text(text, LINE);
        let mut out = format!("## {}\n\n", text(&self.title()));
        if !self.questions.is_empty() {
            out += "| Question | Since when |\n| --- | --- |\n";
        }
        for question in &self.questions {
            let runs: Vec<_> = question.runs.iter().map(HistoryRun::markdown).collect();
            out += &format!("| {} | {} |\n", text(&question.question), runs.join("<br>"));
        }
        for gain in &self.gained {
            let lines: Vec<_> = gain.questions.iter().map(|question| text(&question.line())).collect();
            out += &format!("\n{}:\n\n- {}\n", text(&gain.title()), lines.join("\n- "));
        }
        out += &format!("\n{}.\n\n| Release | Worse | Better: no longer |\n| --- | --- | --- |\n", self.rest());
        for (release, before) in self.with_before() {
            let cells = release.changes.each_ref().map(|changes| {
                let shown = changes.iter().take(CAUSES).map(|change| {
                    let HistoryChange { checks, level, words, .. } = change;
                    text(&format!("{words} ({level}, {})", count(*checks, "check")))
                });
                let more = changes.len().saturating_sub(CAUSES);
                shown.chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>().join("<br>")
            });
            out += &format!("| {} | {} |\n", text(&release.title(before)), cells.join(" | "));
        }
        out + "\n"
    }

    /// The releases, the newest first, each with the one before it.
    fn with_before(&self) -> impl Iterator<Item = (&HistoryRelease, Option<&HistoryRelease>)> {
        let before = self.releases.iter().rev().skip(1).map(Some).chain([None]);
        self.releases.iter().rev().zip(before)
    }

    /// The number of questions that are not shown, in words.
    fn rest(&self) -> String {
        format!("all of these releases answer {} alike", count(self.alike, "other question"))
    }
}

impl HistoryRelease {
    fn title(&self, before: Option<&Self>) -> String {
        let date = self.date.as_ref().map(|date| format!("  {date}"));
        let after = before.map(|before| format!(", after {}", before.version));
        let other = before.map(|before| self.other_dependencies(before)).unwrap_or_default();
        format!("{}{}{}{other}", self.version, date.unwrap_or_default(), after.unwrap_or_default())
    }

    /// The dependencies of which the release before was run with another version: a change may be theirs.
    fn other_dependencies(&self, before: &Self) -> String {
        let other = self.dependencies.iter().filter_map(|(name, now)| {
            let was = before.dependencies.get(name).filter(|was| *was != now)?;
            Some(format!("; {name} {was} → {now}"))
        });
        other.collect()
    }
}

impl HistoryGain {
    fn title(&self) -> String {
        format!("since {}, and before: {}", self.version, self.before)
    }
}

impl HistoryQuestion {
    /// The question with the answer of its only run.
    fn line(&self) -> String {
        let answer = self.runs.first().map(|run| (run.answer.mark(), run.words.as_str()));
        let (mark, words) = answer.unwrap_or_default();
        format!("{mark} {} {words}", self.question)
    }
}

impl HistoryRun {
    fn span(&self) -> String {
        let [from, to] = &self.versions;
        if from == to { from.clone() } else { format!("{from} to {to}") }
    }

    /// The answer with its releases, in one line.
    pub(super) fn text(&self) -> String {
        format!("{} {}: {}", self.answer.mark(), self.span(), self.words)
    }

    fn markdown(&self) -> String {
        let [span, words] = [&self.span(), &self.words].map(|text| markdown::text(text, LINE));
        format!("{} **{span}** {words}", self.answer.mark())
    }
}

/// The questions with the runs of equal answers of some releases.
fn rows(merged: &[MergedTarget<'_>], context: &ReportContext) -> Vec<(String, Vec<HistoryRun>)> {
    let rows = answers(context, merged).into_iter().flat_map(|group| group.capabilities);
    rows.map(|row| {
        let columns = merged.iter().map(|one| &one.column);
        (row.question, runs(columns.zip(&row.answers)))
    })
    .collect()
}

/// The runs of equal answers, the newest first.
pub(super) fn runs<'r>(answers: impl Iterator<Item = (&'r Column, &'r super::CapabilityCell)>) -> Vec<HistoryRun> {
    let mut runs: Vec<HistoryRun> = Vec::new();
    for (column, cell) in answers {
        let version = version(column).to_owned();
        match runs.last_mut().filter(|run| (run.answer, &run.words) == (cell.answer, &cell.words)) {
            Some(run) => run.versions[1] = version,
            None => runs.push(HistoryRun {
                answer: cell.answer,
                words: cell.words.clone(),
                versions: [version.clone(), version],
            }),
        }
    }
    runs.reverse();
    runs
}

/// What is worse, and what is better, in the second of two releases.
fn changes(
    before: &BTreeMap<TestId, &Record>,
    after: &BTreeMap<TestId, &Record>,
    context: &ReportContext,
) -> [Vec<HistoryChange>; 2] {
    let versus = Versus::new(before.values().copied(), after.values().copied());
    let causes = versus.causes(&context.catalogue);
    [Way::Worse, Way::Better].map(|way| {
        let of_way = causes.iter().filter(|cause| cause.way == way);
        let change = of_way.map(|cause| {
            let requirement = cause.requirement.map(ToString::to_string).unwrap_or_default();
            let level = cause.requirement.and_then(|id| context.catalogue.get(id)).map(|known| known.level.to_string());
            let (checks, words) = (cause.changes.len(), cause.words.to_owned());
            HistoryChange { checks, level: level.unwrap_or_default(), words, requirement }
        });
        change.collect()
    })
}

fn version(column: &Column) -> &str {
    let version = column.version.as_deref().unwrap_or("of no known version");
    version.rsplit_once(' ').filter(|_| column.version.is_some()).map_or(version, |(_, version)| version)
}
