//! The lints that look at more than one place: rows, controls, alternatives, sizes.
//!
//! Takes what was read, notes what is suspicious. Must not know how files are read, or how tests are run.

use std::collections::BTreeSet;

use miette::SourceSpan;

use super::case::Reading;
use super::diagnostic::Lint;
use super::premise;
use super::read::Reader;
use crate::model::applicability::{Applicability, Inside};
use crate::model::case::{Check, Control, Expectation, Test, When};
use crate::model::template::{Generator, Template};

/// The longest line of a file, in characters.
const COLUMNS: usize = 136;

/// What every test may hand to a target, and what only a heavy one may.
const EVERYDAY: Weight = Weight { bytes: 8 << 20, levels: 10_000, subschemas: 100_000 };

/// Lines that are too long.
pub(super) fn width(reader: &mut Reader) {
    let file = reader.file();
    let mut start = 0;
    for line in file.inner().split_inclusive('\n') {
        let columns = line.trim_end().chars().count();
        if columns > COLUMNS {
            let beyond: usize = line.chars().take(COLUMNS).map(char::len_utf8).sum();
            let over = SourceSpan::new((start + beyond).into(), line.trim_end().len() - beyond);
            let wide = reader.mistake(Lint::Width, format!("the line has {columns} columns, more than {COLUMNS}"));
            reader.push(wide.at(over, "beyond the edge").help("break it"));
        }
        start += line.len();
    }
}

/// A title is a sentence that a report can go on from.
pub(super) fn title(reader: &mut Reader, title: &str, span: SourceSpan) {
    let length = title.chars().count();
    let why = match () {
        () if length < 8 => format!("has only {length} characters"),
        () if length > 120 => format!("has {length} characters, more than 120"),
        () if title.ends_with('.') => "ends with a full stop".to_owned(),
        () if title.trim() != title => "begins or ends with a blank".to_owned(),
        () => return,
    };
    let style = reader.mistake(Lint::TitleStyle, format!("the title {why}"));
    reader.push(style.at(span, "8 to 120 characters, no full stop").help("what is longer belongs into `note`"));
}

/// Everything that is worth a warning, and shows only when a file without errors is seen as a whole.
pub(super) fn whole(reader: &mut Reader, reading: &Reading) {
    rows(reader, reading);
    controls(reader, reading);
    no_control(reader, reading);
    heavy(reader, reading);
    for (test, place) in reading.case.tests.iter().zip(&reading.places.tests) {
        for why in premise::false_premises(test) {
            let message = format!("the test `{}`{} {why}", test.id, with_row(test));
            let premise = reader.mistake(Lint::FalsePremise, message).at(*place, "this test");
            reader.push(
                premise.help("change the arguments, the schema or the outcome: a validator of our own was asked"),
            );
        }
    }
}

/// Rows and values that nobody looks at.
fn rows(reader: &mut Reader, reading: &Reading) {
    for (row, (id_span, bindings)) in reading.case.rows.iter().zip(&reading.places.rows) {
        if !reading.places.run.contains(&row.id) {
            let unused = reader.mistake(Lint::UnusedRow, format!("no test runs with the row `{}`", row.id));
            reader.push(unused.at(*id_span, "unused").help("name it in the `rows` of a test, or take it away"));
            continue;
        }
        for ((key, _), span) in row.bindings.iter().zip(bindings) {
            if !reading.places.used.contains(&span.offset()) {
                let unused =
                    reader.mistake(Lint::UnusedBinding, format!("no test looks at `{key}` of the row `{}`", row.id));
                reader.push(
                    unused.at(*span, "unused").help(format!("take it with `{{\"@row\": \"{key}\"}}`, or take it away")),
                );
            }
        }
    }
}

/// Controls that could hold although nothing works.
fn controls(reader: &mut Reader, reading: &Reading) {
    let sets: BTreeSet<(Control, Option<&str>)> =
        reading.case.tests.iter().filter_map(|test| Some((test.control?, governed(test)))).collect();
    for (control, row) in sets {
        let of_set =
            |test: &Test| test.control == Some(control) && (control == Control::File || test.row.as_deref() == row);
        let set: Vec<_> =
            reading.case.tests.iter().zip(&reading.places.tests).filter(|(test, _)| of_set(test)).collect();
        if set.iter().any(|(test, _)| shows_success(test)) {
            continue;
        }
        let Some((_, place)) = set.first() else { continue };
        let of = row.map(|row| format!(" `{row}`")).unwrap_or_default();
        let message = format!("the controls of the {control}{of} expect only failure");
        let only = reader.mistake(Lint::ControlExpectsFailureOnly, message).at(**place, "such a control");
        reader.push(only.help("they would hold for a server that refuses everything: one must expect success"));
    }
}

