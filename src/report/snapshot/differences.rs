//! The differences between the snapshots of two targets, variants or versions as Markdown, case by case.
//!
//! Takes the two folders, each with a variant, gives Markdown. Tests that only one of them has, and tests
//! that an adapter cannot express, are counted. Must not know verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use camino::Utf8Path;

use super::body::{Body, Way, alike, spans};
use super::observation::CANNOT;
use super::{cases, is_behind_link, path, read};
use crate::model::CaseId;

/// The number of tests that are named of those with the same difference.
const NAMED: usize = 12;
/// The number of case files from which on a detail is listed once, and not in each of them.
const RECURRING: usize = 5;
/// The length from which on parts count as alike when tests are grouped, whatever their values are, in characters.
const LONG: usize = 32;

/// The parts of one kind, such as `asked …`, that only the first folder has, and those that only the second has.
type Detail = (Vec<String>, Vec<String>);

/// One step of an observation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    outcome: String,
    parts: Vec<String>,
}

/// The differences of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    /// The number of the step where there are several.
    step: Option<usize>,
    /// The outcomes in both folders.
    outcomes: [String; 2],
    details: Vec<Detail>,
}

/// The changes of a test by way.
type Changes = Vec<(Way, Vec<Change>)>;
/// The same, in which ways with equal changes are one.
type Joined = Vec<(Vec<Change>, BTreeSet<Way>)>;

/// The differences, collected case by case.
#[derive(Debug, Default)]
struct Differences {
    cases: Vec<(CaseId, Vec<(String, Changes)>)>,
    equal: usize,
    different: usize,
    cannot: usize,
    other: usize,
}

/// Divides `DIR` or `DIR:VARIANT`; `None` where there is no such folder. The variant of a target without any is empty.
pub fn folder_of_variant(typed: &str) -> Option<(&Utf8Path, &str)> {
    let whole = (Utf8Path::new(typed), "");
    let divided = typed.rsplit_once(':').map(|(folder, variant)| (Utf8Path::new(folder), variant));
    [whole].into_iter().chain(divided).find(|(folder, _)| folder.is_dir())
}

/// The differences between the snapshots of two targets, variants or versions; `None` where they have no test in common.
///
/// # Errors
/// The first snapshot that cannot be read, with its path, or a folder whose variants must be named.
pub fn differences(first: (&Utf8Path, &str), second: (&Utf8Path, &str)) -> Result<Option<String>, String> {
    let mut differences = Differences::default();
    for case in &cases(first.0) | &cases(second.0) {
        let [ours, theirs] = [first, second].map(|(folder, variant)| body(folder, variant, &case));
        differences.add(case, &ours?, &theirs?);
    }
    let [first, second] = [first, second].map(|(folder, variant)| match variant {
        "" => folder.to_string(),
        _ => format!("{folder}:{variant}"),
    });
    Ok(differences.text(&first, &second))
}

/// The observations of a case file. There are none where the file, or the variant in it, is absent.
fn body(folder: &Utf8Path, variant: &str, case: &CaseId) -> Result<Body, String> {
    let path = path(folder, case);
    if is_behind_link(&path) {
        return Err(format!("{path}: this is behind a link"));
    }
    let mut snapshot = read(&path)?.unwrap_or_default();
    let body = snapshot.remove(variant);
    match snapshot.keys().next() {
        Some(other) if variant.is_empty() => {
            let all = snapshot.keys().cloned().collect::<Vec<_>>().join(", ");
            Err(format!(
                "the snapshots in {folder} are of the variants {all}; name one of them, as in {folder}:{other}"
            ))
        }
        _ => Ok(body.unwrap_or_default()),
    }
}

impl Differences {
    /// Adds a case file.
    fn add(&mut self, case: CaseId, reference: &Body, target: &Body) {
        let (ours, theirs) = (reference.ways(), target.ways());
        let paths: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
        let none = BTreeMap::new();
        let mut tests = Vec::new();
        for path in paths {
            let [ours, theirs] = [reference, target].map(|body| body.get(path).unwrap_or(&none));
            let changes = self.compare(ours, theirs);
            tests.extend((!changes.is_empty()).then(|| (path.clone(), changes)));
        }
        self.cases.push((case, tests));
    }

