//! Targets that are built on a checkout or on another release: what they are is what the adapter's hello says.
//!
//! Takes targets that are set up, gives them with the installed packages. Must not know how a target is run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;

use crate::drive::{Hello, hello};
use crate::model::target::{Base, Package, Target};
use crate::plan::Plan;
use crate::report::Untrusted;
use crate::report::terminal::eprint_line;

/// The most characters of a line that are shown.
const LINE: usize = 400;

/// Adds the installed package to each target that is built on a checkout, and takes from one that is built on another
/// release the roles, transports and revisions that it does not have yet. All variants of a target have the same. Both
/// get the versions of the dependencies.
///
/// An adapter without a hello stays as it is; the run reports the reason.
pub(in crate::cli) async fn with_installed(targets: Vec<Arc<Target>>, limit: Duration) -> Vec<Arc<Target>> {
    let mut asked: BTreeMap<&Utf8Path, Option<Hello>> = BTreeMap::new();
    for target in targets.iter().filter(|target| target.setup.base != Base::Locked) {
        if !asked.contains_key(target.folder.as_path()) {
            let hello = hello(target, limit).await.ok();
            if let (Some(hello), Some(checkout)) = (&hello, target.setup.checkout()) {
                let text = format!("{}: {}, built on {}", target.id.name, hello.package(true), checkout.folder);
                eprint_line(&Untrusted(&text).line(LINE));
            }
            asked.insert(&target.folder, hello);
        }
    }
    let installed = |target: &Arc<Target>| match (asked.get(target.folder.as_path()), &target.setup.base) {
        (Some(Some(hello)), Base::Checkout(_)) => {
            Arc::new(Target { package: Some(hello.package(true)), ..Target::clone(target) })
        }
        (Some(Some(hello)), Base::Release(_)) => {
            let (claims, announced) = (hello.confirmed(&target.claims), hello.confirmed(&target.announced));
            let dependencies = hello.package(false).dependencies;
            let package = target.package.clone().map(|package| Package { dependencies, ..package });
            Arc::new(Target { claims, announced, package, ..Target::clone(target) })
        }
        _ => Arc::clone(target),
    };
    targets.iter().map(installed).collect()
}

/// Replaces the targets of a plan by those with the same id.
pub(in crate::cli) fn replace_targets(plan: &mut Plan, targets: &[Arc<Target>]) {
    for group in &mut plan.groups {
        if let Some(target) = targets.iter().find(|target| target.id == group.target.id) {
            group.target = Arc::clone(target);
        }
    }
}