fn governed(test: &Test) -> Option<&str> {
    test.row.as_deref().filter(|_| test.control == Some(Control::Row))
}

/// Tests that a target passes by doing nothing at all.
fn no_control(reader: &mut Reader, reading: &Reading) {
    let tests = &reading.case.tests;
    for (test, place) in tests.iter().zip(&reading.places.tests) {
        let governs = |other: &Test| match other.control {
            Some(Control::File) => true,
            Some(Control::Row) => other.row == test.row,
            None => false,
        };
        let negative = test.checks().next().is_some() && !test.checks().any(Check::may_succeed);
        // A control that expects failure is another lint's.
        if negative && test.control.is_none() && !tests.iter().any(|other| governs(other) && shows_success(other)) {
            let message = format!("the test `{}` expects only failure or absence, without a control", test.id);
            let alone = reader.mistake(Lint::NoControl, message).at(*place, "holds for a server that does nothing");
            reader
                .push(alone.help("give a test that expects success `\"control\": \"row\"` or `\"control\": \"file\"`"));
        }
    }
}

/// Whether a control of this test proves that something worked.
fn shows_success(test: &Test) -> bool {
    test.checks().any(Check::needs_success)
}

/// Whether one observation would satisfy both: nothing but their outcomes tells them apart, and these meet.
pub(super) fn overlap(one: &Expectation, other: &Expectation) -> bool {
    let meet = one.outcome.is_empty()
        || other.outcome.is_empty()
        || one.outcome.iter().any(|outcome| other.outcome.contains(outcome));
    meet && one.code == other.code
        && one.status == other.status
        && one.canary == other.canary
        && one.advertised == other.advertised
        && one.without == other.without
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

/// Tests that hand over more than every day's, and don't say so.
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
        let message = format!("the test `{}`{} hands over more than every day's test", test.id, with_row(test));
        let heavy = reader.mistake(Lint::Heavy, message).at(span, size);
        reader.push(
            heavy.help(
                "say `\"heavy\": true`, and why in `note`, or stay within 8 MiB, 10,000 levels, 100,000 subschemas",
            ),
        );
    }
}

/// Tests of fixed targets that look at what these don't show, or have what these can't be given.
pub(super) fn unseen(reader: &mut Reader, reading: &Reading) {
    for (test, place) in reading.case.tests.iter().zip(&reading.places.tests) {
        let looks = |is: fn(&Expectation) -> bool| test.checks().flat_map(|check| &check.alternatives).any(is);
        let is_fresh = |one: &Template| matches!(one, Template::Canary(_) | Template::Unique(_));
        let mut fresh = false;
        test.given.tools.iter().for_each(|tool| tool.definition.visit(&mut |one| fresh |= is_fresh(one)));
        let why = match &test.reach {
            Applicability::AdapterOnly | Applicability::AlsoFixed(_) if looks(|one| !one.without.is_empty()) => {
                "looks for flaws in a list, beside a fixture that says what is right"
            }
            Applicability::AlsoFixed(Inside::Tools(_)) | Applicability::FixedOnly(_)
                if looks(|one| one.saw.is_some()) =>
            {
                "looks at what the tool's code saw, which no fixed server shows"
            }
            Applicability::AlsoFixed(Inside::Tools(_)) if fresh => {
                "has a fixture with another value each time, which no fixed server has"
            }
            Applicability::AlsoFixed(Inside::Scenario(_)) if looks(is_handed_over) => {
                "looks at what was handed over, of which a fixed client shows only whether it left with 0"
            }
            Applicability::AdapterOnly | Applicability::AlsoFixed(_) | Applicability::FixedOnly(_) => continue,
        };
        let message = format!("the test `{}` {why}", test.id);
        let beyond = reader.mistake(Lint::RoleMismatch, message).at(*place, "can't be seen");
        reader.push(beyond.help("`tool:` and `scenario:` in `needs`, and a file without `given`, ask fixed targets"));
    }
}

/// Whether it looks at more of what a client handed over than whether it did.
fn is_handed_over(one: &Expectation) -> bool {
    one.saw.is_some()
        || one.structured.is_some()
        || one.text.is_some()
        || one.code.is_some()
        || !one.advertised.is_empty()
}

/// How large what is handed to a target becomes.
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

    /// By the table of the case format; bytes are rounded up.
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
