//! A failed test as a draft for the issue tracker of the target, or for its maintainers alone.
//!
//! Takes the record, the transcript and the catalogue, gives Markdown. The text of targets is only in code. Must not
//! know how a test was run, or where its files are.

mod choice;
mod curl;
mod exchange;
mod text;

use std::collections::BTreeSet;
use std::fmt::Write as _;

pub use choice::{Choice, Chosen, Others, Remaining};
use curl::script;
use exchange::exchange;
use text::{code, fenced, prose};

use super::Status;
use super::explain::{conditions, outcome_in_words, when};
use super::show::pretty;
use crate::model::Untrusted;
use crate::model::case::{Check, Does, Expectation, Test};
use crate::model::markdown::url;
use crate::model::record::{Record, Verdict, VerdictKind};
use crate::model::spec::{Catalogue, Harm, Level, Lifecycle, Requirement, Role, Transport};
use crate::model::template::Template;
use crate::model::text::{count, shell_line};
use crate::model::transcript::Transcript;

/// The number of violated requirements that are shown, of details of each, and of programs.
const REQUIREMENTS: usize = 6;
const DETAILS: usize = 8;
const PROGRAMS: usize = 2;
/// The characters that are shown of a quote or a reason, of a line, and of a name.
const QUOTE: usize = 800;
const LINE: usize = 600;
const NAME: usize = 200;
/// The characters of a title.
const TITLE: usize = 140;
/// The bytes that are shown of the steps with their results, of a fixture, and of a program.
const BEHAVIOUR: usize = 6 << 10;
const FIXTURE: usize = 6 << 10;
const PROGRAM: usize = 4 << 10;

/// The readers of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody: the draft is for a public tracker.
    Public,
    /// The maintainers of the target alone.
    Private,
}

/// A program that shows the failure through the SDK alone.
#[derive(Clone, Debug)]
pub struct Program {
    /// The path of the program in the folder of the target.
    pub path: String,
    /// The command that runs it there.
    pub command: Vec<String>,
    /// The text of the program, if it can be read.
    pub text: Option<String>,
}

/// Everything that a draft is made of.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// The failed test.
    pub record: &'a Record,
    /// Its messages, if they were recorded.
    pub transcript: Option<&'a Transcript>,
    /// The test as it is loaded, if it has not changed since it was run.
    pub test: Option<&'a Test>,
    /// The side of the protocol that was tested.
    pub role: Role,
    /// The requirements.
    pub catalogue: &'a Catalogue,
    /// The package under test and its version.
    pub package: Option<&'a str>,
    /// The version of casebook that ran the test.
    pub casebook: &'a str,
    /// The address of casebook's repository.
    pub repository: &'a str,
    /// The programs that show the failure without casebook.
    pub programs: Vec<Program>,
    /// The names of some other tests that violate the same requirements, and the number of all of them.
    pub others: (Vec<String>, usize),
    /// The command that runs the test.
    pub command: Vec<String>,
    /// The command that serves the fixture of the test; `None` if the target has no adapter.
    pub serve: Option<Vec<String>>,
}

/// Returns the verdicts by which a test violates a requirement, one for each requirement, the worst first.
pub fn violations<'r>(record: &'r Record, catalogue: &Catalogue) -> Vec<&'r Verdict> {
    let is_broken = |kind: VerdictKind| {
        matches!(
            kind,
            VerdictKind::Fail | VerdictKind::Warn | VerdictKind::Note | VerdictKind::Flaky | VerdictKind::Known
        )
    };
    let mut seen = BTreeSet::new();
    let broken = record.verdicts.iter().filter(|verdict| is_broken(verdict.kind));
    let mut broken: Vec<_> = broken.filter(|verdict| seen.insert(&verdict.requirement)).collect();
    broken.sort_by_key(|verdict| (rank(verdict), gravity(catalogue, verdict)));
    broken
}

