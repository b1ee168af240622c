//! The lints that need more than one place of a file: rows, controls, alternatives, sizes.
//!
//! Takes a case that was read, reports what is suspicious. Must not know how files are read, or how tests are run.

use std::collections::BTreeSet;

use miette::SourceSpan;

use super::Reading;
use super::premise;
use crate::load::text::diagnostic::Lint;
use crate::load::text::read::Reader;
use crate::model::applicability::{Applicability, Inside};
use crate::model::case::{Check, Control, Expectation, Test, When};
use crate::model::template::{Generator, Template};

/// The longest line of a file, in characters.
const COLUMNS: usize = 136;

/// The largest input that a test may give to a target without being heavy.
const EVERYDAY: Weight = Weight { bytes: 8 << 20, levels: 10_000, subschemas: 100_000 };

/// Reports lines that are too long, except quotes, which are one text that must be complete.
pub(in crate::load) fn width(reader: &mut Reader) {
    let file = reader.file();
    let mut start = 0;
    for line in file.inner().split_inclusive('\n') {
        let columns = line.trim_end().chars().count();
        let is_whole = |key: &str| line.trim_start().starts_with(&format!("\"{key}\": "));
        if columns > COLUMNS && !is_whole("quote") && !is_whole("fix") {
            let beyond: usize = line.chars().take(COLUMNS).map(char::len_utf8).sum();
            let over = SourceSpan::new((start + beyond).into(), line.trim_end().len() - beyond);
            let wide = reader.mistake(Lint::Width, format!("the line has {columns} columns, more than {COLUMNS}"));
            reader.push(wide.at(over, "too long from here on").help("break the line; a `note` can be a list of lines"));
        }
        start += line.len();
    }
}

/// Reports a title that does not fit into the sentences of reports.
pub(super) fn title(reader: &mut Reader, title: &str, span: SourceSpan) {
    let length = title.chars().count();
    let (why, help) = match () {
        () if length < 8 => {
            (format!("has only {length} characters"), "name what the test shows, in 8 to 120 characters")
        }
        () if length > 120 => {
            (format!("has {length} characters, more than 120"), "shorten it, and put the details into `note`")
        }
        () if title.ends_with('.') => ("ends with a full stop".to_owned(), "remove the full stop"),
        () if title.trim() != title => ("begins or ends with a blank".to_owned(), "remove the blank"),
        () => return,
    };
    let style = reader.mistake(Lint::TitleStyle, format!("the title {why}"));
    reader.push(style.at(span, "this title").help(help));
}

/// Reports the warnings that need all of a file without errors.
pub(in crate::load) fn whole(reader: &mut Reader, reading: &Reading) {
    rows(reader, reading);
    controls(reader, reading);
    named_tests(reader, reading);
    no_control(reader, reading);
    heavy(reader, reading);
    for (test, place) in reading.case.tests.iter().zip(&reading.places.tests) {
        for why in premise::false_premises(test) {
            let message = format!("the test `{}`{} {why}", test.id, with_row(test));
            let premise = reader.mistake(Lint::FalsePremise, message).at(*place, "this test");
            reader.push(
                premise.help("change the arguments, the schema or the outcome; casebook's own validator decided this"),
            );
        }
    }
}

/// Reports rows and values that no test uses.
fn rows(reader: &mut Reader, reading: &Reading) {
    for (row, (id_span, bindings)) in reading.case.rows.iter().zip(&reading.places.rows) {
        if !reading.places.run.contains(&row.id) {
            let unused = reader.mistake(Lint::UnusedRow, format!("no test runs with the row `{}`", row.id));
            reader.push(unused.at(*id_span, "unused").help("name it in the `rows` of a test, or remove it"));
            continue;
        }
        for ((key, _), span) in row.bindings.iter().zip(bindings) {
            if !reading.places.used.contains(&span.offset()) {
                let unused = reader
                    .mistake(Lint::UnusedBinding, format!("no test uses the value `{key}` of the row `{}`", row.id));
                reader.push(
                    unused.at(*span, "unused").help(format!("use it with `{{\"@row\": \"{key}\"}}`, or remove it")),
                );
            }
        }
    }
}

