//! `casebook smoke`: a first look at an adapter.

use super::interrupt;
use super::run::{prepare, targets};
use super::{Exit, Problem, SmokeArgs};
use crate::drive::{Cancel, SmokeOutcome, SmokeReport, smoke as look_at};
use crate::model::target::{Target, TargetKind};
use crate::report::Untrusted;
use crate::report::terminal::print_line;
use crate::run::Secrets;

pub(super) fn smoke(args: &SmokeArgs) -> Result<Exit, Problem> {
    let targets = targets(std::slice::from_ref(&args.target))?;
    if let Some(fixed) = targets.iter().find(|target| matches!(target.drives, TargetKind::Fixed(_))) {
        let problem =
            format!("{} is fixed: it has no adapter to prove; `casebook run {0}` asks it what it can", fixed.id);
        return Err(Problem::new(Exit::Usage, problem));
    }
    let runtime = interrupt::runtime()?;
    runtime.block_on(async {
        let cancel = interrupt::listen();
        prepare(&targets, &cancel).await?;
        let mut good = true;
        for target in &targets {
            let mut stop = cancel.clone();
            let report = tokio::select! {
                report = look_at(target) => report,
                _ = stop.wait_for(|cancel| *cancel != Cancel::Go) => return Ok(Exit::Interrupted),
            };
            print(target, &report);
            good &= report.is_good();
        }
        Ok(if good { Exit::Fine } else { Exit::Target })
    })
}

fn print(target: &Target, report: &SmokeReport) {
    let secrets = Secrets::of(target);
    let clean = |text: &str| Untrusted(&secrets.out_of(text)).line(600);
    print_line(&target.id.to_string());
    if let Some(hello) = &report.hello {
        print_line(&clean(&format!("  {} {} ({}, {})", hello.sdk, hello.version, hello.language, hello.api)));
    }
    for check in &report.checks {
        match &check.outcome {
            SmokeOutcome::Right => print_line(&format!("  right   {}", clean(&check.asked))),
            SmokeOutcome::Cannot(reason) => {
                print_line(&format!("  cannot  {}: {}", clean(&check.asked), clean(reason)));
            }
            SmokeOutcome::Wrong { got, wanted } => {
                print_line(&format!("  WRONG   {}", clean(&check.asked)));
                print_line(&format!("          got: {}", clean(got)));
                print_line(&format!("          should be: {}", clean(wanted)));
            }
        }
    }
}
