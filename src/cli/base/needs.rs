//! The programs that targets need, and those that are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use crate::drive::probe;
use crate::model::program::Found;
use crate::model::target::Target;
use crate::report::Untrusted;
use crate::report::terminal::eprint_line;

/// The most characters of a line of a `target.toml` that are shown.
const SHOWN: usize = 400;

/// A program that a target needs.
#[derive(Serialize)]
pub(in crate::cli) struct Needed {
    pub(in crate::cli) program: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<String>,
    /// The version of the program, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
    pub(in crate::cli) met: bool,
}

/// Returns the programs that a target needs, with what was found of each.
pub(in crate::cli) fn needed(target: &Target, found: &BTreeMap<String, Found>) -> Vec<Needed> {
    let needs = target.needs.iter().map(|program| {
        let found = found.get(&program.name).unwrap_or(&Found::Missing);
        Needed {
            program: program.name.clone(),
            least: program.least.as_ref().map(ToString::to_string),
            found: match found {
                Found::Version(version) => Some(version.to_string()),
                Found::Unversioned | Found::Missing => None,
            },
            met: program.is_met_by(found),
        }
    });
    needs.collect()
}

impl Needed {
    pub(in crate::cli) fn text(&self) -> String {
        let least = self.least.as_ref().map_or_else(String::new, |least| format!(" >= {least}"));
        let found = match (&self.found, self.met) {
            (Some(found), _) => format!("found {found}"),
            (None, true) => "found, version unknown".to_owned(),
            (None, false) if self.least.is_none() => "not found".to_owned(),
            (None, false) => "not found, or its version is unknown".to_owned(),
        };
        format!("{}{least} ({found})", self.program)
    }
}

/// Prints the programs that the targets need and that are missing or too old, after a target could not start.
pub(in crate::cli) async fn warn_of_needs(targets: &[Arc<Target>]) {
    let programs = targets.iter().flat_map(|target| &target.needs);
    let found = probe(programs.map(|program| program.name.clone()).collect::<BTreeSet<_>>()).await;
    let mut printed = BTreeSet::new();
    for target in targets {
        for need in needed(target, &found).iter().filter(|need| !need.met) {
            let line = format!("{} needs {}", target.id.name, need.text());
            if printed.insert(line.clone()) {
                eprint_line(&Untrusted(&line).line(SHOWN));
            }
        }
    }
}
