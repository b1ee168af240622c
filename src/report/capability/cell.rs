//! Checks → the answer of one target to one question.
//!
//! Counts checks by what they say of the question, and chooses the words of the most common cause. Pure. It must not know
//! other targets.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde_json::Value;

use super::{Answer, Asked, CapabilityCell, EVIDENCE, Reason, WORDS};
use crate::model::capability::{Capability, Decider, Lacking, Unasked, UnaskedAnswer};
use crate::model::case::Need;
use crate::model::known::KnownAs;
use crate::model::reason::{Finding, SkipReason};
use crate::model::record::{Record, Verdict};
use crate::model::spec::{Harm, Level, Requirement, Role};
use crate::model::text::shortened;
use crate::model::verdict::{Meaning, VerdictKind};
use crate::report::{Column, ReportContext};

/// The bytes of a sentence or an address that are kept.
const TEXT: usize = 400;
/// The number of reasons of a cell, while its checks are counted and after that, and of the tests of each.
const COUNTED: usize = 100;
const REASONS: usize = 12;
const TESTS: usize = 3;
/// The number of checks of which one may fail in an answer that is nearly right.
const RARE: usize = 20;
/// The ranks of reasons that are no failures: an option, the author's duty, an API that cannot express it, a control that
/// fails, and an alternative by which there is nothing to check.
const OPTION: u8 = 4;
const AUTHOR: u8 = 5;
const CANNOT: u8 = 6;
const CONTROL: u8 = 7;
const UNASKED: u8 = 8;

/// Returns whether the name of an alternative is short enough for a cell.
fn is_brief(words: &str) -> bool {
    words.split_whitespace().count() <= 6
}

impl From<Lacking> for Answer {
    fn from(lacking: Lacking) -> Self {
        match lacking {
            Lacking::Nothing => Self::Absent,
            Lacking::No => Self::Wrong,
            Lacking::ByHand => Self::Author,
        }
    }
}

/// A check of a test that decides a question.
#[derive(Clone, Copy)]
pub(super) struct Check<'r> {
    pub(super) verdict: &'r Verdict,
    pub(super) requirement: Option<&'r Requirement>,
    pub(super) record: &'r Record,
    pub(super) decider: &'r Decider,
    pub(super) unasked: Option<&'r Unasked>,
    pub(super) controls: &'r Controls<'r>,
}

/// The first check of each test of a column that fails, and the first that was not asked, by the id of the test.
pub(super) struct Controls<'r> {
    broken: HashMap<String, Cause<'r>>,
    not_asked: HashMap<String, &'r Verdict>,
}

/// The cause for which a check was not asked.
#[derive(Clone, Copy)]
enum Cause<'r> {
    /// A check of the control fails, which is the test with this index.
    Control(&'r Verdict, Option<&'r Requirement>, usize),
    /// An alternative holds by which there is nothing to check.
    Alternative(&'r str),
    Unknown,
}

/// The words and the source of a reason.
#[derive(Default)]
struct Told<'r> {
    short: Option<&'r str>,
    known: Option<&'r KnownAs>,
    text: Option<&'r str>,
    harm: Option<Harm>,
}

impl<'r> Controls<'r> {
    /// Reads the records of a column. Its first test has the index `first`.
    pub(super) fn new(records: impl Iterator<Item = &'r Record>, first: usize, context: &'r ReportContext) -> Self {
        let mut controls = Self { broken: HashMap::new(), not_asked: HashMap::new() };
        for (record, test) in records.zip(first..) {
            let id = || record.test.to_string();
            if let Some(verdict) = record.verdicts.iter().find(|verdict| verdict.kind.is_broken()) {
                let requirement = context.catalogue.get(&verdict.requirement);
                controls.broken.insert(id(), Cause::Control(verdict, requirement, test));
            } else if let Some(verdict) = record.verdicts.iter().find(|one| one.kind == VerdictKind::NotAsked) {
                controls.not_asked.insert(id(), verdict);
            }
        }
        controls
    }