/// The rank of a verdict: new failures before known ones, a MUST before a SHOULD.
fn rank(verdict: &Verdict) -> u8 {
    let of = |kind: VerdictKind| match Status::from(kind) {
        Status::Failed => 0,
        Status::Flaky => 1,
        Status::Warned => 2,
        _ => 3,
    };
    match verdict.kind {
        VerdictKind::Known => 4 + verdict.excuses.map_or(3, of),
        kind => of(kind),
    }
}

/// The harm of a violated requirement.
fn gravity(catalogue: &Catalogue, verdict: &Verdict) -> Harm {
    catalogue.get(&verdict.requirement).map_or(Harm::None, |requirement| requirement.harm)
}

/// Returns the harm for which the maintainers should know of a failure before the public does. A failure that has a public
/// issue is public already.
pub fn grave_harm(record: &Record, catalogue: &Catalogue) -> Option<Harm> {
    let broken = violations(record, catalogue);
    let hidden = broken.iter().filter(|verdict| issue_of(verdict).is_none());
    let harms = hidden.filter_map(|verdict| Some(catalogue.get(&verdict.requirement)?.harm));
    harms.filter(|harm| harm.is_grave()).min()
}

/// The address of the public issue of a known failure.
pub fn issue_of(verdict: &Verdict) -> Option<&str> {
    verdict.known.as_ref().filter(|_| verdict.kind == VerdictKind::Known)?.issue.as_deref()
}

/// Writes the draft as Markdown. Its first line is the title, unless a public issue exists: then it is a comment for that
/// issue.
pub fn draft(evidence: &Evidence<'_>, audience: Audience) -> String {
    let broken = violations(evidence.record, evidence.catalogue);
    // A comment on an issue has no title.
    let is_new = broken.iter().any(|verdict| issue_of(verdict).is_none());
    let mut out = if is_new { format!("# {}\n\n", title(evidence, &broken)) } else { String::new() };
    out += &notes(evidence, &broken, audience);
    out += &summary(evidence, &broken);
    out += &specification(evidence, &broken);
    out += &behaviour(evidence, &broken);
    let last = broken.iter().map(|verdict| verdict.step).max().unwrap_or(0);
    let is_stateful = evidence.record.test.revision.facts().lifecycle == Lifecycle::Stateful;
    out += &exchange(evidence.transcript, last, is_stateful && evidence.role == Role::Server);
    out += &by_hand(evidence, last);
    out += &programs(&evidence.programs);
    out += &with_casebook(evidence);
    out += &versions(evidence);
    out
}

fn title(evidence: &Evidence<'_>, broken: &[&Verdict]) -> String {
    let role = if evidence.role == Role::Server { "Server" } else { "Client" };
    let Some(first) = broken.first() else { return format!("{role} violates the specification") };
    let does = match first.level {
        Level::Must | Level::MustNot => "violates a MUST",
        Level::Should | Level::ShouldNot => "violates a SHOULD",
        Level::May | Level::Derived => "differs from the specification",
    };
    // The words of a derived requirement may be a line of code.
    let quoted = evidence.catalogue.get(&first.requirement).filter(|one| one.level != Level::Derived);
    let words = quoted.map_or(&evidence.record.title, |requirement| &requirement.quote);
    format!("{role} {does}: {}", text::title(words, TITLE))
}