    fn compare(&mut self, reference: &BTreeMap<Way, String>, target: &BTreeMap<Way, String>) -> Changes {
        let mut changes = Vec::new();
        for way in reference.keys().chain(target.keys()).collect::<BTreeSet<_>>() {
            match (reference.get(way), target.get(way)) {
                (Some(ours), Some(theirs)) if ours == theirs => self.equal += 1,
                (Some(_), Some(theirs)) if theirs.starts_with(CANNOT) => self.cannot += 1,
                (Some(ours), Some(theirs)) => {
                    self.different += 1;
                    changes.push((*way, Change::all(&steps(ours), &steps(theirs))));
                }
                _ => self.other += 1,
            }
        }
        changes
    }

    /// Details of steps with equal outcomes that many case files have, each with its numbers of observations and files.
    fn recurring(&self) -> BTreeMap<&Detail, (usize, usize)> {
        let mut found: BTreeMap<&Detail, (usize, BTreeSet<&CaseId>)> = BTreeMap::new();
        for (case, tests) in &self.cases {
            let changes = tests.iter().flat_map(|(_, changes)| changes).flat_map(|(_, changes)| changes);
            for detail in changes.filter(|change| change.is_detail()).flat_map(|change| &change.details) {
                let (observations, cases) = found.entry(detail).or_default();
                *observations += 1;
                cases.insert(case);
            }
        }
        let found = found.into_iter().map(|(detail, (observations, cases))| (detail, (observations, cases.len())));
        found.filter(|(_, (_, cases))| *cases >= RECURRING).collect()
    }

    /// The text; `None` where the folders have no test in common.
    fn text(&self, first: &str, second: &str) -> Option<String> {
        let Self { cases, equal, different, cannot, other } = self;
        let recurring = self.recurring();
        let mut page = format!(
            "# {second}: differences from {first}\n\n\
             A difference is not a verdict: where the specification leaves a choice, both may be right. Lines with `-` \
             are of {first}, lines with `+` of {second}; what is equal is left out. Of tests that differ alike, the \
             first is shown.\n\n\
             | observations | |\n| --- | ---: |\n| equal | {equal} |\n| different | {different} |\n\
             | not expressible by the adapter | {cannot} |\n| only of one of them | {other} |\n"
        );
        if !recurring.is_empty() {
            page += "\n## Recurring details\n\nThese are not repeated below.\n\n```diff\n";
            let mut recurring: Vec<_> = recurring.iter().collect();
            recurring.sort_by_key(|(_, (observations, _))| std::cmp::Reverse(*observations));
            for ((minus, plus), (observations, cases)) in recurring {
                push(&mut page, format_args!("@@ {observations} observations in {cases} case files @@\n"));
                lines(&mut page, minus, plus, "");
            }
            page += "```\n";
        }
        let mut folder = "";
        for (case, tests) in cases {
            let blocks = blocks(tests, &recurring);
            if blocks.is_empty() {
                continue;
            }
            if folder != case.folder() {
                folder = case.folder();
                push(&mut page, format_args!("\n## {folder}\n"));
            }
            push(&mut page, format_args!("\n### {case}\n"));
            for block in blocks {
                block.write(&mut page);
            }
        }
        (equal + different > 0).then_some(page)
    }
}

/// Tests of a case file that differ alike.
struct Block<'d> {
    tests: Vec<&'d str>,
    /// The changes of the first of them.
    changes: Joined,
}

/// The tests of a case file in blocks, without the recurring details.
fn blocks<'d>(tests: &'d [(String, Changes)], recurring: &BTreeMap<&Detail, (usize, usize)>) -> Vec<Block<'d>> {
    let mut blocks: Vec<(Joined, Block<'d>)> = Vec::new();
    for (path, changes) in tests {
        let rest = changes.iter().map(|(way, changes)| {
            let rest: Vec<_> = changes.iter().filter_map(|change| change.without(recurring)).collect();
            (*way, rest)
        });
        let changes = alike(rest.filter(|(_, changes)| !changes.is_empty()));
        let brief =
            |(changes, ways): &(Vec<Change>, _)| (changes.iter().map(Change::brief).collect(), Clone::clone(ways));
        let alike: Vec<_> = changes.iter().map(brief).collect();
        match blocks.iter_mut().find(|(other, _)| *other == alike) {
            _ if changes.is_empty() => {}
            Some((_, block)) => block.tests.push(path),
            None => blocks.push((alike, Block { tests: vec![path], changes })),
        }
    }
    blocks.into_iter().map(|(_, block)| block).collect()
}

impl Block<'_> {
    fn write(&self, page: &mut String) {
        let named = self.tests.iter().take(NAMED).map(|test| format!("`{test}`")).collect::<Vec<_>>().join(", ");
        let more = self.tests.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        push(page, format_args!("\n{named}{more}\n\n```diff\n"));
        for (changes, ways) in &self.changes {
            push(page, format_args!("@@ {} @@\n", spans(ways)));
            for change in changes {
                change.write(page);
            }
        }
        *page += "```\n";
    }
}

