//! All cases against the reference and the targets of `CASEBOOK_TARGETS`: one trial per case file, which fails if a result
//! is unexpected or the snapshot has changed.

use camino::Utf8Path;
use casebook::load::{Here, target};
use casebook::model::case::Library;
use casebook::report::snapshot::{self, Body};
use casebook::trials::{Ran, as_expected, trials_with};
use libtest_mimic::{Failed, Trial};

use crate::PROGRAM;

pub(crate) fn trials() -> Vec<Trial> {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Utf8Path::new(PROGRAM);
    let here = Here::new(root);
    let mut targets = vec![target::reference(program, &here, None, &Library::default())];
    for name in std::env::var("CASEBOOK_TARGETS").unwrap_or_default().split_whitespace() {
        targets.extend(target::target(name, &here, None).expect("CASEBOOK_TARGETS names targets"));
    }
    trials_with(targets, program, matches_snapshot).expect("the cases are sound")
}

/// Compares the observations with the snapshots of `casebook run`, through insta, so that `cargo insta review` works. The
/// lines of other variants stay as they are.
fn matches_snapshot(ran: &Ran<'_>) -> Result<(), Failed> {
    as_expected(ran)?;
    let records: Vec<_> = ran.repeatable().collect();
    let Some(case) = records.first().map(|record| &record.test.case) else { return Ok(()) };
    let folder = ran.target.snapshots.as_ref().expect("every target of this repository has snapshots");
    let mut stored = snapshot::read(&snapshot::path(folder, case))?.unwrap_or_default();
    stored.insert(snapshot::variant(&ran.target.id).to_owned(), Body::from_records(records.iter().copied()));
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(folder.join(case.folder()));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(case.file(), snapshot::render(&stored)));
    Ok(())
}