    /// Follows the controls of a check to the cause for which it was not asked.
    fn cause(&self, verdict: &'r Verdict, record: &Record) -> Cause<'r> {
        const LONGEST: usize = 5;
        let (test, path) = (record.test.to_string(), record.test.path());
        let of = |control: &str| format!("{control}{}", test.strip_prefix(&path).unwrap_or_default());
        let mut verdict = verdict;
        for _ in 0..LONGEST {
            let next = verdict.detail.iter().find_map(|detail| match &detail.finding {
                Finding::ControlFailed { control } => {
                    Some(Err(self.broken.get(&of(control)).copied().unwrap_or(Cause::Unknown)))
                }
                Finding::NotAsked { reason } => Some(Err(Cause::Alternative(reason))),
                Finding::ControlNotAsked { control } => self.not_asked.get(&of(control)).map(|verdict| Ok(*verdict)),
                _ => None,
            });
            match next {
                Some(Ok(control)) => verdict = control,
                Some(Err(cause)) => return cause,
                None => break,
            }
        }
        Cause::Unknown
    }
}

impl<'r> Check<'r> {
    /// The words of a check that does not hold: those of the known failure, of the question, or of the requirement.
    fn told(&self, verdict: &'r Verdict, requirement: Option<&'r Requirement>) -> Told<'r> {
        let known = verdict.known.as_ref().filter(|_| verdict.excuses.is_some());
        let own = self.decider.short.as_deref().filter(|_| std::ptr::eq(verdict, self.verdict));
        let short = known.and_then(|known| known.short.as_deref()).or(own);
        let short = short.or_else(|| requirement.and_then(|requirement| requirement.short.as_deref()));
        Told { short, known, text: None, harm: requirement.map(|requirement| requirement.harm) }
    }
}

impl CapabilityCell {
    /// Counts a check of a test, which is the one with this index.
    pub(super) fn add(&mut self, check: Check<'_>, test: usize) {
        let Check { verdict, requirement, .. } = check;
        self.seen += 1;
        let kind = verdict.kind;
        let rank = match (kind.meaning(), verdict.level) {
            (Meaning::Holds, _) => None,
            (Meaning::Option, _) if matches!(kind, VerdictKind::Taken | VerdictKind::Adopted) => None,
            (Meaning::Option, _) => Some(OPTION),
            (Meaning::Broken, Level::Must | Level::MustNot) => Some(0),
            (Meaning::Broken, Level::Should | Level::ShouldNot) => Some(1),
            (Meaning::Broken, Level::Derived) => Some(2),
            (Meaning::Broken, Level::May) => Some(3),
            (Meaning::Undecided | Meaning::Aside, _) => return self.set_aside(check, test),
        };
        self.decided += 1;
        let Some(rank) = rank else {
            self.held += 1;
            self.example.get_or_insert(test);
            return;
        };
        self.reason(rank, &check.told(verdict, requirement), Some(test));
    }

    /// Counts a check that decides nothing by itself.
    fn set_aside(&mut self, check: Check<'_>, test: usize) {
        let Check { verdict, record, .. } = check;
        match verdict.kind {
            VerdictKind::Author => {
                self.author += 1;
                let told = Told { harm: None, ..check.told(verdict, None) };
                self.reason(AUTHOR, &told, None);
            }
            VerdictKind::Cannot => {
                let told = Told { text: record.observation.cannot.as_deref(), ..Told::default() };
                let is_no = |unasked: &Unasked| unasked.with_cannot && unasked.answer == UnaskedAnswer::Wrong;
                if check.unasked.is_some_and(is_no) {
                    self.decided += 1;
                    return self.reason(2, &Told { short: check.decider.short.as_deref(), ..told }, Some(test));
                }
                self.cannot += 1;
                self.reason(CANNOT, &told, None);
            }
            VerdictKind::NotAsked => {
                let cause = check.controls.cause(verdict, record);
                let is_own = verdict.detail.iter().any(|one| matches!(one.finding, Finding::NotAsked { .. }));
                let no = check.unasked.filter(|unasked| is_own && unasked.answer == UnaskedAnswer::Wrong);
                match (cause, no) {
                    (Cause::Alternative(reason), Some(unasked)) => {
                        self.decided += 1;
                        let words = check.decider.short.as_deref().or(unasked.words.as_deref());
                        let told = Told { short: Some(words.unwrap_or(reason)), ..Told::default() };
                        return self.reason(2, &told, Some(test));
                    }
                    (Cause::Alternative(reason), None) => {
                        self.reason(UNASKED, &Told { short: Some(reason), ..Told::default() }, Some(test));
                    }
                    (Cause::Control(verdict, requirement, test), _) => {
                        self.uncontrolled += 1;
                        self.reason(CONTROL, &check.told(verdict, requirement), Some(test));
                    }
                    (Cause::Unknown, _) => {}
                }
                self.not_asked += 1;
            }
            _ => {}
        }
    }

