//! Coverage as text, Markdown and JSON: a table by folder and level, and the names of unverified requirements.
//!
//! Must not know how coverage is counted.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Coverage, Entry, State, sums};
use crate::model::markdown::{code, url};
use crate::model::spec::{Level, Requirement, Role};

/// The characters of a remark that a page shows.
const REMARK: usize = 2000;

const HEADS: [&str; 8] =
    ["folder", "level", "requirements", "verified", "partly", "open", "unobservable", "checks + / −"];
const WRITING: &str = "writing to a string never fails";

impl Coverage<'_> {
    /// Returns the coverage for a terminal.
    pub fn text(&self) -> String {
        let rows = self.rows();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..HEADS.len()).map(|at| width(at).max(HEADS[at].chars().count())).collect();
        let mut out = String::new();
        for row in std::iter::once(&HEADS.map(str::to_owned)).chain(&rows) {
            for (at, cell) in row.iter().enumerate() {
                let blanks = " ".repeat(widths[at] - cell.chars().count());
                let (before, after) = if at < 2 { ("", blanks.as_str()) } else { (blanks.as_str(), "") };
                write!(out, "{before}{cell}{after}{}", if at + 1 < row.len() { "  " } else { "\n" }).expect(WRITING);
            }
        }
        for (state, entries) in self.wanting() {
            write!(out, "\n{state}\n").expect(WRITING);
            for entry in entries {
                let id = &entry.requirement.id;
                writeln!(out, "  {:<10}  {id}: {}", entry.requirement.level, remark(entry)).expect(WRITING);
            }
        }
        for (title, entries) in self.by_decision() {
            write!(out, "\n{title}\n").expect(WRITING);
            for (entry, decided, vacuous) in entries {
                let Requirement { level, id, .. } = entry.requirement;
                writeln!(out, "  {level:<10}  {decided:>3} {vacuous:>3}  {id}").expect(WRITING);
            }
        }
        out
    }

    /// Returns the coverage as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("| {} |\n|{}\n", HEADS.join(" | "), " --- |".repeat(HEADS.len()));
        for row in self.rows() {
            writeln!(out, "| {} |", row.join(" | ")).expect(WRITING);
        }
        for (state, entries) in self.wanting() {
            write!(out, "\n## {state}\n\n| level | requirement | |\n| --- | --- | --- |\n").expect(WRITING);
            for entry in entries {
                let (id, link) = (&entry.requirement.id, entry.requirement.link());
                let (id, remark) = (code(id.as_str(), 200), code(&remark(entry), REMARK));
                let id = url(&link).map_or(id.clone(), |url| format!("[{id}]({url})"));
                writeln!(out, "| {} | {id} | {remark} |", entry.requirement.level).expect(WRITING);
            }
        }
        for (title, entries) in self.by_decision() {
            write!(out, "\n## {title}\n\n| level | requirement | decided | not decided |\n").expect(WRITING);
            out += "| --- | --- | ---: | ---: |\n";
            for (entry, decided, vacuous) in entries {
                let (level, id) = (entry.requirement.level, code(entry.requirement.id.as_str(), 200));
                writeln!(out, "| {level} | {id} | {decided} | {vacuous} |").expect(WRITING);
            }
        }
        out
    }

    /// Returns the coverage as JSON.
    pub fn json(&self) -> Value {
        let sum = |(folder, level, sum): (String, Level, super::Sum)| {
            let states = State::ALL.iter().map(|state| (state.to_string(), json!(sum.states[*state as usize])));
            let mut row = json!({ "folder": folder, "level": level, "requirements": sum.requirements() });
            let object = row.as_object_mut().expect("it is written as one");
            object.extend(states);
            object.extend([("positive".to_owned(), json!(sum.positive)), ("negative".to_owned(), json!(sum.negative))]);
            row
        };
        let entry = |entry: &Entry<'_>| {
            let one = entry.requirement;
            let mut json = json!({
                "id": one.id.as_str(), "level": one.level, "roles": one.roles, "state": entry.state(),
                "positive": entry.positive, "negative": entry.negative,
                "unchecked": entry.unchecked().collect::<Vec<Role>>(), "unobservable": one.unobservable,
                "source": one.source, "quote": one.quote,
            });
            if let Some((decided, vacuous)) = entry.decided {
                let object = json.as_object_mut().expect("it is written as one");
                object.extend([("decided".to_owned(), json!(decided)), ("vacuous".to_owned(), json!(vacuous))]);
            }
            json
        };
        let (sums, entries): (Vec<Value>, Vec<Value>) =
            (sums(self).into_iter().map(sum).collect(), self.entries().iter().map(entry).collect());
        json!({ "format": 1, "casebook": env!("CARGO_PKG_VERSION"), "sums": sums, "requirements": entries })
    }

    fn rows(&self) -> Vec<[String; HEADS.len()]> {
        let mut last = String::new();
        let row = |(folder, level, sum): (String, Level, super::Sum)| {
            let shown = if folder == last { String::new() } else { folder.clone() };
            last = folder;
            let [verified, partly, open, unobservable] = sum.states.map(|count| count.to_string());
            let checks = format!("{} / {}", sum.positive, sum.negative);
            [shown, level.to_string(), sum.requirements().to_string(), verified, partly, open, unobservable, checks]
        };
        sums(self).into_iter().map(row).collect()
    }

    /// The requirements that are not verified, by state.
    fn wanting(&self) -> impl Iterator<Item = (State, Vec<&Entry<'_>>)> {
        let with = |state| self.entries().iter().filter(move |entry| entry.state() == state).collect::<Vec<_>>();
        let wanting = [State::Open, State::Partly, State::Unobservable].map(|state| (state, with(state)));
        wanting.into_iter().filter(|(_, entries)| !entries.is_empty())
    }
}

/// Entries with the numbers of targets that decided them and that did not.
type Decided<'e> = Vec<(&'e Entry<'e>, usize, usize)>;

impl Coverage<'_> {
    /// The requirements that cases check, first those that no target decided.
    fn by_decision(&self) -> impl Iterator<Item = (&'static str, Decided<'_>)> {
        let checked = self.entries().iter().filter(|entry| !entry.checked.is_empty());
        let all = checked.filter_map(|entry| entry.decided.map(|(decided, vacuous)| (entry, decided, vacuous)));
        let (some, none): (Vec<_>, Vec<_>) = all.partition(|(_, decided, _)| *decided > 0);
        let titles = [("decided on no target", none), ("targets that decided, and that did not", some)];
        titles.into_iter().filter(|(_, entries)| !entries.is_empty())
    }
}

/// Returns the reason why a requirement is unobservable, or the roles that no case checks.
fn remark(entry: &Entry<'_>) -> String {
    if let Some(reason) = &entry.requirement.unobservable {
        return reason.clone();
    }
    let roles: Vec<&str> = entry.unchecked().map(Role::word).collect();
    format!("no check of a {}: \"{}\"", roles.join(" or a "), entry.requirement.quote)
}
