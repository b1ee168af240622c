//! `casebook smoke`: checks that an adapter speaks the adapter protocol.

use super::interrupt;
use super::run::{prepare, targets};
use super::{Exit, Problem, SmokeArgs};
use crate::drive::{Cancel, SmokeCheck, SmokeOutcome, SmokeReport, smoke as check};
use crate::model::target::{Target, TargetKind};
use crate::report::Untrusted;
use crate::report::terminal::print_line;
use crate::run::Secrets;

/// The number of lines of an adapter's standard error that are shown.
const LAST_LINES: usize = 12;

pub(super) fn smoke(args: &SmokeArgs) -> Result<Exit, Problem> {
    let targets = targets(std::slice::from_ref(&args.target))?;
    if let Some(fixed) = targets.iter().find(|target| matches!(target.drives, TargetKind::Fixed(_))) {
        let problem =
            format!("{} is a fixed target, without an adapter to check; test it with `casebook run {0}`", fixed.id);
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
                report = check(target) => report,
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
            SmokeOutcome::Noisy(lines) => {
                print_line(&format!("  noise   {}", clean(&check.asked)));
                print_last(&lines.join("\n"), &secrets);
                print_line("          expected: nothing but answers on standard output; write logs to standard error");
            }
            SmokeOutcome::Wrong { got, wanted, stderr } => {
                print_line(&format!("  WRONG   {}", clean(&check.asked)));
                print_line(&format!("          got: {}", clean(got)));
                print_line(&format!("          expected: {}", clean(wanted)));
                print_last(stderr, &secrets);
            }
        }
    }
    let has_id = |check: &SmokeCheck| matches!(&check.outcome, SmokeOutcome::Wrong { wanted, .. } if wanted.contains(r#"{"id":ID"#));
    if report.checks.iter().any(has_id) {
        print_line("  ID stands for the id of the request, a string, which each answer repeats.");
    }
}

/// Prints the last lines of a text that an adapter wrote: an exception is named at the end of its stack trace.
fn print_last(text: &str, secrets: &Secrets) {
    // A secret may extend over several lines.
    let text = secrets.out_of(text.trim_end());
    let lines: Vec<_> = text.lines().collect();
    let left_out = lines.len().saturating_sub(LAST_LINES);
    if left_out > 0 {
        print_line(&format!("          wrote: ({left_out} lines before these are left out)"));
    }
    for line in &lines[left_out..] {
        print_line(&format!("          wrote: {}", Untrusted(line).line(600)));
    }
}
