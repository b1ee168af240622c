//! The head of a run log: the targets and the plan.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::model::case::Library;
use crate::model::pair::PairAbout;
use crate::model::record::{About, FORMAT, Header};
use crate::model::target::{Target, TargetKind};
use crate::plan::Plan;
use crate::run::Secrets;

pub(in crate::cli) fn header(
    narrowed: Option<String>,
    library: &Library,
    targets: &[Arc<Target>],
    plan: &Plan,
) -> Header {
    Header {
        format: FORMAT,
        casebook: env!("CARGO_PKG_VERSION").to_owned(),
        targets: targets.iter().map(|target| target.id.clone()).collect(),
        about: targets.iter().map(|target| about(target, plan)).collect(),
        cases: Some(library.hash.clone()),
        shard: plan.shard,
        narrowed,
        set: None,
        files: files(targets),
        planned: plan.len(),
        skipped: plan.skipped.clone(),
    }
}

/// Returns the facts about a target that reports show.
fn about(target: &Target, plan: &Plan) -> About {
    About {
        target: target.id.clone(),
        title: Secrets::of(target).out_of(&target.title).into_owned(),
        language: target.language.clone(),
        api: target.api.clone(),
        by_hand: target.by_hand.clone(),
        version: target.package.as_ref().map(ToString::to_string),
        date: target.setup.release().and_then(|release| release.day()).map(str::to_owned),
        dependencies: target.package.as_ref().map(|package| package.dependencies.clone()).unwrap_or_default(),
        unverified: target.unverified.clone(),
        planned: plan.tests().filter(|(group, _)| group.target.id == target.id).count(),
        ad_hoc: target.is_ad_hoc(),
        pair: match &target.drives {
            TargetKind::Pair(pair) => PairAbout::of(pair).map(Box::new),
            TargetKind::Adapter(_) | TargetKind::Fixed(_) => None,
        },
    }
}

/// Returns the files of the targets; variants share one file.
fn files(targets: &[Arc<Target>]) -> Vec<Utf8PathBuf> {
    let mut files: Vec<_> = targets.iter().filter_map(|target| target.file.clone()).collect();
    files.dedup();
    files
}
