//! `--dev`: the package of a development build is the one that the adapter's hello names.
//!
//! Takes targets that are set up, gives them with the installed packages. Must not know how a target is run.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;

use crate::drive::installed;
use crate::model::target::{Package, Target};
use crate::plan::Plan;
use crate::report::Untrusted;
use crate::report::terminal::eprint_line;

/// The most characters of a line that are shown.
const LINE: usize = 400;

/// Replaces the package of each target by the installed one. All variants of a target have the same package.
///
/// An adapter without a hello keeps its target's package; the run reports the reason.
pub(super) async fn with_installed(targets: Vec<Arc<Target>>, limit: Duration) -> Vec<Arc<Target>> {
    let mut asked: Vec<(&Utf8Path, Option<Package>)> = Vec::new();
    for target in targets.iter().filter(|target| target.file.is_some()) {
        if asked.iter().any(|(folder, _)| *folder == target.folder) {
            continue;
        }
        let package = installed(target, limit).await.ok().flatten();
        if let Some(package) = &package {
            let locked = target.package.as_ref().map(|locked| format!("; target.toml names {locked}"));
            let text = format!("{}: development build {package}{}", target.id.name, locked.unwrap_or_default());
            eprint_line(&Untrusted(&text).line(LINE));
        }
        asked.push((&target.folder, package));
    }
    let found = |target: &Target| {
        let package =
            asked.iter().find(|(folder, _)| *folder == target.folder).and_then(|(_, package)| package.clone());
        Target { package: package.or_else(|| target.package.clone()), ..target.clone() }
    };
    targets.iter().map(|target| Arc::new(found(target))).collect()
}

/// Returns targets without the packages that their adapters must confirm.
pub(super) fn without_package(targets: Vec<Arc<Target>>) -> Vec<Arc<Target>> {
    let without = |target| Arc::new(Target { package: None, ..Arc::unwrap_or_clone(target) });
    targets.into_iter().map(without).collect()
}

/// Replaces the targets of a plan by those with the same id.
pub(super) fn replace_targets(plan: &mut Plan, targets: &[Arc<Target>]) {
    for group in &mut plan.groups {
        if let Some(target) = targets.iter().find(|target| target.id == group.target.id) {
            group.target = Arc::clone(target);
        }
    }
}