/// Reports controls that hold for a target that refuses everything.
fn controls(reader: &mut Reader, reading: &Reading) {
    let scope = |test: &Test| match test.control {
        Some(Control::File) => Some("file".to_owned()),
        Some(Control::Row) => Some(format!("row `{}`", test.row.as_deref().unwrap_or_default())),
        // Its own controls show that the target does not refuse everything.
        Some(Control::Tests(_)) | None => None,
    };
    let sets: BTreeSet<_> = reading.case.tests.iter().filter_map(|test| scope(test)).collect();
    for of in sets {
        let tests = reading.case.tests.iter().zip(&reading.places.tests);
        let set: Vec<_> = tests.filter(|(test, _)| scope(test).as_ref() == Some(&of)).collect();
        if set.iter().any(|(test, _)| shows_success(test)) {
            continue;
        }
        let Some((_, place)) = set.first() else { continue };
        let message = format!("all controls of the {of} expect a failure");
        let only = reader.mistake(Lint::ControlExpectsFailureOnly, message).at(**place, "one of these controls");
        reader.push(only.help("add a control that expects success: a target that refuses everything passes these"));
    }
}

/// Reports names that a control gives to no test.
fn named_tests(reader: &mut Reader, reading: &Reading) {
    let tests = &reading.case.tests;
    let names: BTreeSet<&str> =
        tests.iter().filter(|test| test.control.is_none()).map(|test| test.id.as_str()).collect();
    let mut seen = BTreeSet::new();
    for (test, place) in tests.iter().zip(&reading.places.tests) {
        let Some(Control::Tests(governed)) = &test.control else { continue };
        for name in governed.iter().filter(|name| !names.contains(name.as_str()) && seen.insert((&test.id, *name))) {
            let message = format!("the control `{}` names `{name}`, which is no other test without `control`", test.id);
            let unknown = reader.mistake(Lint::UnknownTest, message).at(*place, "this control");
            reader.push(unknown.known(name, "the tests without `control` are", names.iter().copied()));
        }
    }
}

/// Reports tests that a target passes by doing nothing.
fn no_control(reader: &mut Reader, reading: &Reading) {
    let tests = &reading.case.tests;
    for (test, place) in tests.iter().zip(&reading.places.tests) {
        let negative = test.checks().next().is_some() && !test.checks().any(Check::may_succeed);
        // The lint `control-expects-failure-only` reports a control that expects failure.
        let is_judged = !matches!(test.control, Some(Control::File | Control::Row));
        if negative && is_judged && !tests.iter().any(|other| other.governs(test) && shows_success(other)) {
            let message = format!("the test `{}` expects only failure or absence, and has no control", test.id);
            let alone =
                reader.mistake(Lint::NoControl, message).at(*place, "a target that does nothing passes this test");
            let help = "add `\"control\": \"file\"` (or `\"row\"`) to a test that expects success, so that a failure of that \
                        test leaves this one not asked";
            reader.push(alone.help(help));
        }
    }
}

/// Returns whether the test holds only where something succeeded.
fn shows_success(test: &Test) -> bool {
    test.checks().any(Check::needs_success)
}

/// Returns whether one observation can satisfy both: they differ in nothing but their outcomes, which have one in common.
pub(super) fn overlap(one: &Expectation, other: &Expectation) -> bool {
    let meet = one.outcome.is_empty()
        || other.outcome.is_empty()
        || one.outcome.iter().any(|outcome| other.outcome.contains(outcome));
    meet && one.code == other.code
        && one.status == other.status
        && one.canary == other.canary
        && one.advertised == other.advertised
        && one.without == other.without
        && one.calls == other.calls
        && one.saw == other.saw
        && one.structured == other.structured
        && one.text == other.text
        && one.asked == other.asked
        && one.answered == other.answered
        && one.took == other.took
        && one.reply == other.reply
        && one.sent == other.sent
        && one.matches == other.matches
}

/// Reports tests with a large input that are not marked as heavy.
fn heavy(reader: &mut Reader, reading: &Reading) {
    for (test, place) in reading.case.tests.iter().zip(&reading.places.tests) {
        let row = test.row.as_ref().and_then(|id| reading.case.rows.iter().position(|row| row.id == *id));
        let noted = |note: &[String]| !note.is_empty();
        let explained = noted(&test.note)
            || noted(&reading.case.note)
            || row.is_some_and(|row| noted(&reading.case.rows[row].note));
        let weight = Weight::of_test(test);
        if !weight.exceeds(EVERYDAY) || (test.heavy && explained) {
            continue;
        }
        let Weight { bytes, levels, subschemas } = weight;
        let size = format!("about {} kB, {levels} levels, {subschemas} subschemas", bytes / 1000);
        let span = row.map_or(*place, |row| reading.places.rows[row].0);
        let message = format!("the test `{}`{} has a large input and is not marked as heavy", test.id, with_row(test));
        let heavy = reader.mistake(Lint::Heavy, message).at(span, size);
        reader.push(
            heavy.help(
                "add `\"heavy\": true` and a `note` with the reason, or stay within 8 MiB, 10,000 levels, 100,000 subschemas",
            ),
        );
    }
}

