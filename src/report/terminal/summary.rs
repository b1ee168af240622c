//! The numbers at the end of a run.
//!
//! Takes a [`Summary`], gives a table by area, what was skipped, what was slow, and the line that people look for.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{BOLD, DIM, GREEN, RED, SnapshotCounts, YELLOW, name, of, style, tally, time, timings};
use crate::model::TargetId;
use crate::model::record::Cuts;
use crate::model::set::Drift;
use crate::model::suite::{Door, Draft};
use crate::report::{Counts, Rate, Standing, Summary, Untrusted};

/// How many of a kind are named.
const NAMES: usize = 20;

pub(super) fn print(
    out: &mut impl Write,
    summary: &Summary,
    strict: bool,
    snapshots: SnapshotCounts,
) -> io::Result<()> {
    writeln!(out)?;
    table(out, summary)?;
    keywords(out, summary)?;
    skipped(out, summary)?;
    owed(out, summary)?;
    drift(out, summary)?;
    for stale in &summary.stale {
        writeln!(out, "{RED}{:>12}{RED:#}  {}", "stale", Untrusted(stale).line(400))?;
    }
    for (target, test, micros) in summary.slowest.iter().filter(|(_, _, micros)| *micros >= 1_000_000) {
        writeln!(out, "{DIM}{:>12}{DIM:#}  {} {DIM}{}{DIM:#}", "slow", name(target, test), time(*micros))?;
    }
    cut(out, summary.cut)?;
    summary.timings.as_ref().map_or(Ok(()), |timings| timings::print(out, timings))?;
    verdict(out, summary, strict, snapshots)
}

/// A line about the parts that the run log lacks.
fn cut(out: &mut impl Write, cut: Cuts) -> io::Result<()> {
    if cut.is_none() {
        return Ok(());
    }
    let Cuts { texts, bytes, tests } = cut;
    let tests =
        if tests > 0 { format!("; {tests} tests lack more than the ends of long messages") } else { String::new() };
    writeln!(out, "{DIM}{:>12}{DIM:#}  {texts} texts cut in the run log, {bytes} bytes left out{tests}", "cut")
}

/// A row an area, with the target's name where there are several; columns in which every area has none are left out.
fn table(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let columns: Vec<Standing> = summary.total.iter().map(|(standing, _)| standing).collect();
    let mut targets: Vec<_> = summary.areas.keys().map(|(target, _)| target).collect();
    targets.dedup();
    let name = |(target, area): &(TargetId, String)| match targets.as_slice() {
        [_] => Untrusted(area).line(60),
        _ => Untrusted(&format!("{target}  {area}")).line(100),
    };
    let names: Vec<String> = summary.areas.keys().map(name).collect();
    let width = names.iter().map(|area| area.chars().count()).max().unwrap_or(0).max("total".len());
    write!(out, "{DIM}{:width$}", "")?;
    for column in &columns {
        write!(out, "  {column:>12}")?;
    }
    writeln!(out, "{DIM:#}")?;
    let row = |out: &mut dyn Write, area: &str, counts: &Counts| {
        write!(out, "{area:width$}")?;
        for column in &columns {
            let count = counts.get(*column);
            let style = if count == 0 { DIM } else { style(*column) };
            write!(out, "  {style}{count:>12}{style:#}")?;
        }
        writeln!(out)
    };
    for (area, counts) in names.iter().zip(summary.areas.values()) {
        row(out, area, counts)?;
    }
    if names.len() > 1 { row(out, "total", &summary.total) } else { Ok(()) }
}

/// A line for each place where schemas and instances meet: how many are right, and the keywords that lack most.
fn keywords(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    const WORST: usize = 6;
    for (target, keywords) in &summary.keywords {
        let mut doors: BTreeMap<(Draft, Door), Vec<(&str, Rate)>> = BTreeMap::new();
        for (one, rate) in keywords.iter() {
            doors.entry((one.draft, one.door)).or_default().push((&one.keyword, rate));
        }
        for ((draft, door), mut rates) in doors {
            let sum = |part: fn(&Rate) -> usize| rates.iter().map(|(_, rate)| part(rate)).sum::<usize>();
            let (held, asked) = (sum(|rate| rate.held), sum(|rate| rate.asked));
            rates.retain(|(_, rate)| rate.held < rate.asked);
            rates.sort_by_key(|(_, rate)| rate.per_mille());
            let worst: Vec<_> = rates.iter().take(WORST).map(|(keyword, rate)| share(keyword, *rate)).collect();
            let more = rates.len().saturating_sub(WORST);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let (style, lacks) = if held == asked { (GREEN, String::new()) } else { (YELLOW, ": ".to_owned()) };
            let line =
                format!("{target}  JSON Schema {draft}, {door}: {held} of {asked}{lacks}{}{more}", worst.join(", "));
            writeln!(out, "{style}{:>12}{style:#}  {}", "keywords", Untrusted(&line).line(400))?;
        }
    }
    Ok(())
}

