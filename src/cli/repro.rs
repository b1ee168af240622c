//! `casebook repro`: runs the programs that show known failures through the SDK alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;

use super::interrupt;
use super::run::targets;
use super::set_up::prepare;
use super::targets::targets_with_programs;
use super::{Exit, Problem, ReproArgs};
use crate::drive::{Cancel, ReproResult, repro as show};
use crate::model::target::Target;
use crate::report::Untrusted;
use crate::report::terminal::{eprint_line, print_line};
use crate::run::Secrets;

/// The time limit of one program, which may have to be compiled.
const LIMIT: Duration = Duration::from_secs(300);
/// The most characters of a line that are shown.
const LINE: usize = 600;

pub(super) fn repro(args: &ReproArgs) -> Result<Exit, Problem> {
    let (names, left_out) = if args.all { targets_with_programs()? } else { (args.targets.clone(), Vec::new()) };
    for line in &left_out {
        eprint_line(&Untrusted(line).line(LINE));
    }
    let mut targets = targets(&names)?;
    // All variants of a target share its programs, and each may have known failures that the others lack.
    targets.retain(|target| target.known.iter().any(|known| known.repro.is_some()));
    let runtime = interrupt::runtime()?;
    runtime.block_on(async {
        let cancel = interrupt::listen();
        prepare(&targets, &cancel).await?;
        let (mut shown, mut not_shown) = (0, 0);
        for (target, path) in programs(&targets) {
            let mut stop = cancel.clone();
            let result = tokio::select! {
                result = show(target, &path, LIMIT) => result,
                _ = stop.wait_for(|cancel| *cancel != Cancel::Go) => return Ok(Exit::Interrupted),
            };
            print(target, &path, &result);
            *(if matches!(result, ReproResult::Shown(_)) { &mut shown } else { &mut not_shown }) += 1;
        }
        if shown + not_shown == 0 {
            return Err(Problem::new(Exit::Nothing, "no known failure of these targets has a `repro`"));
        }
        let remedy = "; correct the program, or remove the known failures that it shows if the SDK no longer has them";
        let remedy = if not_shown > 0 { remedy } else { "" };
        print_line(&Untrusted(&format!("{shown} shown, {not_shown} not shown{remedy}")).line(LINE));
        Ok(if not_shown > 0 { Exit::Unexpected } else { Exit::Fine })
    })
}

/// The programs of each target, each once.
fn programs(targets: &[Arc<Target>]) -> Vec<(&Target, Utf8PathBuf)> {
    let mut seen = BTreeSet::new();
    let all = targets.iter().flat_map(|target| {
        let paths = target.known.iter().filter_map(|known| known.repro.clone());
        paths.map(move |path| (target.as_ref(), path))
    });
    let mut programs: Vec<_> = all.filter(|(target, path)| seen.insert((&target.folder, path.clone()))).collect();
    programs.sort_by(|(one, a), (other, b)| (&one.id.name, a).cmp(&(&other.id.name, b)));
    programs
}

fn print(target: &Target, path: &Utf8PathBuf, result: &ReproResult) {
    let secrets = Secrets::of(target);
    let clean = |text: &str| Untrusted(&secrets.out_of(text)).line(LINE);
    let name = format!("{} {path}", target.id.name);
    match result {
        ReproResult::Shown(line) => print_line(&clean(&format!("shown      {name}: {line}"))),
        ReproResult::NotShown { how, output } => {
            print_line(&clean(&format!("NOT SHOWN  {name}: {how}")));
            for line in secrets.out_of(output).lines() {
                print_line(&format!("           wrote: {}", Untrusted(line).line(LINE)));
            }
        }
    }
}