/// The sentences at the top that a reader must not miss.
fn notes(evidence: &Evidence<'_>, broken: &[&Verdict], audience: Audience) -> String {
    let mut notes = Vec::new();
    let package = evidence.package.map_or_else(|| evidence.record.target.to_string(), ToOwned::to_owned);
    if audience == Audience::Private {
        notes.push(format!(
            "**Not for a public tracker.** Send this to the security contact of {} only, as its `SECURITY.md` or \
             “Report a vulnerability” on its repository says, and agree with the maintainers on a date of \
             publication.",
            code(&package, NAME)
        ));
    }
    let issues: BTreeSet<_> = broken.iter().filter_map(|verdict| issue_of(verdict)).collect();
    let is_all = broken.iter().all(|verdict| issue_of(verdict).is_some());
    if !issues.is_empty() {
        let links = issues.iter().take(REQUIREMENTS).map(|issue| match url(issue) {
            Some(url) => format!("<{url}>"),
            None => code(issue, NAME),
        });
        let links = links.collect::<Vec<_>>().join(", ");
        let advice = if is_all {
            "do not open another issue; add what is new here as a comment"
        } else {
            "name it in the new issue, which is about the other sentences"
        };
        notes.push(format!("**Already reported:** {links}; {advice}."));
    }
    if broken.iter().any(|verdict| verdict.kind == VerdictKind::Flaky) {
        notes.push("The failure does not occur in each attempt.".to_owned());
    }
    if broken.first().is_some_and(|verdict| verdict.level == Level::Derived) {
        notes.push(
            "No keyword of BCP 14 states this requirement: it follows from a type or a plain statement of the \
             specification, or users rely on it."
                .to_owned(),
        );
    }
    notes.iter().fold(String::new(), |out, note| out + "> " + note + "\n\n")
}

fn summary(evidence: &Evidence<'_>, broken: &[&Verdict]) -> String {
    let Evidence { record, role, package, .. } = evidence;
    let who = package.map_or_else(|| code(&record.target.to_string(), NAME), |package| code(package, NAME));
    let requirements = if broken.len() == 1 { "a requirement".to_owned() } else { count(broken.len(), "requirement") };
    let mut out = format!(
        "A {role} built with {who} does not meet {requirements} of the Model Context Protocol specification, revision \
         {}, over {}.\n\n",
        record.test.revision,
        if record.test.transport == Transport::Http { "Streamable HTTP" } else { "stdio" },
    );
    for known in broken.iter().filter(|one| one.kind == VerdictKind::Known).filter_map(|one| one.known.as_ref()).take(1)
    {
        writeln!(out, "In short: {}\n", prose(&known.reason, QUOTE)).expect("text");
    }
    out
}

fn specification(evidence: &Evidence<'_>, broken: &[&Verdict]) -> String {
    let mut out = "## What the specification says\n\n".to_owned();
    for verdict in broken.iter().take(REQUIREMENTS) {
        let id = code(verdict.requirement.as_str(), NAME);
        let Some(requirement) = evidence.catalogue.get(&verdict.requirement) else {
            writeln!(out, "- {id} ({})\n", verdict.level).expect("text");
            continue;
        };
        let Requirement { level, revisions, quote, why, harm, source, .. } = requirement;
        let link = requirement.link();
        let link = match url(&link) {
            Some(link) => format!("[{}]({link})", prose(source, NAME)),
            None => code(&link, NAME),
        };
        let harm = if *harm == Harm::None { String::new() } else { format!(" Harm: {harm}.") };
        write!(
            out,
            "> {}\n\n{level}, in force {revisions}: {link}. {}{harm} (casebook's id: {id})\n\n",
            prose(quote, QUOTE),
            prose(why, QUOTE)
        )
        .expect("text");
    }
    if broken.len() > REQUIREMENTS {
        writeln!(out, "And {} more.\n", broken.len() - REQUIREMENTS).expect("text");
    }
    out
}