impl Change {
    /// The steps that differ. A step that only one observation has differs from one without anything.
    fn all(reference: &[Step], target: &[Step]) -> Vec<Self> {
        let none = Step::default();
        let length = reference.len().max(target.len());
        let steps = (0..length).map(|at| [reference, target].map(|steps| steps.get(at).unwrap_or(&none)));
        let changed = steps.enumerate().filter(|(_, [ours, theirs])| ours != theirs);
        let change = |(at, [ours, theirs]): (usize, [&Step; 2])| Self {
            step: (length > 1).then_some(at + 1),
            outcomes: [ours, theirs].map(|step| step.outcome.clone()),
            details: details(&ours.parts, &theirs.parts),
        };
        changed.map(change).collect()
    }

    /// Returns whether both have the same outcome.
    fn is_detail(&self) -> bool {
        self.outcomes[0] == self.outcomes[1]
    }

    /// The change without the recurring details, where anything else differs.
    fn without(&self, recurring: &BTreeMap<&Detail, (usize, usize)>) -> Option<Self> {
        let details = self.details.iter().filter(|detail| !self.is_detail() || !recurring.contains_key(detail));
        let rest = Self { details: details.cloned().collect(), ..self.clone() };
        (!rest.is_detail() || !rest.details.is_empty()).then_some(rest)
    }

    /// The change with nothing but the kind of each long part.
    fn brief(&self) -> Self {
        let brief = |parts: &Vec<String>| {
            let brief =
                |part: &String| if part.chars().nth(LONG).is_none() { part.clone() } else { kind(part).to_owned() };
            let is_value = |part: &String| ["saw", "structured"].contains(&kind(part));
            parts.iter().map(|part| if is_value(part) { kind(part).to_owned() } else { brief(part) }).collect()
        };
        let details = self.details.iter().map(|(minus, plus)| (brief(minus), brief(plus))).collect();
        Self { details, ..self.clone() }
    }

    fn write(&self, page: &mut String) {
        let number = self.step.map(|step| format!("{step} ")).unwrap_or_default();
        let [ours, theirs] = self.outcomes.each_ref().map(|outcome| format!("{number}{outcome}"));
        if self.is_detail() {
            push(page, format_args!("  {ours}\n"));
            for (minus, plus) in &self.details {
                lines(page, minus, plus, "    ");
            }
            return;
        }
        let all = |sides: fn(&Detail) -> &Vec<String>| self.details.iter().flat_map(sides).cloned().collect::<Vec<_>>();
        lines(page, &[ours], &[], "");
        lines(page, &all(|detail| &detail.0), &[], "    ");
        lines(page, &[], &[theirs], "");
        lines(page, &[], &all(|detail| &detail.1), "    ");
    }
}

fn lines(page: &mut String, minus: &[String], plus: &[String], indent: &str) {
    for (sign, parts) in [('-', minus), ('+', plus)] {
        for part in parts {
            push(page, format_args!("{sign} {indent}{part}\n"));
        }
    }
}

/// The parts that differ, by kind, in the order in which the kinds come.
fn details(ours: &[String], theirs: &[String]) -> Vec<Detail> {
    let mut kinds: Vec<&str> = Vec::new();
    for part in ours.iter().chain(theirs) {
        if !kinds.contains(&kind(part)) {
            kinds.push(kind(part));
        }
    }
    let of = |parts: &[String], one: &str| parts.iter().filter(|part| kind(part) == one).cloned().collect();
    let details = kinds.into_iter().map(|kind| (of(ours, kind), of(theirs, kind)));
    details.filter(|(minus, plus)| minus != plus).collect()
}

/// The first word of a part, behind the number of equal ones.
fn kind(part: &str) -> &str {
    let counted = part.split_once(" × ").filter(|(count, _)| count.bytes().all(|byte| byte.is_ascii_digit()));
    let part = counted.map_or(part, |(_, part)| part);
    part.split(' ').next().unwrap_or_default()
}

