//! The badges of a site: for each target and role, for each revision too, and one for the agreement of all targets.

use std::io;

use super::super::badge::Badge;
use super::super::{Report, Untrusted};
use super::Put;
use super::edition::Edition;
use super::page::short_name;
use crate::model::spec::Role;

/// Writes the badges of the newest version of each target. A target's variant that stands for it has the badges of the
/// target too.
pub(super) fn write(report: &Report, editions: &[Edition], put: &mut Put<'_>) -> io::Result<()> {
    let mut put = |path: &str, badge: &Badge| put(&format!("{path}.json"), &badge.json());
    put("badges/agreement", &Badge::of_agreement(report.agreement()))?;
    for edition in editions.iter().filter(|edition| edition.is_newest) {
        let mut folders = vec![edition.place.badges()];
        if edition.column.is_main {
            folders.push(format!("badges/{}", edition.place.name));
            folders.dedup();
        }
        let name = Untrusted(&short_name(&edition.column)).line(60);
        for folder in &folders {
            for role in &Role::SINGLE {
                let rates = edition.column.sentences.get(role).copied().unwrap_or_default();
                put(&format!("{folder}/{role}"), &Badge::of_sentences(format!("MCP {role} {name}"), &rates, None))?;
                for ((one, revision), rates) in &edition.revisions {
                    if one == role {
                        let badge = Badge::of_sentences(format!("MCP {revision} {role} {name}"), rates, None);
                        put(&format!("{folder}/{role}-{revision}"), &badge)?;
                    }
                }
            }
        }
    }
    Ok(())
}
