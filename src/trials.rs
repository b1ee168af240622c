//! The cases as libtest-mimic trials, one per case file and variant of the target, so that a Rust SDK can run them
//! inside its own `cargo test`.
//!
//! Takes the folder of a target, gives trials. A trial sets up the target if necessary, starts it, and runs one case
//! file against it. A violated requirement fails the trial, unless it is a known failure of the target.
//!
//! ```no_run
//! // tests/casebook.rs, with `harness = false`
//! fn main() -> std::process::ExitCode {
//!     let arguments = libtest_mimic::Arguments::from_args();
//!     let trials = casebook::trials::trials("casebook-target").expect("the target and the cases are sound");
//!     libtest_mimic::run(&arguments, trials).exit_code()
//! }
//! ```

use std::num::NonZeroUsize;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use libtest_mimic::{Failed, Trial};

use crate::drive::{Cancel, Options, set_up};
use crate::judge::Judge;
use crate::load::target::{self, TargetError};
use crate::load::{Here, LoadError, Source, load};
use crate::model::case::Library;
use crate::model::record::Record;
use crate::model::target::Target;
use crate::plan::{PlanError, Selection, plan};
use crate::report::terminal::failures;
use crate::report::{Untrusted, snapshot};
use crate::run::{Secrets, Seen, conduct};

/// The most characters of a failed set-up that are shown.
const BLOCK: usize = 16_000;

/// An error of building the trials.
#[derive(Debug, thiserror::Error)]
pub enum TrialsError {
    /// The cases have errors.
    #[error("{}", .0.report(false))]
    Cases(#[from] LoadError),
    /// The target does not exist or has errors.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// There are no tests to run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is no working directory, or its path is not UTF-8.
    #[error("cannot use the working directory: {0}")]
    Folder(#[from] std::io::Error),
}

/// The results of one case file with one target.
#[derive(Debug)]
pub struct Ran<'a> {
    /// The target.
    pub target: &'a Target,
    /// The cases.
    pub library: &'a Library,
    /// The records, in the order of the plan.
    pub records: &'a [Record],
}

impl<'a> Ran<'a> {
    /// The records that snapshots contain, in the order of the plan.
    pub fn repeatable(&self) -> impl Iterator<Item = &'a Record> {
        let tests = self.library.cases.iter().flat_map(|case| &case.tests);
        let crossing: Vec<_> = tests.filter(|test| !snapshot::is_repeatable(test)).collect();
        self.records.iter().filter(move |Record { test: id, .. }| {
            !crossing.iter().any(|test| test.case == id.case && test.id == id.test && test.row == id.row)
        })
    }
}

/// Builds the trials of the embedded cases for a target: a name under `targets/`, or the path of its folder or file.
/// Clients over stdio start the program `casebook`, which must be on the `PATH`.
///
/// # Errors
/// [`TrialsError`] if the target or the cases have errors. No process is started before a trial runs.
pub fn trials(target: &str) -> Result<Vec<Trial>, TrialsError> {
    let here = Utf8PathBuf::try_from(std::env::current_dir()?).map_err(camino::FromPathBufError::into_io_error)?;
    // The tests of a repository run its code anyway, so its files are trusted.
    let here = Here::new(&here);
    trials_with(target::target(target, &here, None)?, Utf8Path::new("casebook"), as_expected)
}

/// Builds the trials of targets that were already read. Clients over stdio start `program`. `check` decides whether a
/// trial passes.
///
/// # Errors
/// As [`trials`].
pub fn trials_with(
    targets: Vec<Target>,
    program: &Utf8Path,
    check: fn(&Ran<'_>) -> Result<(), Failed>,
) -> Result<Vec<Trial>, TrialsError> {
    let library = Arc::new(load(&[Source::Embedded])?);
    let mut trials = Vec::new();
    for target in targets.into_iter().map(Arc::new) {
        let whole = plan(&library, &[Arc::clone(&target)], &Selection::default())?;
        let mut cases: Vec<_> = whole.groups.into_iter().map(|group| group.case).collect();
        cases.dedup();
        trials.extend(cases.into_iter().map(|case| {
            let (library, target) = (Arc::clone(&library), Arc::clone(&target));
            // libtest-mimic runs several trials at a time.
            let options = Options { program: program.to_owned(), jobs: NonZeroUsize::MIN, ..Options::default() };
            Trial::test(format!("{}::{case}", target.id), move || {
                trial(&library, &target, case.as_str(), options, check)
            })
        }));
    }
    Ok(trials)
}

/// Checks that all results are as expected, known failures included.
///
/// # Errors
/// The text of the unexpected results.
pub fn as_expected(ran: &Ran<'_>) -> Result<(), Failed> {
    let text = failures(ran.records, ran.library);
    if text.is_empty() { Ok(()) } else { Err(text.into()) }
}

/// Returns a failure with a text that may come from a target: without its secrets, and escaped.
fn failed(target: &Target, text: &str) -> Failed {
    Untrusted(&Secrets::of(target).out_of(text)).block(BLOCK).into()
}

fn trial(
    library: &Library,
    target: &Arc<Target>,
    case: &str,
    options: Options,
    check: fn(&Ran<'_>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let selection = Selection { only: vec![case.parse()?], ..Selection::default() };
    let plan = Arc::new(plan(library, &[Arc::clone(target)], &selection)?);
    let judge = Judge::new(&library.requirements, [target.as_ref()]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut records = Vec::new();
    let see = |seen: Seen<'_>| {
        if let Seen::Judged(record, _) = seen {
            records.push(record.clone());
        }
    };
    runtime.block_on(async {
        set_up(target, |_| {}).await.map_err(|error| failed(target, &error.to_string()))?;
        // The user stops a test run by ending the process, so a trial is never cancelled.
        let (_never, cancel) = tokio::sync::watch::channel(Cancel::Go);
        let conducted = conduct(plan, judge, options, cancel, None, see).await;
        conducted.broken.map_or(Ok(()), |error| Err(failed(target, &error.to_string())))
    })?;
    check(&Ran { target, library, records: &records })
}

// The set-up of this test is a script for a POSIX shell.
#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn failed_set_up_is_escaped_and_without_secrets() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = Utf8Path::from_path(folder.path()).expect("UTF-8").join("t");
        std::fs::create_dir(&folder).expect("a folder");
        let toml = r#"
            title = "x"
            command = ["false"]
            env = { ACCESS = "opens-the-door-7" }
            [setup]
            commands = [["sh", "-c", "printf '\\033]0;x\\007\\n::error::opens-the-door-7\\n'; exit 3"]]
            [claims]
            roles = ["server"]
            transports = ["stdio"]
            revisions = ["2026-07-28"]
        "#;
        std::fs::write(folder.join("target.toml"), toml).expect("written");
        let targets = target::read(&folder.join("target.toml")).expect("a target");
        let library = load(&[Source::Embedded]).expect("the cases are sound");
        let target = Arc::new(targets[0].clone());
        let failed = trial(&library, &target, "tools/list", Options::default(), as_expected).expect_err("no set-up");
        let text = failed.message().expect("words");
        assert!(text.contains("\\u{1b}]0;x\\u{7}\n\\u{3a}:error::[ACCESS]"), "{text:?}");
        assert!(!text.contains("opens-the-door"), "{text:?}");
    }
}