/// The steps, the expectations and the observations in words.
fn behaviour(evidence: &Evidence<'_>, broken: &[&Verdict]) -> String {
    let Evidence { record, test, role, .. } = evidence;
    let mut lines = vec![("test:".to_owned(), record.title.clone())];
    let last = broken.iter().map(|verdict| verdict.step).max().unwrap_or(0);
    for (place, step) in test.iter().flat_map(|test| &test.steps).enumerate().take(last + 1) {
        lines.push((format!("step {}:", place + 1), when(&step.when, *role)));
    }
    for verdict in broken.iter().take(REQUIREMENTS) {
        lines.push(Default::default());
        if broken.len() > 1 {
            lines.push(("violated:".to_owned(), format!("{} in step {}", verdict.requirement, verdict.step + 1)));
        }
        for (place, words) in expected(*test, verdict, *role).into_iter().enumerate() {
            lines.push((if place == 0 { "expected:" } else { "or:" }.to_owned(), words));
        }
        if let Some(step) = record.observation.steps.get(verdict.step) {
            let code = step.code.map(|code| format!(", with the code {code}")).unwrap_or_default();
            let status = step.status.map(|status| format!(", with the HTTP status {status}")).unwrap_or_default();
            lines.push(("observed:".to_owned(), outcome_in_words(step.outcome, *role).to_owned() + &code + &status));
            lines.extend(step.said.as_ref().map(|said| ("message:".to_owned(), said.clone())));
        }
        let details = verdict.detail.iter().take(DETAILS);
        lines.extend(details.map(|detail| ("reason:".to_owned(), detail.to_string())));
    }
    let lines: Vec<_> = lines.iter().map(|(label, text)| text::hanging(label, &Untrusted(text).line(LINE))).collect();
    format!("## What happens\n\n{}", fenced("text", &lines.join("\n"), BEHAVIOUR))
}

/// The alternatives of a check in words, if the test is at hand.
fn expected(test: Option<&Test>, verdict: &Verdict, role: Role) -> Vec<String> {
    let step = test.and_then(|test| test.steps.get(verdict.step));
    let checks = step.into_iter().flat_map(|step| step.then.checks());
    let same = |check: &&Check| check.requirement == verdict.requirement;
    let all: Vec<&Check> = checks.filter(same).collect();
    // One requirement may be checked several times in a step, and the line shows which check it was.
    let check = all.iter().find(|check| check.line == verdict.line).or(all.first());
    let alternatives = check.into_iter().flat_map(|check| &check.alternatives);
    let words = |one: &Expectation| match &one.name {
        Some(name) => format!("{name}: {}", conditions(one, role)),
        None => conditions(one, role),
    };
    alternatives.map(words).collect()
}

/// The script, or the reason why there is none; and the server that it needs.
fn by_hand(evidence: &Evidence<'_>, last: usize) -> String {
    let mut out = "## Reproduce it with curl\n\n".to_owned();
    let script = script(evidence, last);
    let Ok(script) = script else {
        writeln!(out, "There is no script for this failure: {}.\n", script.unwrap_err()).expect("text");
        out += &fixture(evidence);
        return out;
    };
    let Some(serve) = &evidence.serve else {
        out += "`URL` is the address of the running server.\n\n";
        return out + &fenced("sh", &script, usize::MAX);
    };
    out += &fixture(evidence);
    out += "casebook can build and serve it; the first line is the `URL` for the script:\n\n";
    out += &fenced("sh", &shell_line(serve), usize::MAX);
    out += "The script prints each response:\n\n";
    out + &fenced("sh", &script, usize::MAX)
}

