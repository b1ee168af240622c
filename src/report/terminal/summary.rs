//! The numbers at the end of a run.
//!
//! Takes a [`RunSummary`], prints a table by target, skipped and slow tests, and in the last line whether the run is as
//! expected. Must not know single findings.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;

use super::{BOLD, DIM, Extent, GREEN, RED, YELLOW, name, of, padded, style, time, widest};
use crate::model::TargetId;
use crate::model::record::{Cuts, SnapshotState};
use crate::model::set::Drift;
use crate::model::suite::{Door, Draft};
use crate::model::target::UNTRIAGED;
use crate::model::text::count;
use crate::report::{Column, Counts, Numbers, Rate, RunSummary, Score, Status, Untrusted};

/// The number of names of a list.
const NAMES: usize = 20;

pub(super) fn print(out: &mut impl Write, summary: &RunSummary, extent: Extent) -> io::Result<()> {
    writeln!(out)?;
    if let Some(numbers) = &summary.numbers {
        undelivered(out, summary)?;
        untested(out, summary)?;
        cut(out, summary.cut, extent)?;
        return three_numbers(out, summary, numbers);
    }
    table(out, summary, extent)?;
    summary.columns.iter().try_for_each(|column| keywords(out, column))?;
    skipped(out, summary)?;
    undelivered(out, summary)?;
    drift(out, summary)?;
    for (target, role, text) in summary.score.iter().flat_map(Score::lines) {
        let set = summary.drift.as_ref().map_or_else(String::new, |drift| format!(", set {}", drift.set));
        note(out, DIM, "score", &Untrusted(&format!("{target}, {role}{set}: {text}")).line(300))?;
    }
    for stale in summary.columns.iter().flat_map(|column| &column.stale) {
        note(out, RED, "stale", &Untrusted(&stale.to_string()).line(400))?;
    }
    for (column, text) in summary.columns.iter().filter_map(|column| Some((column, column.untriaged()?))) {
        note(out, YELLOW, UNTRIAGED, &Untrusted(&format!("{}: {text}", column.id)).line(400))?;
    }
    untested(out, summary)?;
    for (target, test, micros) in summary.slowest.iter().filter(|(_, _, micros)| *micros >= 1_000_000) {
        note(out, DIM, "slow", &format!("{} {DIM}{}{DIM:#}", name(target, test), time(*micros)))?;
    }
    cut(out, summary.cut, extent)?;
    conformance(out, summary)?;
    verdict(out, summary, extent.is_strict)
}

/// Prints the verdict on a server without a `target.toml`: nothing is known of it in advance, so that no result of it is
/// expected.
fn three_numbers(out: &mut impl Write, summary: &RunSummary, numbers: &Numbers) -> io::Result<()> {
    incomplete(out, summary)?;
    for test in numbers.unanswered().iter().take(NAMES) {
        note(out, RED, "no answer", &format!("the server ended or hung: {}", Untrusted(test).line(200)))?;
    }
    let (hold, musts, shoulds) = (numbers.hold(), numbers.musts(), numbers.shoulds());
    let paint = |number: usize, style: Style| if number == 0 { GREEN } else { style };
    let (of_musts, of_shoulds) = (paint(musts, RED), paint(shoulds, YELLOW));
    let total = summary.total();
    let took = if summary.micros == 0 { String::new() } else { format!(" in {}", time(summary.micros)) };
    writeln!(
        out,
        "{}: {} {}, {of_musts}{}{of_musts:#}, {of_shoulds}{}{of_shoulds:#} {DIM}({}{took}: {}){DIM:#}",
        tested(summary),
        count(hold, "requirement"),
        if hold == 1 { "holds" } else { "hold" },
        format_args!("{} violated", count(musts, "MUST")),
        format_args!("{} violated", count(shoulds, "SHOULD")),
        count(total.total(), "test"),
        total,
    )
}