/// Reports tests of fixed targets that use what such a target does not show, or cannot be given.
pub(in crate::load) fn unseen(reader: &mut Reader, reading: &Reading) {
    for (test, place) in reading.case.tests.iter().zip(&reading.places.tests) {
        let looks = |is: fn(&Expectation) -> bool| test.checks().flat_map(|check| &check.alternatives).any(is);
        let is_fresh = |one: &Template| matches!(one, Template::Canary(_) | Template::Unique(_));
        let mut fresh = false;
        test.given.tools.iter().for_each(|tool| tool.definition.visit(&mut |one| fresh |= is_fresh(one)));
        let why = match &test.reach {
            Applicability::AdapterOnly | Applicability::AlsoFixed(_)
                if looks(|one| !one.without.is_empty()) && !test.given.is_typed() =>
            {
                "looks for flaws in a list, and has a fixture: use `advertised` to compare with the fixture"
            }
            Applicability::AlsoFixed(Inside::Tools(_)) | Applicability::FixedOnly(_)
                if looks(|one| one.saw.is_some()) =>
            {
                "has `saw`, the arguments that the tool's code received, which no fixed server shows"
            }
            Applicability::AlsoFixed(Inside::Tools(_)) if fresh => {
                "has a fixture with a value that is new in each run, which no fixed server has"
            }
            Applicability::AlsoFixed(Inside::Scenario(_)) if looks(is_handed_over) => {
                "uses the result that the client's user got, and a fixed client shows only its exit status"
            }
            Applicability::AdapterOnly | Applicability::AlsoFixed(_) | Applicability::FixedOnly(_) => continue,
        };
        let message = format!("the test `{}` {why}", test.id);
        let beyond = reader.mistake(Lint::RoleMismatch, message).at(*place, "cannot be observed");
        let help = "a test runs against fixed targets where its `needs` have `tool:` or `scenario:`, or its file has no `given`";
        reader.push(beyond.help(help));
    }
}

/// Returns whether the expectation uses the result that a client's user got, beyond its outcome.
fn is_handed_over(one: &Expectation) -> bool {
    one.saw.is_some()
        || one.structured.is_some()
        || one.text.is_some()
        || one.code.is_some()
        || !one.advertised.is_empty()
}

/// The size of the input that a test gives to a target.
#[derive(Clone, Copy, Default)]
struct Weight {
    bytes: usize,
    levels: usize,
    subschemas: usize,
}

impl Weight {
    fn of_test(test: &Test) -> Self {
        let mut weight = Self::default();
        weight.add(&test.given.template());
        for step in &test.steps {
            match &step.when {
                When::Call { arguments: Some(template), .. } | When::Send { message: template, .. } => {
                    weight.add(template);
                }
                _ => {}
            }
        }
        weight
    }

    fn add(&mut self, template: &Template) {
        template.visit(&mut |one| {
            if let Template::Generated(generator) = one {
                let other = Self::of(generator);
                self.bytes += other.bytes;
                self.levels = self.levels.max(other.levels);
                self.subschemas += other.subschemas;
            }
        });
    }

    /// The size of a generated value, in bytes rounded up.
    fn of(generator: &Generator) -> Self {
        let (bytes, levels, subschemas) = match *generator {
            Generator::Nested { depth } => (37 * depth + 17, 2 * depth + 1, depth + 1),
            Generator::NestedValue { depth } => (6 * depth + 3, depth, 0),
            Generator::Wide { count, .. } => (56 * count + 30, 5, 2 * count + 1),
            Generator::RefChain { length } | Generator::RefCycle { length } => (36 * length + 90, 3, length + 3),
            Generator::RefDoubling { levels } => (72 * levels + 90, 5, 3 * levels + 3),
            Generator::Pattern { .. } => (90, 3, 2),
            Generator::PatternValue { length, .. } => (length + 2, 0, 0),
            Generator::Text { ref of, length } => (length * of.len().div_ceil(of.chars().count().max(1)) + 2, 0, 0),
        };
        Self { bytes, levels, subschemas }
    }

    fn exceeds(self, other: Self) -> bool {
        self.bytes > other.bytes || self.levels > other.levels || self.subschemas > other.subschemas
    }
}

fn with_row(test: &Test) -> String {
    test.row.as_ref().map(|row| format!(" with the row `{row}`")).unwrap_or_default()
}