/// The tools of the test as JSON, and the behaviour of their code.
fn fixture(evidence: &Evidence<'_>) -> String {
    let Some(test) = evidence.test else {
        let id = &evidence.record.test.case;
        return format!("The fixture is in the case {}.\n\n", code(id.as_str(), NAME));
    };
    if evidence.serve.is_none() || test.given.tools.is_empty() {
        return String::new();
    }
    let mut whole: Option<String> = None;
    let template = test.given.template();
    if let Some(Transcript { bindings, .. }) = evidence.transcript {
        // A run log from someone else may lack the addresses that the fixture needs.
        let is_bound = |canary: &_| bindings.canaries.iter().any(|(bound, _)| bound.same_place(canary));
        if template.canaries().into_iter().all(is_bound) && !is_generated(&template) {
            whole = text::indented(&template.render(bindings));
        }
    }
    let who = match evidence.role {
        Role::Server => "The server under test has these tools",
        Role::Client => "The server that the client connects to has these tools",
        Role::Pair => "The server of the pair has these tools",
    };
    let mut does: BTreeSet<&str> = test.given.tools.iter().map(|tool| effect(tool.does)).collect();
    if evidence.role == Role::Client {
        does.clear();
    }
    let does = if does.is_empty() {
        String::new()
    } else {
        let does: Vec<_> = does.into_iter().collect();
        format!(" `does` stands for the code of a tool, which {}.", does.join(", or "))
    };
    let (info, json) = match whole {
        Some(json) => ("json", json),
        // Generated values and addresses that exist only during a run keep their placeholder.
        None => ("text", Untrusted(&pretty(&template, 0)).block(usize::MAX)),
    };
    format!("{who}.{does}\n\n{}", fenced(info, &json, FIXTURE))
}

/// Returns whether a part of a template is generated, which may be very long.
fn is_generated(template: &Template) -> bool {
    let mut found = false;
    template.visit(&mut |part| found |= matches!(part, Template::Generated(_)));
    found
}

fn effect(does: Does) -> &'static str {
    match does {
        Does::Echo => "returns the arguments that it receives (`echo`)",
        Does::Return => "returns the given result (`return`)",
        Does::Elicit => "asks the user for input and returns the answer (`elicit`)",
        Does::Raise => "raises an error (`raise`)",
        Does::Wait => "waits until its call is cancelled (`wait`)",
        Does::Log => "sends a log message and returns its arguments (`log`)",
        Does::Progress => "reports progress and returns its arguments (`progress`)",
    }
}

fn programs(programs: &[Program]) -> String {
    if programs.is_empty() {
        return String::new();
    }
    let mut out = "## Reproduce it with the SDK alone\n\n".to_owned();
    for Program { path, command, text } in programs.iter().take(PROGRAMS) {
        writeln!(out, "{} shows the failure without casebook's adapter. Run it with:\n", code(path, NAME))
            .expect("text");
        out += &fenced("sh", &Untrusted(&shell_line(command)).line(LINE), usize::MAX);
        if let Some(text) = text {
            let info = path.rsplit_once('.').map_or("", |(_, extension)| extension);
            let is_word = info.len() < 8 && info.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let text = Untrusted(&text.replace('\t', "    ")).block(usize::MAX);
            out += &fenced(if is_word { info } else { "" }, text.trim_end(), PROGRAM);
        }
    }
    out
}

fn with_casebook(evidence: &Evidence<'_>) -> String {
    let Evidence { command, others: (names, all), repository, .. } = evidence;
    let command = Untrusted(&shell_line(command)).line(2 * LINE);
    let mut out = format!("## Run the one test with casebook\n\n[casebook]({repository}) ran this test:\n\n");
    out += &fenced("sh", &command, usize::MAX);
    if !names.is_empty() {
        let names: Vec<_> = names.iter().map(|name| code(name, NAME)).collect();
        let more = all.saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(out, "The same requirements are violated in: {}{more}.\n", names.join(", ")).expect("text");
    }
    out
}

fn versions(evidence: &Evidence<'_>) -> String {
    let Evidence { record, package, casebook, .. } = evidence;
    let mut rows = vec![("target", record.target.to_string())];
    rows.extend(package.map(|package| ("package", package.to_owned())));
    rows.push(("revision", record.test.revision.to_string()));
    rows.push(("transport", record.test.transport.to_string()));
    rows.push(("test", record.test.to_string()));
    rows.push(("casebook", (*casebook).to_owned()));
    let mut out = "## Versions\n\n| | |\n| --- | --- |\n".to_owned();
    for (name, value) in rows {
        writeln!(out, "| {name} | {} |", code(&value, NAME)).expect("text");
    }
    out
}

#[cfg(test)]
mod tests;