    /// Counts a reason. A test is evidence of a failure, or of why nothing was asked.
    fn reason(&mut self, rank: u8, told: &Told<'_>, test: Option<usize>) {
        let short = shortened(told.short.unwrap_or_default(), WORDS).into_owned();
        let text = told.known.map(|known| known.reason.as_str()).or(told.text);
        let text = text.map(|text| shortened(text, TEXT).into_owned());
        if let Some(test) = test.filter(|test| rank < OPTION && self.tests.last() != Some(test))
            && self.tests.len() < EVIDENCE
        {
            self.tests.push(test);
        }
        let same = |reason: &&mut Reason| (&reason.short, &reason.text) == (&short, &text);
        if let Some(same) = self.reasons.iter_mut().find(same) {
            same.checks += 1;
            same.rank = same.rank.min(rank);
            same.tests.extend(test.filter(|test| same.tests.len() < TESTS && same.tests.last() != Some(test)));
        } else if self.reasons.len() < COUNTED {
            let url = told.known.and_then(|known| known.issue.clone().or_else(|| known.url.clone()));
            let url = url.filter(|url| url.len() < TEXT);
            let harm = told.harm.unwrap_or(Harm::None);
            let tests = test.into_iter().collect();
            self.reasons.push(Reason { short, text, url, harm, checks: 1, rank, tests });
        }
    }

    /// Decides by the numbers of checks.
    pub(super) fn decide(&mut self, capability: &Capability, column: &Column, role: Role) {
        let (right, other) = if capability.right_is_yes { ("yes", "no") } else { ("no", "yes") };
        let is_whole = self.held == self.decided;
        let has_control = self.reasons.iter().any(|reason| reason.rank == CONTROL && !reason.short.is_empty());
        let unasked = capability.unasked.as_ref();
        // The smaller part of the checks is no answer to the whole question.
        let is_most = |number: usize| is_whole && number > self.decided;
        let is_unasked = is_most(self.not_asked);
        self.is_thin = is_most(self.cannot) && self.cannot >= self.not_asked;
        let mut told: fn(u8) -> bool = |rank| rank <= OPTION;
        self.answer = if self.decided == 0 && self.author > 0 || is_most(self.author) {
            told = |rank| rank == AUTHOR;
            Answer::Author
        } else if self.is_thin {
            told = |rank| rank == CANNOT;
            Answer::Absent
        } else if is_unasked {
            told = |rank| rank == CONTROL;
            match unasked.map(|unasked| unasked.answer) {
                Some(UnaskedAnswer::Right) => Answer::Right,
                Some(UnaskedAnswer::Absent) => Answer::Absent,
                Some(UnaskedAnswer::Wrong) => Answer::Wrong,
                None if has_control && self.uncontrolled * 2 >= self.not_asked => Answer::Wrong,
                None => {
                    told = |rank| rank >= CONTROL;
                    Answer::NotTested
                }
            }
        } else if self.decided == 0 {
            told = |rank| rank >= CONTROL;
            Answer::NotTested
        } else if is_whole {
            // Checks that could not be decided are no proof either.
            let others = self.decided + self.author + self.cannot + self.not_asked;
            if self.seen - others > self.decided { Answer::NotTested } else { Answer::Right }
        } else if self.held == 0 && self.reasons.iter().all(|reason| reason.rank > 3) {
            Answer::Absent
        } else {
            let broken = self.decided - self.held;
            match self.held * 2 < self.decided {
                true => Answer::Wrong,
                false if broken * RARE <= self.decided && !self.is_dangerous() => Answer::Nearly,
                false => Answer::Partly,
            }
        };
        self.sort(told);
        let mut shorts = self.reasons.iter().filter(|reason| told(reason.rank)).map(|reason| reason.short.as_str());
        let short = shorts.find(|short| !short.is_empty());
        let lack = capability.absent.as_ref();
        if self.answer == Answer::Absent && !is_unasked {
            self.answer = lack.map_or(Answer::Absent, |lack| lack.answer.into());
        }
        let api = match role {
            // The name of the API is that of the server.
            Role::Client if column.sentences.len() > 1 => "its client",
            _ => column.api.as_deref().unwrap_or("this API"),
        };
        let given = unasked.and_then(|unasked| unasked.words.as_deref()).filter(|_| is_unasked);
        let lacking = lack.map(|lack| lack.words.as_str());
        self.words = match self.answer {
            Answer::Right => given.unwrap_or(right).to_owned(),
            Answer::Nearly | Answer::Partly => short.unwrap_or("in part").to_owned(),
            Answer::Wrong => given.or(short).or(lacking).unwrap_or(other).to_owned(),
            Answer::Author => short.or(lacking).unwrap_or("you write it").to_owned(),
            Answer::Absent => {
                let absent = given.or(short).or(lacking).map(str::to_owned);
                absent.unwrap_or_else(|| shortened(&format!("not with {api}"), WORDS).into_owned())
            }
            Answer::NotTested => short.filter(|short| is_brief(short)).unwrap_or("not decided").to_owned(),
        };
        if let Some(words) = column.by_hand.get(&capability.id) {
            self.tell(words);
        }
        self.reasons.truncate(REASONS);
    }

