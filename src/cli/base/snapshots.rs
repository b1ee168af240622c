//! Compares the observations of a run with the snapshots, or writes them with `--accept`.
//!
//! Takes the records of a run and the plan of a run without a selection, gives [`Changes`]. Of each snapshot, compares
//! the lines of tests that were observed, and the lines of tests that no longer exist. The lines of other variants of a
//! target are neither compared nor changed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::exit::Exit;
use super::here::unpacked_folder;
use super::problem::Problem;
use crate::model::record::{Record, SnapshotProblem, SnapshotState};
use crate::model::target::Target;
use crate::model::{CaseId, TargetId};
use crate::plan::{Group, Plan};
use crate::report::snapshot::{self, Body, Diff, Snapshot, Ways};
use crate::report::terminal::{Terminal, eprint_line};

/// The differences between the observations of a run and the snapshots.
#[derive(Debug, Default)]
pub(in crate::cli) struct Changes {
    /// Case files whose observations differ from the snapshot.
    differing: Vec<Change>,
    /// Case files without a snapshot, of targets that have snapshots of other case files.
    missing: Vec<(TargetId, CaseId)>,
    /// Snapshots that cannot be read, each with the reason.
    unreadable: Vec<(TargetId, CaseId, String)>,
    counts: Counts,
    /// The snapshots that were written, with `--accept`.
    written: Option<Written>,
    /// Set if a target has a folder of snapshots that the run compares with.
    is_comparison: bool,
    /// Targets that have no snapshots at all.
    blank: Vec<TargetId>,
    /// Targets without a place for snapshots, such as mutants.
    placeless: Vec<TargetId>,
}

/// Numbers of case files, of all targets that have snapshots.
#[derive(Debug, Default)]
struct Counts {
    compared: usize,
    /// Case files with a snapshot that the run did not include.
    not_run: usize,
    /// Case files that were run without an observation.
    not_observed: usize,
}

/// Numbers of snapshots that were written.
#[derive(Debug, Default)]
struct Written {
    all: usize,
    /// Snapshots that keep lines of tests that this run did not observe.
    merged: usize,
    /// Snapshots that lack tests, because no accepted run has observed them.
    incomplete: usize,
}

/// A case file whose observations differ from the snapshot.
#[derive(Debug)]
struct Change {
    target: TargetId,
    case: CaseId,
    diff: Diff,
}

impl Changes {
    /// The snapshots that the observations do not match, for the run log.
    pub(in crate::cli) fn problems(&self) -> Vec<SnapshotProblem> {
        let differing = self.differing.iter().map(|Change { target, case, .. }| (SnapshotState::Changed, target, case));
        let missing = self.missing.iter().map(|(target, case)| (SnapshotState::Missing, target, case));
        let unreadable = self.unreadable.iter().map(|(target, case, _)| (SnapshotState::Unreadable, target, case));
        let all = differing.chain(missing).chain(unreadable);
        all.map(|(state, target, case)| SnapshotProblem { target: target.clone(), case: case.clone(), state }).collect()
    }

    /// Shows the differences.
    pub(in crate::cli) fn show<W: Write>(&self, terminal: &mut Terminal<W>) -> io::Result<()> {
        self.differing.iter().try_for_each(|Change { target, case, diff }| terminal.on_diff(target, case, diff))?;
        self.missing.iter().try_for_each(|(target, case)| terminal.on_missing(target, case))?;
        self.unreadable.iter().try_for_each(|(target, case, why)| terminal.on_unreadable(target, case, why))
    }

    /// Prints the numbers of compared and written snapshots, and remedies for the differences.
    pub(in crate::cli) fn print(&self) {
        for line in self.lines() {
            eprint_line(&line);
        }
    }

    fn lines(&self) -> Vec<String> {
        let Self { differing, missing, unreadable, blank, placeless, .. } = self;
        let blank = blank.iter().map(|target| format!("{target} has no snapshots yet; write them with --accept"));
        let placeless = placeless.iter().map(|target| format!("no snapshots are kept for {target} here"));
        let remedies = [
            (!differing.is_empty(), "snapshots changed; if the new observations are right, run again with --accept"),
            (!missing.is_empty(), "snapshots missing; write them with --accept"),
            (!unreadable.is_empty(), "snapshots unreadable; to replace them, run their whole case files with --accept"),
        ];
        let remedies = remedies.into_iter().filter(|(applies, _)| *applies).map(|(_, remedy)| remedy.to_owned());
        let written = self.written.as_ref().map(Written::line);
        self.compared().into_iter().chain(written).chain(remedies).chain(blank).chain(placeless).collect()
    }

