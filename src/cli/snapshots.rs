//! Snapshots beside what was observed: compared, or with `--accept` written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::Problem;
use crate::file;
use crate::model::record::Record;
use crate::model::target::Target;
use crate::model::{CaseId, TargetId, TestId};
use crate::plan::{Group, Plan};
use crate::report::snapshot::{self, Body, Diff};
use crate::report::terminal::{Terminal, aside};

/// The most that is read of a snapshot, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// What was observed beside what the snapshots say.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Case files that were observed otherwise.
    differing: Vec<Change>,
    /// Case files without a snapshot, of targets that have others.
    missing: Vec<(TargetId, CaseId)>,
    written: usize,
    /// Targets that have no snapshots at all.
    blank: Vec<TargetId>,
}

/// One case file that was observed otherwise.
#[derive(Debug)]
struct Change {
    target: TargetId,
    case: CaseId,
    diff: Diff,
}

impl Changes {
    /// Whether all is as the snapshots say.
    pub(super) fn is_none(&self) -> bool {
        self.differing.is_empty() && self.missing.is_empty()
    }

    /// Shows where they differ.
    pub(super) fn show<W: Write>(&self, terminal: &mut Terminal<W>) -> io::Result<()> {
        self.differing.iter().try_for_each(|Change { target, case, diff }| terminal.on_diff(target, case, diff))?;
        self.missing.iter().try_for_each(|(target, case)| terminal.on_missing(target, case))
    }

    /// Says what to do about them.
    pub(super) fn tell(&self) {
        if self.written > 0 {
            aside(&format!("snapshots written: {}", self.written));
        }
        if !self.is_none() {
            aside("snapshots changed; when what was observed is right, run it again with --accept");
        }
        for target in &self.blank {
            aside(&format!("{target} has no snapshots yet; --accept writes them"));
        }
    }
}

/// The snapshots of a run's targets. A case file is compared, or written, once its last test has come, and of what was
/// observed in it only that is kept then.
pub(super) struct Snapshots<'a> {
    accept: bool,
    /// Where the snapshots of each target are; those that have none have no place here.
    folders: BTreeMap<&'a TargetId, &'a Utf8Path>,
    /// What an unfiltered run has of each case file.
    whole: BTreeMap<(&'a TargetId, &'a CaseId), &'a [Group]>,
    open: Option<Open>,
    changes: Changes,
    failed: Option<Problem>,
}

/// The case file whose tests are coming in.
struct Open {
    target: TargetId,
    case: CaseId,
    ran: BTreeSet<TestId>,
    /// Whether all of them were seen: what nobody saw, for a bug of ours or a target that was given up before its turn,
    /// is no news of the target.
    is_seen: bool,
    body: Body,
}

/// Whether there is anything to compare or to write, so that it matters what an unfiltered run has.
pub(super) fn are_wanted(accept: bool, targets: &[Arc<Target>]) -> bool {
    targets.iter().filter_map(|target| target.snapshots.as_ref()).any(|folder| is_settled(accept, folder))
}

fn is_settled(accept: bool, folder: &Utf8Path) -> bool {
    accept || folder.is_dir()
}

impl<'a> Snapshots<'a> {
    /// `whole` is what an unfiltered run has; case files of which a filter left something out, or which were run with
    /// more than that, are passed over.
    pub(super) fn new(accept: bool, targets: &'a [Arc<Target>], whole: &'a Plan) -> Self {
        let (mut folders, mut changes) = (BTreeMap::new(), Changes::default());
        for target in targets {
            match &target.snapshots {
                Some(folder) if is_settled(accept, folder) => _ = folders.insert(&target.id, folder.as_path()),
                Some(_) => changes.blank.push(target.id.clone()),
                None => {}
            }
        }
        let files = whole.groups.chunk_by(|one, next| one.case == next.case && one.target.id == next.target.id);
        let whole = files.map(|groups| ((&groups[0].target.id, &groups[0].case), groups)).collect();
        Self { accept, folders, whole, open: None, changes, failed: None }
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
            ran: BTreeSet::new(),
            is_seen: true,
            body: Body::default(),
        });
        open.is_seen &= !record.bug && record.observation.unavailable.is_none();
        open.ran.insert(record.test.clone());
        open.body.add(record);
    }

    /// What the run came to.
    pub(super) fn finish(mut self) -> Result<Changes, Problem> {
        self.close();
        self.failed.map_or(Ok(self.changes), Err)
    }

    /// Settles the case file whose tests have all come, where they are just those that an unfiltered run has.
    fn close(&mut self) {
        let Some(Open { target, case, ran, is_seen, body }) = self.open.take() else { return };
        let planned = self.whole.get(&(&target, &case)).into_iter().flat_map(|groups| *groups);
        let planned: BTreeSet<&TestId> = planned.flat_map(|group| &group.tests).map(|planned| &planned.id).collect();
        // Where a snapshot can't be written, the others can't either, or had better not.
        if is_seen && self.failed.is_none() && ran.iter().eq(planned) {
            self.failed = self.settle(target, case, &body.text()).err();
        }
    }

    fn settle(&mut self, target: TargetId, case: CaseId, body: &str) -> Result<(), Problem> {
        let path: Utf8PathBuf = snapshot::path(self.folders[&target], &case);
        if is_behind_link(&path) {
            let text =
                format!("{path}: this is behind a link, which may lead anywhere; put the file itself in its place");
            return Err(Problem::system(text));
        }
        let old = file::read_text(&path, MOST_BYTES).ok();
        match old.as_deref().map(|old| snapshot::compare(snapshot::body(old), body)) {
            Some(None) => {}
            _ if self.accept => {
                let problem = |error| Problem::system(format!("{path}: {error}"));
                snapshot::write(&path, &target, &case, body).map_err(problem)?;
                self.changes.written += 1;
            }
            None => self.changes.missing.push((target, case)),
            Some(Some(diff)) => self.changes.differing.push(Change { target, case, diff }),
        }
        Ok(())
    }
}

/// Returns whether a snapshot, or the folder of its folder of cases, is a link.
fn is_behind_link(path: &Utf8Path) -> bool {
    let is_link = |path: &Utf8Path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    is_link(path) || path.parent().is_some_and(is_link)
}
