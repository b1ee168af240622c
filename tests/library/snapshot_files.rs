//! Compares the snapshots of this repository with the plan of an unfiltered run of each target. No process is started.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use camino::Utf8Path;
use casebook::load::{Here, Source, load, target};
use casebook::model::case::Library;
use casebook::model::target::Target;
use casebook::plan::{Selection, plan};
use casebook::report::snapshot::{self, Ways};

/// Targets that need no snapshots, with the reason.
const WITHOUT: [(&str, &str); 1] =
    [("ruby-sdk", "its packages cannot be installed on the machines on which snapshots are made")];

/// The largest number of tests that a message names for each case file.
const NAMED: usize = 3;

/// Describes the tests, with revision and transport, that are in `these` and not in `others`; `None` if there are none.
fn lacking(these: &Ways, others: &Ways) -> Option<String> {
    let lacking = these.iter().flat_map(|(path, ways)| ways.iter().map(move |way| (path, way)));
    let lacking: Vec<_> = lacking.filter(|(path, way)| !snapshot::has(others, path, **way)).collect();
    let mut text = format!("{}:", lacking.len());
    for (path, (revision, transport)) in lacking.iter().take(NAMED) {
        write!(text, " {path}@{revision}+{transport}").expect("writing to memory never fails");
    }
    (!lacking.is_empty()).then_some(text)
}

/// The number of snapshots in a folder and its subfolders.
fn files_below(folder: &Utf8Path) -> usize {
    let entries = folder.read_dir_utf8().expect("a folder").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| match entry.path().extension() {
            Some("snap") => 1,
            _ if entry.path().is_dir() => files_below(entry.path()),
            _ => 0,
        })
        .sum()
}

/// The reference and all targets of this repository.
fn targets(root: &Utf8Path, here: &Here) -> Vec<Target> {
    let mut targets = vec![target::reference(Utf8Path::new("casebook"), here, None, &Library::default())];
    for entry in root.join("targets").read_dir_utf8().expect("a folder") {
        let entry = entry.expect("an entry");
        // The other folders have files that several targets use.
        if entry.path().join("target.toml").exists() {
            targets.extend(target::target(entry.file_name(), here, None).expect("a target"));
        }
    }
    assert!(targets.len() > 20, "cannot find the targets");
    targets.sort_by(|one, other| one.id.cmp(&other.id));
    targets
}

#[test]
fn snapshots_contain_exactly_the_planned_tests() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = Here::new(root);
    let library = load(&[Source::Embedded]).expect("the cases are sound");
    let targets = targets(root, &here);
    let (mut wrong, mut files) = (Vec::new(), BTreeMap::<_, BTreeSet<String>>::new());
    for target in targets.into_iter().map(Arc::new) {
        let folder = target.snapshots.as_ref().expect("every target of this repository has a place for snapshots");
        let variant = snapshot::variant(&target.id);
        let there = snapshot::cases_of_variant(folder, variant);
        for case in &there {
            files.entry(snapshot::path(folder, case)).or_default().insert(variant.to_owned());
        }
        if there.is_empty() && WITHOUT.iter().any(|(name, _)| *name == target.id.name) {
            continue;
        }
        let plan = plan(&library, &[Arc::clone(&target)], &Selection::default()).expect("a plan");
        let of_case = plan.groups.chunk_by(|one, next| one.case == next.case);
        let planned: BTreeMap<_, _> = of_case
            .map(|groups| {
                let tests = groups.iter().flat_map(|group| &group.tests);
                let tests = tests.filter(|planned| snapshot::is_repeatable(&planned.test));
                (groups[0].case.clone(), snapshot::ways(tests.map(|planned| &planned.id)))
            })
            .filter(|(_, ways)| !ways.is_empty())
            .collect();
        for case in there.iter().filter(|case| !planned.contains_key(case)) {
            wrong.push(format!("{} {case}: no run includes this case file; delete the snapshot", target.id));
        }
        for (case, planned) in &planned {
            let path = snapshot::path(folder, case);
            let name = format!("{} {case}", target.id);
            if !there.contains(case) {
                wrong.push(format!("{name}: no snapshot"));
                continue;
            }
            let mut snapshot = snapshot::read(&path).expect("a snapshot").expect("a file");
            let has = snapshot.remove(variant).expect("the variant").ways();
            wrong.extend(lacking(planned, &has).map(|tests| format!("{name}: lacks {tests}")));
            wrong
                .extend(lacking(&has, planned).map(|tests| format!("{name}: has tests that no run includes, {tests}")));
        }
    }
    let others = files_below(&root.join("snapshots")).saturating_sub(files.len());
    assert_eq!(others, 0, "snapshots of targets that no longer exist");
    for (path, variants) in &files {
        let snapshot = snapshot::read(path).expect("a snapshot").expect("a file");
        assert!(snapshot.keys().eq(variants), "{path} has variants that no longer exist");
    }
    assert!(wrong.is_empty(), "run these targets without filters and with --accept:\n{}", wrong.join("\n"));
}