    /// The line `snapshots compared: 2; missing: 1; not compared: 3 (2 not run, 1 without an observation)`; `None` if no
    /// target has snapshots, or all were written.
    fn compared(&self) -> Option<String> {
        let Counts { compared, not_run, not_observed } = self.counts;
        let (missing, unreadable, left_out) = (self.missing.len(), self.unreadable.len(), not_run + not_observed);
        let parts = [
            (missing, format!("; missing: {missing}")),
            (unreadable, format!("; unreadable: {unreadable}")),
            (
                left_out,
                format!("; not compared: {left_out} ({not_run} not run, {not_observed} without an observation)"),
            ),
        ];
        let is_nothing = !self.is_comparison && compared == 0 && parts.iter().all(|(count, _)| *count == 0);
        let parts: String = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part).collect();
        (!is_nothing).then(|| format!("snapshots compared: {compared}{parts}"))
    }
}

impl Written {
    fn line(&self) -> String {
        let Self { all, merged, incomplete } = self;
        let parts = [
            (merged, format!("{merged} merged with lines of tests that were not run")),
            (incomplete, format!("{incomplete} incomplete, because no accepted run has observed all tests")),
        ];
        let parts: Vec<_> = parts.into_iter().filter(|(count, _)| **count > 0).map(|(_, part)| part).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        format!("snapshots written: {all}{parts}")
    }
}

/// The snapshots of the targets of a run. A case file is compared or written after its last test, so that the observations
/// of only one case file are in memory.
pub(in crate::cli) struct Snapshots<'a> {
    /// The folders of the targets that have snapshots.
    folders: BTreeMap<&'a TargetId, &'a Utf8Path>,
    /// The groups of each case file in a run without a selection.
    whole: BTreeMap<(&'a TargetId, &'a CaseId), &'a [Group]>,
    open: Option<Open>,
    /// The case files that were run, of targets that have snapshots.
    ran: BTreeSet<(TargetId, CaseId)>,
    changes: Changes,
    failed: Option<Problem>,
}

/// The case file of the current tests.
struct Open {
    target: TargetId,
    case: CaseId,
    /// The observations of its tests. A test without an observation, after an error in casebook or a target that cannot be
    /// started, shows nothing about the target.
    seen: Body,
}

/// Returns whether there are snapshots to compare or to write.
pub(in crate::cli) fn are_wanted(accept: bool, targets: &[Arc<Target>]) -> bool {
    targets.iter().filter_map(|target| target.snapshots.as_ref()).any(|folder| is_settled(accept, folder))
}

fn is_settled(accept: bool, folder: &Utf8Path) -> bool {
    accept || folder.is_dir()
}

impl<'a> Snapshots<'a> {
    /// `whole` is the plan of a run without a selection. Snapshots contain only its tests.
    pub(in crate::cli) fn new(accept: bool, targets: &'a [Arc<Target>], whole: &'a Plan) -> Self {
        let (mut folders, mut changes) = (BTreeMap::new(), Changes::default());
        for target in targets {
            match &target.snapshots {
                Some(folder) if is_settled(accept, folder) => _ = folders.insert(&target.id, folder.as_path()),
                // Snapshots in the cache would be lost with the next version of casebook.
                Some(folder)
                    if folder.starts_with(&target.folder)
                        && unpacked_folder(&target.id.name, &target.file).is_some() =>
                {
                    changes.placeless.push(target.id.clone());
                }
                Some(_) => changes.blank.push(target.id.clone()),
                None if target.is_ad_hoc() => {}
                None => changes.placeless.push(target.id.clone()),
            }
        }
        changes.is_comparison = !accept && !folders.is_empty();
        changes.written = accept.then(Written::default);
        let files = whole.groups.chunk_by(|one, next| one.case == next.case && one.target.id == next.target.id);
        let whole = files.map(|groups| ((&groups[0].target.id, &groups[0].case), groups)).collect();
        Self { folders, whole, open: None, ran: BTreeSet::new(), changes, failed: None }
    }