fn share(keyword: &str, rate: Rate) -> String {
    format!("{keyword} {}/{}", rate.held, rate.asked)
}

fn skipped(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for skipped in &summary.skipped {
        *reasons.entry(format!("{}  {}", skipped.target, skipped.reason)).or_default() += skipped.tests;
    }
    for (reason, tests) in reasons {
        writeln!(out, "{DIM}{:>12}{DIM:#}  {}", format!("{tests} skipped"), Untrusted(&reason).line(200))?;
    }
    Ok(())
}

/// What was declared, and not done.
fn owed(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    for target in &summary.unasked {
        let name = Untrusted(&target.to_string()).line(200);
        writeln!(out, "{YELLOW}{:>12}{YELLOW:#}  {name}: nothing of it was asked", "not asked")?;
    }
    let owed = summary.undelivered.iter().take(NAMES);
    for ((target, case), tests) in owed {
        writeln!(out, "{YELLOW}{:>12}{YELLOW:#}  {}", format!("{tests} not run"), of(target, case))?;
    }
    more(out, summary.undelivered.len())
}

/// What a set has that is gone, and what came after it.
fn drift(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let Some(Drift { set, gone, later }) = &summary.drift else { return Ok(()) };
    for name in gone.iter().take(NAMES) {
        writeln!(
            out,
            "{RED}{:>12}{RED:#}  {} {DIM}is in the set {set}, and in no case{DIM:#}",
            "gone",
            Untrusted(name).line(300)
        )?;
    }
    more(out, gone.len())?;
    if let [first, ..] = later.as_slice() {
        let later = format!("{} later", later.len());
        writeln!(
            out,
            "{DIM}{later:>12}{DIM:#}  than the set {set}, and not asked: {}{}",
            Untrusted(first).line(300),
            if later.starts_with("1 ") { "" } else { ", …" }
        )?;
    }
    Ok(())
}

fn more(out: &mut impl Write, named: usize) -> io::Result<()> {
    if named > NAMES { writeln!(out, "{DIM}{:>12}{DIM:#}  and {} more", "", named - NAMES) } else { Ok(()) }
}

/// Rates by level, folder and revision: a line each.
pub(super) fn rates(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    for (target, rates) in &summary.rates {
        let levels = rates.levels.iter().map(|(level, rate)| (level.to_string(), *rate));
        let folders = rates.folders.iter().map(|(folder, rate)| (folder.clone(), *rate));
        let revisions = rates.revisions.iter().map(|(revision, rate)| (revision.to_string(), *rate));
        let rows: Vec<_> = levels.chain(folders).chain(revisions).collect();
        let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        writeln!(out, "\n{BOLD}checks that hold{BOLD:#}  {}", Untrusted(&target.to_string()).line(200))?;
        for (name, rate) in &rows {
            let Rate { held, asked } = rate;
            let (name, style) = (Untrusted(name).line(60), if held == asked { GREEN } else { YELLOW });
            let share = rate.percent();
            writeln!(out, "  {name:width$}  {style}{share:>7}{style:#}  {DIM}{held} of {asked}{DIM:#}")?;
        }
    }
    Ok(())
}

fn verdict(out: &mut impl Write, summary: &Summary, strict: bool, snapshots: SnapshotCounts) -> io::Result<()> {
    let missing = summary.missing();
    let whole = !summary.interrupted && missing == 0 && summary.unasked.is_empty();
    if summary.interrupted || missing > 0 {
        writeln!(
            out,
            "{YELLOW}{BOLD}INCOMPLETE{BOLD:#}{YELLOW:#}: {missing} of {} tests were not run",
            summary.planned
        )?;
    }
    let (word, style) = match (summary.is_as_expected(strict) && snapshots == SnapshotCounts::default(), whole) {
        (false, _) => ("not as expected", RED),
        (true, false) => ("as expected so far", YELLOW),
        (true, true) => ("as expected", GREEN),
    };
    let took = if summary.micros == 0 { String::new() } else { format!(" in {}", time(summary.micros)) };
    let (verified, asked) = (summary.verified(), summary.requirements.len());
    let SnapshotCounts { changed, missing, unreadable } = snapshots;
    let snapshots = [("changed", changed), ("missing", missing), ("unreadable", unreadable)];
    let snapshots = snapshots.iter().filter(|(_, count)| *count > 0);
    let snapshots: Vec<_> = snapshots.map(|(what, count)| format!("; snapshots {what}: {count}")).collect();
    writeln!(
        out,
        "{style}{word}{style:#}: {} tests{took}: {}; {verified} of {asked} requirements verified{}",
        summary.total.total(),
        tally(&summary.total),
        snapshots.concat()
    )
}
