//! Targets that are built on a checkout: their package is the one that the adapter's hello names.
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

/// Adds the installed package to each target that is built on a checkout. All variants of a target have the same.
///
/// An adapter without a hello has no package; the run reports the reason.
pub(super) async fn with_installed(targets: Vec<Arc<Target>>, limit: Duration) -> Vec<Arc<Target>> {
    let mut asked: Vec<(&Utf8Path, Option<Package>)> = Vec::new();
    for target in &targets {
        let Some(checkout) = &target.setup.checkout else { continue };
        if asked.iter().any(|(folder, _)| *folder == target.folder) {
            continue;
        }
        let package = installed(target, limit).await.ok();
        if let Some(package) = &package {
            let text = format!("{}: {package}, built on {}", target.id.name, checkout.folder);
            eprint_line(&Untrusted(&text).line(LINE));
        }
        asked.push((&target.folder, package));
    }
    let found = |target: &Arc<Target>| {
        let package = asked.iter().find(|(folder, _)| *folder == target.folder);
        match package.and_then(|(_, package)| package.clone()) {
            Some(package) => Arc::new(Target { package: Some(package), ..Target::clone(target) }),
            None => Arc::clone(target),
        }
    };
    targets.iter().map(found).collect()
}

/// Replaces the targets of a plan by those with the same id.
pub(super) fn replace_targets(plan: &mut Plan, targets: &[Arc<Target>]) {
    for group in &mut plan.groups {
        if let Some(target) = targets.iter().find(|target| target.id == group.target.id) {
            group.target = Arc::clone(target);
        }
    }
}
