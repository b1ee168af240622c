//! Snapshots beside what was observed: compared, or with `--accept` written.
//!
//! Takes the records of a run and the plan of an unfiltered one. Compares of each snapshot the lines of the tests that
//! were run and seen, and those of tests that no run has any more.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Exit, Problem};
use crate::load::target::REFERENCE;
use crate::model::record::Record;
use crate::model::target::Target;
use crate::model::{CaseId, TargetId};
use crate::plan::{Group, Plan};
use crate::report::snapshot::{self, Body, Diff, Ways, differences};
use crate::report::terminal::{Terminal, eprint_line};

/// What was observed beside what the snapshots say.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Case files that were observed otherwise.
    differing: Vec<Change>,
    /// Case files without a snapshot, of targets that have others.
    missing: Vec<(TargetId, CaseId)>,
    /// Snapshots that cannot be read, each with the reason.
    unreadable: Vec<(TargetId, CaseId, String)>,
    counts: Counts,
    /// The snapshots that were written, with `--accept`.
    written: Option<Written>,
    /// Set where a target has a folder of snapshots that the run compares with.
    is_comparison: bool,
    /// Targets that have no snapshots at all.
    blank: Vec<TargetId>,
    /// Targets whose observations nobody keeps, such as mutants.
    unkept: Vec<TargetId>,
}

/// Numbers of case files, of all targets that have snapshots.
#[derive(Debug, Default)]
struct Counts {
    compared: usize,
    /// Those with a snapshot of which the run had nothing.
    not_run: usize,
    /// Those that were run, and of which nothing was seen.
    not_seen: usize,
}

/// Numbers of snapshots that were written.
#[derive(Debug, Default)]
struct Written {
    all: usize,
    /// Those that keep lines of tests that were not seen in this run.
    merged: usize,
    /// Those that lack tests, because no accepted run has seen them.
    incomplete: usize,
}

/// One case file that was observed otherwise.
#[derive(Debug)]
struct Change {
    target: TargetId,
    case: CaseId,
    diff: Diff,
}

impl Changes {
    /// Returns whether all that was compared is as the snapshots say, and there was one for all that was seen.
    pub(super) fn is_none(&self) -> bool {
        self.differing.is_empty() && self.missing.is_empty() && self.unreadable.is_empty()
    }

    /// Shows where they differ.
    pub(super) fn show<W: Write>(&self, terminal: &mut Terminal<W>) -> io::Result<()> {
        self.differing.iter().try_for_each(|Change { target, case, diff }| terminal.on_diff(target, case, diff))?;
        self.missing.iter().try_for_each(|(target, case)| terminal.on_missing(target, case))?;
        self.unreadable.iter().try_for_each(|(target, case, why)| terminal.on_unreadable(target, case, why))
    }

    /// Prints what was compared and written, and the remedy for what differs.
    pub(super) fn tell(&self) {
        for line in self.lines() {
            eprint_line(&line);
        }
    }

    fn lines(&self) -> Vec<String> {
        let Self { differing, missing, unreadable, blank, unkept, .. } = self;
        let blank = blank.iter().map(|target| format!("{target} has no snapshots yet; --accept writes them"));
        let unkept = unkept.iter().map(|target| format!("snapshots: none are kept for {target} here"));
        let remedies = [
            (!differing.is_empty(), "snapshots changed; if the new observations are right, run it again with --accept"),
            (!missing.is_empty(), "snapshots missing; a run with --accept writes them"),
            (
                !unreadable.is_empty(),
                "snapshots unreadable; a run of their whole case files with --accept replaces them",
            ),
        ];
        let remedies = remedies.into_iter().filter(|(applies, _)| *applies).map(|(_, remedy)| remedy.to_owned());
        let written = self.written.as_ref().map(Written::line);
        self.compared().into_iter().chain(written).chain(remedies).chain(blank).chain(unkept).collect()
    }

    /// `snapshots compared: 2; missing: 1; left out: 3 (2 not run, 1 not seen)`; nothing where no target
    /// has any, or all were written.
    fn compared(&self) -> Option<String> {
        let Counts { compared, not_run, not_seen } = self.counts;
        let (missing, unreadable, left_out) = (self.missing.len(), self.unreadable.len(), not_run + not_seen);
        let parts = [
            (missing, format!("; missing: {missing}")),
            (unreadable, format!("; unreadable: {unreadable}")),
            (left_out, format!("; left out: {left_out} ({not_run} not run, {not_seen} not seen)")),
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
            (merged, format!("{merged} merged with what this run left out")),
            (incomplete, format!("{incomplete} still without some tests, which no accepted run has seen")),
        ];
        let parts: Vec<_> = parts.into_iter().filter(|(count, _)| **count > 0).map(|(_, part)| part).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        format!("snapshots written: {all}{parts}")
    }
}

/// The snapshots of a run's targets. A case file is compared, or written, once its last test has come, and of what was
/// observed in it only that is kept then.
pub(super) struct Snapshots<'a> {
    /// Where the snapshots of each target are; those that have none have no place here.
    folders: BTreeMap<&'a TargetId, &'a Utf8Path>,
    /// What an unfiltered run has of each case file.
    whole: BTreeMap<(&'a TargetId, &'a CaseId), &'a [Group]>,
    open: Option<Open>,
    /// The case files that were run, of targets with a place.
    ran: BTreeSet<(TargetId, CaseId)>,
    changes: Changes,
    failed: Option<Problem>,
}