    /// Takes the words of the target's file: what the author writes, or after “but”, the condition on which it works.
    fn tell(&mut self, words: &str) {
        let (answer, words) = match words.strip_prefix("but ") {
            Some(condition) if self.answer <= Answer::Partly => (self.answer.max(Answer::Nearly), condition),
            None if self.answer.is_good() => (Answer::Author, words),
            _ => return,
        };
        (self.answer, self.words) = (answer, shortened(words, WORDS).into_owned());
    }

    /// Sorts the reasons of the answer first, those with the most common words first.
    fn sort(&mut self, told: fn(u8) -> bool) {
        let mut checks: HashMap<String, usize> = HashMap::new();
        for reason in self.reasons.iter().filter(|reason| told(reason.rank)) {
            *checks.entry(reason.short.clone()).or_default() += reason.checks;
        }
        self.reasons.sort_by_cached_key(|reason| {
            let of_words = checks.get(&reason.short).copied().filter(|_| told(reason.rank));
            (Reverse(of_words), reason.rank, reason.short.clone(), Reverse(reason.checks))
        });
    }

    /// Says why nothing was decided, where the column tells it.
    pub(super) fn excuse(&mut self, capability: &Capability, column: &Column, role: Role, asked: &Asked) {
        if self.answer != Answer::NotTested {
            return;
        }
        if !column.sentences.contains_key(&role) {
            (self.answer, self.words) = (Answer::Absent, format!("no {role}s"));
            return;
        }
        let lacks = column.skipped.iter().find_map(|skipped| match skipped.reason {
            SkipReason::Lacks(need) if asked.needs.contains(&need) => Some(need),
            _ => None,
        });
        let is_spoken = asked.revisions.iter().any(|revision| column.revisions.contains(revision));
        (self.answer, self.words) = match (asked.revisions.last(), lacks) {
            (_, Some(Need::Typed)) if self.decided == 0 && is_spoken => {
                (Answer::Author, "JSON Schema by hand".to_owned())
            }
            // Tests that were run and decided nothing have no other reason that the column tells.
            _ if self.seen > 0 => return,
            (Some(newest), _) if !is_spoken && capability.since == Some(*newest) => {
                (Answer::Absent, format!("no {newest}"))
            }
            (Some(newest), _) if !is_spoken => (Answer::NotTested, format!("asked only on {newest}")),
            (_, Some(need)) => (Answer::Absent, format!("no {need}")),
            (_, None) => (Answer::NotTested, "not tested".to_owned()),
        };
    }

    /// Shows the value that callers get, if it is not the one that readers expect.
    pub(super) fn show(&mut self, value: &Value) {
        let text = value.to_string();
        let is_right = matches!(self.answer, Answer::Right | Answer::Nearly);
        self.answer = if is_right { Answer::Partly } else { self.answer };
        if self.answer.is_decided() {
            self.words = shortened(&text, WORDS).into_owned();
        }
    }

    /// Returns whether checks that fail can do more harm than the loss of a value.
    fn is_dangerous(&self) -> bool {
        let is_dangerous = |harm: Harm| harm.is_grave() && harm != Harm::DataLoss;
        self.reasons.iter().any(|reason| reason.rank <= 3 && is_dangerous(reason.harm))
    }

    fn is_harmful(&self) -> bool {
        self.reasons.iter().any(|reason| reason.rank <= 3 && reason.harm.is_grave())
    }

    /// Returns whether checks that fail can harm users.
    pub(super) fn is_grave(&self) -> bool {
        self.answer.is_decided() && self.is_harmful()
    }
}
