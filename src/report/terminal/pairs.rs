//! The display of a run of pairs: the matrix of clients and servers, and where values were lost.
//!
//! Takes records in the order of the plan, and their [`Pairs`]. Must not know single messages.

use std::io::{self, Write};

use anstyle::Style;
use indicatif::{ProgressBar, ProgressStyle};

use super::{BOLD, DIM, GREEN, RED, StandardOutput, YELLOW, padded, standard_output, time, widest};
use crate::model::record::Record;
use crate::model::spec::Role;
use crate::model::text::count;
use crate::model::{CaseId, TargetId};
use crate::report::pairs::{PairCell, Pairs, age_table};
use crate::report::{Rate, Untrusted};

/// The number of losses that are shown.
const LOSSES: usize = 15;

/// The display of a run of pairs.
pub struct PairTerminal {
    out: StandardOutput,
    bar: ProgressBar,
}

impl PairTerminal {
    /// Shows a run of so many tests on standard output, with a progress bar where standard error is a terminal.
    pub fn new(planned: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}").expect("the template is valid");
        let bar = ProgressBar::new(planned as u64).with_style(style.progress_chars("━╸ "));
        Self { out: standard_output(), bar }
    }

    /// Takes the record of a test that has ended.
    pub fn on_record(&mut self, record: &Record) {
        self.bar.inc(1);
        self.bar.set_message(Untrusted(&format!("{}  {}", record.target, record.test)).line(200));
    }

    /// Shows the results.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, pairs: &Pairs, micros: u64, is_verbose: bool) -> io::Result<()> {
        self.bar.finish_and_clear();
        let out = &mut self.out;
        if !pairs.is_empty() {
            matrix(out, pairs)?;
            features(out, pairs)?;
            losses(out, pairs, is_verbose)?;
            if pairs.len() > 1 {
                ages(out, pairs)?;
            }
        }
        let rate = pairs.overall();
        let style = style(rate);
        let took = if micros == 0 { String::new() } else { format!(" in {}", time(micros)) };
        let unseen = match pairs.unseen() {
            0 => String::new(),
            tests => format!("; {tests} tests without a result"),
        };
        writeln!(
            out,
            "\n{style}{}{style:#} of the checks hold: {} of {}, in {}{took}{unseen}",
            rate.percent(),
            rate.held,
            rate.asked,
            count(pairs.len(), "pair"),
        )?;
        out.flush()
    }
}

fn style(rate: Rate) -> Style {
    match rate {
        Rate { asked: 0, .. } => DIM,
        Rate { held, asked } if held == asked => GREEN,
        Rate { held, asked } if held * 2 >= asked => YELLOW,
        _ => RED,
    }
}

fn named(target: &TargetId) -> String {
    Untrusted(&target.to_string()).line(60)
}

/// Prints a row for each client, and a column for each server under its number.
fn matrix(out: &mut impl Write, pairs: &Pairs) -> io::Result<()> {
    let (clients, servers) = (pairs.clients(), pairs.servers());
    writeln!(out, "{BOLD}checks that hold, in percent{BOLD:#}  clients at the left, servers by their numbers\n")?;
    let names: Vec<_> = clients.iter().map(|client| named(client)).collect();
    let width = widest(&names).max("all".len());
    write!(out, "{DIM}{}", padded("", width))?;
    for number in 1..=servers.len() {
        write!(out, "{number:>5}")?;
    }
    writeln!(out, "  all{DIM:#}")?;
    for (client, name) in clients.iter().zip(&names) {
        write!(out, "{}", padded(name, width))?;
        for server in &servers {
            let rate = pairs.cell(client, server).map(PairCell::rate).unwrap_or_default();
            let style = style(rate);
            write!(out, "{style}{:>5}{style:#}", rate.whole_percent())?;
        }
        let rate = pairs.of_side(Role::Client, client);
        let style = style(rate);
        writeln!(out, "{style}{:>5}{style:#}", rate.whole_percent())?;
    }
    writeln!(out)?;
    for (place, server) in servers.iter().enumerate() {
        let rate = pairs.of_side(Role::Server, server);
        let style = style(rate);
        writeln!(out, "{:>5}  {style}{:>4}{style:#}  {}", place + 1, rate.whole_percent(), named(server))?;
    }
    Ok(())
}

fn features(out: &mut impl Write, pairs: &Pairs) -> io::Result<()> {
    writeln!(out, "\n{BOLD}by feature{BOLD:#}")?;
    let all: Vec<(&CaseId, &str)> = pairs.features().collect();
    let names: Vec<_> = all.iter().map(|(id, _)| id.file().to_owned()).collect();
    let width = widest(&names);
    for ((id, title), name) in all.iter().zip(&names) {
        let rate = pairs.of_feature(id);
        let (style, name) = (style(rate), padded(&Untrusted(name).line(40), width));
        let title = Untrusted(title).line(100);
        writeln!(out, "  {style}{:>7}{style:#}  {name}  {DIM}{title}{DIM:#}", rate.percent())?;
    }
    Ok(())
}

/// Prints where values were lost, with the side and the sentence that it broke.
fn losses(out: &mut impl Write, pairs: &Pairs, is_verbose: bool) -> io::Result<()> {
    let losses = pairs.losses();
    if losses.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}where values are lost{BOLD:#}")?;
    let most = if is_verbose { losses.len() } else { LOSSES };
    for (key, loss) in losses.iter().take(most) {
        let extent = format!("{}, {}", count(loss.checks, "check"), count(loss.others.len(), "pair"));
        writeln!(out, "  {BOLD}{}{BOLD:#}  {DIM}{extent}{DIM:#}", Untrusted(key.requirement.as_str()).line(80))?;
        writeln!(out, "    {}", Untrusted(&key.words()).line(300))?;
        let quote = key.sentence.as_ref().and_then(|sentence| pairs.catalogue().get(sentence));
        if let Some(sentence) = quote {
            writeln!(out, "    {DIM}{} \"{}\"{DIM:#}", sentence.level, Untrusted(&sentence.quote).line(200))?;
        }
        writeln!(out, "    {DIM}as in {}{DIM:#}", Untrusted(&format!("{}  {}", loss.pair, loss.test)).line(300))?;
        if let Some(reason) = loss.reasons.first() {
            writeln!(out, "    {DIM}{}{DIM:#}", Untrusted(reason).line(300))?;
        }
    }
    match losses.len().saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(out, "  {DIM}and {more} more; --verbose shows all{DIM:#}"),
    }
}

/// Prints the table of SEP-2106 beside what was measured.
fn ages(out: &mut impl Write, pairs: &Pairs) -> io::Result<()> {
    writeln!(out, "\n{BOLD}SEP-2106's table, measured{BOLD:#}  new: implements SEP-2106")?;
    for cell in age_table(pairs).iter().filter(|cell| cell.pairs > 0) {
        writeln!(out, "  {}  {DIM}{}: {}{DIM:#}", cell.title(), count(cell.pairs, "pair"), cell.claim)?;
        let rates = [("objects", cell.objects), ("other values", cell.others), ("listed schemas", cell.schemas)];
        let rates: Vec<_> = rates
            .iter()
            .filter(|(_, rate)| rate.asked > 0)
            .map(|(name, rate)| format!("{name} {} ({} of {})", rate.percent(), rate.held, rate.asked))
            .collect();
        let rates = if rates.is_empty() { "not asked".to_owned() } else { rates.join(", ") };
        writeln!(out, "    {rates}")?;
    }
    Ok(())
}