/// The case file whose tests are coming in.
struct Open {
    target: TargetId,
    case: CaseId,
    /// The tests that were seen: what nobody saw, for a bug of ours or a target that was given up before its turn, is
    /// no news of the target.
    seen: Body,
}

/// Whether there is anything to compare or to write, so that it matters what an unfiltered run has.
pub(super) fn are_wanted(accept: bool, targets: &[Arc<Target>]) -> bool {
    targets.iter().filter_map(|target| target.snapshots.as_ref()).any(|folder| is_settled(accept, folder))
}

fn is_settled(accept: bool, folder: &Utf8Path) -> bool {
    accept || folder.is_dir()
}

impl<'a> Snapshots<'a> {
    /// `whole` is what an unfiltered run has; tests beyond that are in no snapshot.
    pub(super) fn new(accept: bool, targets: &'a [Arc<Target>], whole: &'a Plan) -> Self {
        let (mut folders, mut changes) = (BTreeMap::new(), Changes::default());
        for target in targets {
            match &target.snapshots {
                Some(folder) if is_settled(accept, folder) => _ = folders.insert(&target.id, folder.as_path()),
                Some(_) => changes.blank.push(target.id.clone()),
                None => changes.unkept.push(target.id.clone()),
            }
        }
        changes.is_comparison = !accept && !folders.is_empty();
        changes.written = accept.then(Written::default);
        let files = whole.groups.chunk_by(|one, next| one.case == next.case && one.target.id == next.target.id);
        let whole = files.map(|groups| ((&groups[0].target.id, &groups[0].case), groups)).collect();
        Self { folders, whole, open: None, ran: BTreeSet::new(), changes, failed: None }
    }

    /// Takes what was observed in a test; those of one case file come one after the other.
    pub(super) fn add(&mut self, record: &Record) {
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

    /// The changes of the whole run, and the error that kept it from writing.
    pub(super) fn finish(mut self) -> (Changes, Result<(), Problem>) {
        self.close();
        for (target, folder) in &self.folders {
            let is_left_out = |case: &CaseId| !self.ran.contains(&((*target).clone(), case.clone()));
            self.changes.counts.not_run += snapshot::cases(folder).into_iter().filter(is_left_out).count();
        }
        let written = match self.failed.take() {
            Some(problem) => Err(problem),
            None if self.changes.written.is_some() => self.write_pages(),
            None => Ok(()),
        };
        (self.changes, written)
    }

    /// Writes the pages of the run's targets, and where the reference is one of them, all that there are already.
    fn write_pages(&self) -> Result<(), Problem> {
        for (target, folder) in &self.folders {
            let place: Utf8PathBuf = [Some(&target.name), target.variant.as_ref()].into_iter().flatten().collect();
            let Some(root) = folder.as_str().strip_suffix(place.as_str()).map(Utf8Path::new) else { continue };
            let reference = root.join(REFERENCE);
            let pages = if target.name == REFERENCE {
                differences::pages(root)
            } else {
                vec![((*target).clone(), folder.to_path_buf())]
            };
            for (target, folder) in pages.into_iter().filter(|_| reference.is_dir()) {
                let path = folder.join(differences::FILE);
                // A snapshot that cannot be read was reported by the run that has its test.
                let Ok(Some(page)) = differences::page(&target, &folder, &reference) else { continue };
                if !snapshot::is_behind_link(&path) {
                    snapshot::replace(&path, &page).map_err(|error| Problem::unsaved(&path, &error))?;
                }
            }
        }
        Ok(())
    }

    /// Settles the case file whose tests have all come.
    fn close(&mut self) {
        let Some(Open { target, case, seen }) = self.open.take() else { return };
        self.ran.insert((target.clone(), case.clone()));
        let groups = self.whole.get(&(&target, &case)).into_iter().flat_map(|groups| groups.iter());
        let planned = snapshot::ways(groups.flat_map(|group| &group.tests).map(|planned| &planned.id));
        // No snapshot has a heavy test.
        let (seen, heavy) = seen.divide(|path, way| snapshot::has(&planned, path, way));
        if seen.is_empty() {
            self.changes.counts.not_seen += usize::from(heavy.is_empty());
        } else if self.failed.is_none() {
            // After one snapshot that can't be written, no other is.
            self.failed = self.compare(target, case, seen, &planned).err();
        }
    }

    fn compare(&mut self, target: TargetId, case: CaseId, seen: Body, planned: &Ways) -> Result<(), Problem> {
        let path: Utf8PathBuf = snapshot::path(self.folders[&target], &case);
        if snapshot::is_behind_link(&path) {
            let text =
                format!("{path}: this is behind a link, which may lead anywhere; put the file itself in its place");
            return Err(Problem::new(Exit::Unexpected, text));
        }
        let is_whole = seen.ways() == *planned;
        let (old, is_new) = match snapshot::read(&path) {
            Ok(Some(old)) => (old, false),
            Ok(None) => (Body::default(), true),
            Err(_) if self.changes.written.is_some() && is_whole => (Body::default(), true),
            Err(why) => {
                self.changes.unreadable.push((target, case, why));
                return Ok(());
            }
        };
        // The lines of tests that this run has not seen stay as they are.
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
            let written = snapshot::write(&path, &target, &case, &body.text());
            return written.map_err(|error| Problem::unsaved(&path, &error));
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
