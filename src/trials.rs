//! The casebook as libtest-mimic trials, one a case file and variant, so that a Rust SDK can run it inside its own
//! `cargo test` (feature `trials`).
//!
//! Takes a target's folder, gives trials. A trial sets the target up if need be, starts it, runs one case file
//! against it, and fails where the specification is broken and no `[[known]]` entry says so.
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
use crate::load::{Here, LoadError, Source, Trust, load};
use crate::model::case::Library;
use crate::model::record::Record;
use crate::model::target::Target;
use crate::plan::{PlanError, Selection, plan};
use crate::report::Untrusted;
use crate::report::terminal::failures;
use crate::run::{Secrets, Seen, conduct};

/// How many characters of a failed set-up are shown.
const BLOCK: usize = 16_000;

/// Why there are no trials.
#[derive(Debug, thiserror::Error)]
pub enum TrialsError {
    /// The cases are wrong.
    #[error("{}", .0.report(false))]
    Cases(#[from] LoadError),
    /// The target is wrong.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Nothing is to be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is no working directory, or its path isn't UTF-8.
    #[error("no usable working directory: {0}")]
    Folder(#[from] std::io::Error),
}

/// What became of one case file with one target.
#[derive(Debug)]
pub struct Ran<'a> {
    /// The target.
    pub target: &'a Target,
    /// The cases.
    pub library: &'a Library,
    /// The records, in the order of the plan.
    pub records: &'a [Record],
}

/// Trials of the embedded cases for a target: a name under `targets/`, or a path to its folder or file. Clients that
/// speak over stdio launch `casebook`, which has to be on the `PATH`.
///
/// # Errors
/// [`TrialsError`] where the target or the cases are wrong. Nothing is started before a trial runs.
pub fn trials(target: &str) -> Result<Vec<Trial>, TrialsError> {
    let here = Utf8PathBuf::try_from(std::env::current_dir()?).map_err(camino::FromPathBufError::into_io_error)?;
    // These tests run the code of this repository anyway.
    let here = Here::new(&here, Trust::All);
    trials_with(target::target(target, &here, None)?, Utf8Path::new("casebook"), as_expected)
}

/// The same for targets that were already read; `program` is what clients launch over stdio, and `check` says whether
/// a trial has passed.
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
            // Trials run side by side themselves.
            let options = Options { program: program.to_owned(), jobs: NonZeroUsize::MIN, ..Options::default() };
            Trial::test(format!("{}::{case}", target.id), move || {
                trial(&library, &target, case.as_str(), options, check)
            })
        }));
    }
    Ok(trials)
}

/// Passes where all is as expected, known failures included.
///
/// # Errors
/// What the specification says of what isn't.
pub fn as_expected(ran: &Ran<'_>) -> Result<(), Failed> {
    let text = failures(ran.records, &ran.library.requirements);
    if text.is_empty() { Ok(()) } else { Err(text.into()) }
}

/// A failure in words that may be a target's: without its secrets, and as text.
fn shown(target: &Target, words: &str) -> Failed {
    Untrusted(&Secrets::of(target).out_of(words)).block(BLOCK).into()
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
        set_up(target, |_| {}).await.map_err(|error| shown(target, &error.to_string()))?;
        // Whoever stops a test run stops the whole process; nobody cancels a trial.
        let (_never, cancel) = tokio::sync::watch::channel(Cancel::Go);
        let conducted = conduct(plan, judge, options, cancel, None, see).await;
        conducted.broken.map_or(Ok(()), |error| Err(shown(target, &error.to_string())))
    })?;
    check(&Ran { target, library, records: &records })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_set_up_is_shown_as_text_and_without_secrets() {
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