/// The steps of an observation's text.
fn steps(text: &str) -> Vec<Step> {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let several = first.strip_prefix("steps");
    let has_several = several.is_some();
    let mut steps: Vec<Step> = if has_several { Vec::new() } else { vec![step(first)] };
    for line in lines {
        let text = line.trim_start();
        match steps.last_mut() {
            Some(last) if !has_several || line.starts_with("        ") => last.parts.push(text.to_owned()),
            // Behind the number of the step.
            _ => steps.push(step(text.split_once(' ').map_or(text, |(_, step)| step))),
        }
    }
    // A remark on all steps is part of the first one.
    if let Some((first, all)) = steps.first_mut().zip(several) {
        first.outcome += all;
    }
    steps
}

/// A step whose parts share a line: it is divided at each `; ` that is in no JSON string.
fn step(line: &str) -> Step {
    let (mut parts, mut start, mut is_text, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, one) in line.char_indices() {
        match one {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            ';' if !is_text && line[at..].starts_with("; ") => {
                parts.push(line[start..at].to_owned());
                start = at + 2;
            }
            _ => {}
        }
    }
    parts.push(line[start..].to_owned());
    Step { outcome: parts.remove(0), parts }
}

fn push(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part).expect("writing to memory never fails");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::report::snapshot::{Snapshot, write};

    const REFERENCE: &str = "success\n    saw {\"a\":\"x; y\"}\n    text absent";

    fn snapshot(tests: &[(&str, &str)]) -> Snapshot {
        let way = "a/b/c@2026-07-28+http".parse::<crate::model::TestId>().map(|test| (test.revision, test.transport));
        let way = way.expect("a test id");
        let mut body = Body::default();
        for (path, text) in tests {
            body.insert((*path).to_owned(), way, (*text).to_owned());
        }
        Snapshot::from([(String::new(), body)])
    }

    #[test]
    fn tests_that_differ_alike_are_one_block_and_the_rest_is_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let (reference, own, target) = (root.join("reference"), root.join("own"), samples::target());
        let first = [("a", REFERENCE), ("b", REFERENCE), ("c", REFERENCE), ("d", "refused"), ("e", "refused")];
        for number in 0..5 {
            let other = format!("success; saw {number}");
            let second = [
                ("a", "tool-error; code 1"),
                ("b", "tool-error; code 1"),
                ("c", &other),
                ("d", "cannot: no forms"),
                ("f", "refused"),
            ];
            let case = CaseId::new("f", &format!("c{number}"));
            for (folder, tests) in [(&reference, first), (&own, second)] {
                write(&path(folder, &case), &target, &case, &snapshot(&tests)).expect("written");
            }
        }
        let differences = || differences((&reference, ""), (&own, ""));
        let page = differences().expect("readable snapshots").expect("tests in common");
        for line in ["| equal | 0 |", "| different | 15 |", "| not expressible by the adapter | 5 |"] {
            assert!(page.contains(line), "{page}");
        }
        assert!(page.contains("@@ 5 observations in 5 case files @@\n- text absent\n"), "{page}");
        let section = "\n### f/c4\n\n`a`, `b`\n\n```diff\n@@ 2026-07-28 http @@\n- success\n\
                       -     saw {\"a\":\"x; y\"}\n-     text absent\n+ tool-error\n+     code 1\n```\n\n`c`\n\n```diff\n\
                       @@ 2026-07-28 http @@\n  success\n-     saw {\"a\":\"x; y\"}\n+     saw 4\n```\n";
        assert!(page.ends_with(section), "{page}");
        std::fs::write(path(&own, &CaseId::new("f", "c0")), "damaged").expect("written");
        let error = differences().expect_err("a damaged snapshot");
        assert!(error.contains("f/c0.snap:1: "), "{error}");
        #[cfg(unix)]
        {
            let first = path(&own, &CaseId::new("f", "c0"));
            std::fs::remove_file(&first).expect("it is there");
            std::os::unix::fs::symlink(path(&own, &CaseId::new("f", "c1")), &first).expect("a link");
            let error = differences().expect_err("a link");
            assert!(error.ends_with("f/c0.snap: this is behind a link"), "{error}");
        }
    }

    #[test]
    fn observation_is_divided_into_steps_and_parts() {
        let step = |outcome: &str, parts: &[&str]| Step {
            outcome: outcome.to_owned(),
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        };
        assert_eq!(steps(REFERENCE), [step("success", &[r#"saw {"a":"x; y"}"#, "text absent"])]);
        let several = "steps (leaky)\n    1 crash\n    2 success; saw \"\\\"; \"; code 1\n    3 success\n        saw 1";
        let expected =
            [step("crash (leaky)", &[]), step("success", &["saw \"\\\"; \"", "code 1"]), step("success", &["saw 1"])];
        assert_eq!(steps(several), expected);
    }
}