    /// Adds a record. The records of a case file must follow each other.
    pub(in crate::cli) fn add(&mut self, record: &Record) {
        if !self.folders.contains_key(&record.target) {
            return;
        }
        let is_same = |open: &Open| open.case == record.test.case && open.target == record.target;
        if !self.open.as_ref().is_some_and(is_same) {
            self.close();
        }
        let open = self.open.get_or_insert_with(|| Open {
            target: record.target.clone(),
            case: record.test.case.clone(),
            seen: Body::default(),
        });
        if !record.bug && record.observation.unavailable.is_none() {
            open.seen.add(record);
        }
    }

    /// Returns the changes of the whole run, and the first error of writing.
    pub(in crate::cli) fn finish(mut self) -> (Changes, Result<(), Problem>) {
        self.close();
        for (target, folder) in &self.folders {
            let is_left_out = |case: &CaseId| !self.ran.contains(&((*target).clone(), case.clone()));
            let cases = snapshot::cases_of_variant(folder, snapshot::variant(target));
            self.changes.counts.not_run += cases.into_iter().filter(is_left_out).count();
        }
        (self.changes, self.failed.map_or(Ok(()), Err))
    }

    /// Compares or writes the snapshot of the current case file.
    fn close(&mut self) {
        let Some(Open { target, case, seen }) = self.open.take() else { return };
        self.ran.insert((target.clone(), case.clone()));
        let groups = self.whole.get(&(&target, &case)).into_iter().flat_map(|groups| groups.iter());
        let tests = groups.flat_map(|group| &group.tests).filter(|planned| snapshot::is_repeatable(&planned.test));
        let planned = snapshot::ways(tests.map(|planned| &planned.id));
        // Snapshots do not contain heavy tests either.
        let (seen, heavy) = seen.divide(|path, way| snapshot::has(&planned, path, way));
        if seen.is_empty() {
            self.changes.counts.not_observed += usize::from(heavy.is_empty());
        } else if self.failed.is_none() {
            // After a snapshot that cannot be written, no other is written.
            self.failed = self.compare(target, case, seen, &planned).err();
        }
    }

    fn compare(&mut self, target: TargetId, case: CaseId, seen: Body, planned: &Ways) -> Result<(), Problem> {
        let path: Utf8PathBuf = snapshot::path(self.folders[&target], &case);
        if snapshot::is_behind_link(&path) {
            let text = format!(
                "cannot use {path}: it is behind a symbolic link; replace the link by the file or folder itself"
            );
            return Err(Problem::new(Exit::Unexpected, text));
        }
        let _lock = self.changes.written.is_some().then(|| snapshot::lock(&path));
        let is_whole = seen.ways() == *planned;
        let mut stored = match snapshot::read(&path) {
            Ok(stored) => stored.unwrap_or_default(),
            Err(_) if self.changes.written.is_some() && is_whole => Snapshot::default(),
            Err(why) => {
                self.changes.unreadable.push((target, case, why));
                return Ok(());
            }
        };
        let variant = snapshot::variant(&target);
        let old = stored.remove(variant);
        let (is_new, old) = (old.is_none(), old.unwrap_or_default());
        // The lines of tests that this run has not observed stay as they are.
        let (kept, compared) = old.divide(|path, way| snapshot::has(planned, path, way) && !seen.has(path, way));
        self.changes.counts.compared += usize::from(!is_new);
        if !is_new && compared == seen {
            return Ok(());
        }
        if let Some(written) = &mut self.changes.written {
            written.all += 1;
            written.merged += usize::from(!kept.is_empty());
            let body = kept.with(seen);
            written.incomplete += usize::from(body.ways() != *planned);
            // Lines from before the target got its first variant, or lost its last one, are removed.
            stored.retain(|other, _| other.is_empty() == variant.is_empty());
            stored.insert(variant.to_owned(), body);
            let saved = snapshot::write(&path, &target, &case, &stored);
            return saved.map_err(|error| Problem::unsaved(&path, &error));
        }
        if is_new {
            self.changes.missing.push((target, case));
        } else {
            let [old, new] = compared.texts(&seen);
            let diff = snapshot::compare(&old, &new);
            self.changes.differing.extend(diff.map(|diff| Change { target, case, diff }));
        }
        Ok(())
    }
}