/// Prints a word or a number at the left, and a text beside it.
fn note(out: &mut impl Write, style: Style, word: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{style}{word:>12}{style:#}  {text}")
}

/// Prints the MUSTs that could not be tested because a control failed, a line for each control.
fn untested(out: &mut impl Write, summary: &RunSummary) -> io::Result<()> {
    const FEW: usize = 5;
    for column in summary.columns.iter().filter(|_| summary.shard.is_none()) {
        let mut by_control: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (requirement, control) in column.untested() {
            by_control.entry(control).or_default().push(requirement.to_string());
        }
        for (control, requirements) in by_control.into_iter().take(NAMES) {
            let few: Vec<_> = requirements.iter().take(FEW).map(String::as_str).collect();
            let more = requirements.len() - few.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = few.join(", ");
            let text = format!("{}: {named}{more}, because the control {control} does not hold", column.id);
            note(out, RED, "not tested", &Untrusted(&text).line(400))?;
        }
    }
    Ok(())
}

/// Prints how many of several targets have failures. For conformance, known failures are failures.
fn conformance(out: &mut impl Write, summary: &RunSummary) -> io::Result<()> {
    let is_asked = |column: &&Column| !column.is_reference() && column.statuses.total() > 0;
    let asked: Vec<_> = summary.columns.iter().filter(is_asked).collect();
    let fails = |column: &&&Column| {
        [Status::Failed, Status::Flaky, Status::Known].iter().any(|status| column.count(*status) > 0)
    };
    let failing = asked.iter().filter(fails).count();
    if asked.len() <= 1 || failing == 0 {
        return Ok(());
    }
    note(out, DIM, "conformance", &format!("{failing} of {} targets have failures, known ones included", asked.len()))
}

/// Prints what the run log lacks, because it was over a bound. The ends of long messages are no news.
fn cut(out: &mut impl Write, cut: Cuts, extent: Extent) -> io::Result<()> {
    let Cuts { texts, bytes, tests } = cut;
    if texts == 0 || (tests == 0 && !extent.is_verbose) {
        return Ok(());
    }
    let tests =
        if tests > 0 { format!("; {tests} tests lack more than the ends of long messages") } else { String::new() };
    note(out, DIM, "cut", &format!("{texts} texts cut in the run log, {bytes} bytes left out{tests}"))
}

/// Prints the numbers of tests by status: a row for each of several targets, and when asked for one for each folder of
/// cases. Of one target the last line of a run has the same numbers.
fn table(out: &mut impl Write, summary: &RunSummary, extent: Extent) -> io::Result<()> {
    let total = summary.total();
    let statuses: Vec<Status> = total.iter().map(|(status, _)| status).collect();
    let columns: Vec<_> = summary.columns.iter().filter(|column| column.statuses.total() > 0).collect();
    let is_one = columns.len() <= 1;
    if is_one && !extent.is_verbose {
        return Ok(());
    }
    let mut rows: Vec<(String, &Counts)> = Vec::new();
    for column in columns {
        let id = column.id.to_string();
        if extent.is_verbose {
            let name = |folder: &String| if is_one { folder.clone() } else { format!("{id}  {folder}") };
            rows.extend(column.folders.iter().map(|(folder, counts)| (name(folder), counts)));
        } else {
            rows.push((id, &column.statuses));
        }
    }
    for (name, _) in &mut rows {
        *name = Untrusted(name).line(100);
    }
    let width = widest(rows.iter().map(|(name, _)| name)).max("total".len());
    let wide = |status: &Status| status.word().len().max(12);
    let heads: String =
        statuses.iter().fold(padded("", width), |line, status| format!("{line}  {status:>wide$}", wide = wide(status)));
    writeln!(out, "{DIM}{heads}{DIM:#}")?;
    let row = |out: &mut dyn Write, name: &str, counts: &Counts| {
        write!(out, "{}", padded(name, width))?;
        for status in &statuses {
            let count = counts.get(*status);
            let style = if count == 0 { DIM } else { style(*status) };
            write!(out, "  {style}{count:>wide$}{style:#}", wide = wide(status))?;
        }
        writeln!(out)
    };
    for (name, counts) in &rows {
        row(out, name, counts)?;
    }
    if rows.len() > 1 { row(out, "total", &total) } else { Ok(()) }
}

/// Prints a line for each draft and door: the number of imported tests that are right, and the keywords with the lowest
/// rates.
fn keywords(out: &mut impl Write, column: &Column) -> io::Result<()> {
    const WORST: usize = 6;
    let mut doors: BTreeMap<(Draft, Door), Vec<(&str, Rate)>> = BTreeMap::new();
    for (one, rate) in column.keywords.iter() {
        doors.entry((one.draft, one.door)).or_default().push((&one.keyword, rate));
    }
    for ((draft, door), mut rates) in doors {
        let sum = |part: fn(&Rate) -> usize| rates.iter().map(|(_, rate)| part(rate)).sum::<usize>();
        let (held, asked) = (sum(|rate| rate.held), sum(|rate| rate.asked));
        rates.retain(|(_, rate)| rate.held < rate.asked);
        rates.sort_by_key(|(_, rate)| rate.per_mille());
        let worst = rates.iter().take(WORST).map(|(keyword, Rate { held, asked })| format!("{keyword} {held}/{asked}"));
        let worst = worst.collect::<Vec<_>>().join(", ");
        let more = rates.len().saturating_sub(WORST);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let (style, lacks) = if held == asked { (GREEN, "") } else { (YELLOW, ": ") };
        let line = format!("{}  JSON Schema {draft}, {door}: {held} of {asked}{lacks}{worst}{more}", column.id);
        note(out, style, "keywords", &Untrusted(&line).line(400))?;
    }
    Ok(())
}

/// Prints the tests that were skipped, by target and reason; variants of a target that skip the same share a line.
fn skipped(out: &mut impl Write, summary: &RunSummary) -> io::Result<()> {
    let mut lines: BTreeMap<(&str, &str, usize), Vec<&TargetId>> = BTreeMap::new();
    for column in &summary.columns {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for skipped in &column.skipped {
            *reasons.entry(&skipped.text).or_default() += skipped.tests;
        }
        for (reason, tests) in reasons {
            lines.entry((&column.id.name, reason, tests)).or_default().push(&column.id);
        }
    }
    lines.into_iter().try_for_each(|((target, reason, tests), ids)| {
        let target =
            if let [one] = ids.as_slice() { one.to_string() } else { format!("{target}, {} variants each", ids.len()) };
        note(out, DIM, &format!("{tests} skipped"), &Untrusted(&format!("{target}  {reason}")).line(200))
    })
}

/// Prints targets without a planned test, and planned tests without a record.
fn undelivered(out: &mut impl Write, summary: &RunSummary) -> io::Result<()> {
    for target in summary.unasked() {
        let name = Untrusted(&target.to_string()).line(200);
        note(out, YELLOW, "not tested", &format!("{name}: no test was planned for it"))?;
    }
    for ((target, case), tests) in summary.undelivered.iter().take(NAMES) {
        note(out, YELLOW, &format!("{tests} not run"), &of(target, case))?;
    }
    more(out, summary.undelivered.len())
}

/// Prints the difference between the cases and the frozen set.
fn drift(out: &mut impl Write, summary: &RunSummary) -> io::Result<()> {
    let Some(Drift { set, gone, later }) = &summary.drift else { return Ok(()) };
    for name in gone.iter().take(NAMES) {
        let name = Untrusted(name).line(300);
        note(out, RED, "gone", &format!("{name} {DIM}is in the frozen set {set}, and in no case{DIM:#}"))?;
    }
    more(out, gone.len())?;
    let Some(first) = later.first() else { return Ok(()) };
    let (first, others) = (Untrusted(first).line(300), if later.len() > 1 { ", …" } else { "" });
    note(
        out,
        DIM,
        &format!("{} newer", later.len()),
        &format!("than the frozen set {set}, and not run: {first}{others}"),
    )
}

fn more(out: &mut impl Write, named: usize) -> io::Result<()> {
    if named > NAMES { note(out, DIM, "", &format!("and {} more", named - NAMES)) } else { Ok(()) }
}

/// Prints how many tests were not run, if the run was stopped.
fn incomplete(out: &mut impl Write, summary: &RunSummary) -> io::Result<()> {
    let missing = summary.missing();
    if summary.interrupted || missing > 0 {
        let planned = count(summary.planned, "test");
        writeln!(out, "{YELLOW}{BOLD}INCOMPLETE{BOLD:#}{YELLOW:#}: {missing} of {planned} were not run")?;
    }
    Ok(())
}

fn verdict(out: &mut impl Write, summary: &RunSummary, strict: bool) -> io::Result<()> {
    incomplete(out, summary)?;
    let missing = summary.missing();
    let is_whole = !summary.interrupted && missing == 0 && summary.unasked().next().is_none();
    let is_expected = summary.is_as_expected(strict);
    let (word, style) = match (is_expected && !summary.is_undecided(), is_whole) {
        (false, _) => ("not as expected", RED),
        (true, false) => ("as expected so far", YELLOW),
        (true, true) => ("as expected", GREEN),
    };
    let took = if summary.micros == 0 { String::new() } else { format!(" in {}", time(summary.micros)) };
    let mut snapshots = BTreeMap::<SnapshotState, usize>::new();
    for problem in summary.columns.iter().flat_map(|column| &column.snapshots) {
        *snapshots.entry(problem.state).or_default() += 1;
    }
    let snapshots: String =
        snapshots.iter().fold(String::new(), |out, (state, count)| format!("{out}; snapshots {state}: {count}"));
    let (total, (decided, asked)) = (summary.total(), summary.verified());
    let tests = count(total.total(), "test");
    let of = tested(summary);
    let warning = if summary.is_default {
        "; no SDK was tested, only casebook's own reference: name one, as in casebook run go-sdk"
    } else if summary.is_undecided() {
        "; nothing was tested: the adapter answered `cannot` to all checks"
    } else {
        ""
    };
    writeln!(
        out,
        "{style}{word}{style:#}: {tests} of {of}{took}: {total}; {decided} of {asked} requirements tested{snapshots}{warning}"
    )
}

/// The tested targets: one with its version, or the number of several and their names, as far as they fit on a line.
fn tested(summary: &RunSummary) -> String {
    const WIDTH: usize = 60;
    let text = match summary.columns.as_slice() {
        [Column { id, version: Some(version), .. }] => format!("{id} ({version})"),
        [Column { id, .. }] => id.to_string(),
        several => {
            let mut names = String::new();
            for (place, Column { id, .. }) in several.iter().enumerate() {
                let comma = if place == 0 { "" } else { ", " };
                let name = format!("{comma}{id}");
                if names.len() + name.len() > WIDTH {
                    names += &format!("{comma}…");
                    break;
                }
                names += &name;
            }
            format!("{} targets ({names})", several.len())
        }
    };
    Untrusted(&text).line(2 * WIDTH)
}
