//! The times of a run, as a table and a line for the processor.
//!
//! Takes [`Timings`], prints a row for each of several targets and one for all. Shares are of the time of all workers.

use std::io::{self, Write};
use std::time::Duration;

use super::{BOLD, DIM, padded, time, widest};
use crate::model::text::count;
use crate::model::timings::{Processor, Timings};
use crate::report::Untrusted;

const COLUMNS: [&str; 4] = ["target start", "target busy", "harness", "waiting"];

pub(super) fn print(out: &mut impl Write, timings: &Timings) -> io::Result<()> {
    let Timings { workers, wall, targets, processor } = timings;
    let all = timings.all();
    let (workers, took) = (count(*workers, "worker"), of(*wall));
    writeln!(out, "\n{BOLD}where the time went{BOLD:#}  {DIM}{workers} for {took}{DIM:#}")?;
    let names: Vec<String> = targets.keys().map(|id| Untrusted(&id.to_string()).line(60)).collect();
    let width = widest(&names).max("processor".len());
    write!(out, "  {DIM}{:width$}", "")?;
    for column in COLUMNS {
        write!(out, "  {column:>18}")?;
    }
    writeln!(out, "{DIM:#}")?;
    let mut row = |name: &str, cells: &[Duration]| {
        write!(out, "  {}", padded(name, width))?;
        for cell in cells {
            write!(out, "  {:>10}{:>8}", of(*cell), share(*cell, all))?;
        }
        writeln!(out)
    };
    if let [_, _, ..] = names.as_slice() {
        for (name, spent) in names.iter().zip(targets.values()) {
            row(name, &[spent.start, spent.busy, spent.harness()])?;
        }
    }
    let (spent, name) = (timings.spent(), if let [one] = names.as_slice() { one } else { "all" });
    row(name, &[spent.start, spent.busy, spent.harness(), timings.waiting()])?;
    processor.as_ref().map_or(Ok(()), |processor| seconds(out, processor, width))
}

fn seconds(out: &mut impl Write, processor: &Processor, width: usize) -> io::Result<()> {
    let Processor { harness, targets } = *processor;
    let all = harness + targets;
    let part = |what: &str, used| format!("{what} {}{:>8}", of(used), share(used, all));
    writeln!(out, "  {:width$}  {}, {}", "processor", part("harness", harness), part("targets", targets))
}

fn of(spent: Duration) -> String {
    time(u64::try_from(spent.as_micros()).unwrap_or(u64::MAX))
}

/// `12.3 %`.
fn share(part: Duration, all: Duration) -> String {
    let all = all.as_secs_f64();
    format!("{:.1} %", if all > 0.0 { 100.0 * part.as_secs_f64() / all } else { 0.0 })
}
