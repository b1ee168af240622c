//! `casebook smoke`: checks that an adapter speaks the adapter protocol.

use std::sync::Arc;

use super::SmokeArgs;
use super::base::built::with_installed;
use super::base::chosen::targets;
use super::base::exit::Exit;
use super::base::interrupt;
use super::base::needs::warn_of_needs;
use super::base::problem::Problem;
use super::base::set_up::prepare;
use crate::drive::{Cancel, Options, SmokeCheck, SmokeOutcome, SmokeReport, smoke as check};
use crate::model::case::Library;
use crate::model::spec::{Role, Transport};
use crate::model::target::{Target, TargetKind};
use crate::report::Untrusted;
use crate::report::terminal::print_line;
use crate::run::Secrets;

/// The number of lines of an adapter's standard error that are shown.
const LAST_LINES: usize = 12;

pub(super) fn smoke(args: &SmokeArgs) -> Result<Exit, Problem> {
    let targets = targets(std::slice::from_ref(&args.target), &Library::default())?;
    if let Some(fixed) = targets.iter().find(|target| matches!(target.drives, TargetKind::Fixed(_))) {
        let problem =
            format!("{} is a fixed target, without an adapter to check; test it with `casebook run {0}`", fixed.id);
        return Err(Problem::new(Exit::Usage, problem));
    }
    let runtime = interrupt::runtime()?;
    runtime.block_on(async {
        let cancel = interrupt::listen();
        prepare(&targets, &cancel).await?;
        let targets = with_installed(targets, Options::default().start_limit).await;
        let mut checks = Vec::new();
        for target in &targets {
            let mut stop = cancel.clone();
            let report = tokio::select! {
                report = check(target) => report,
                _ = stop.wait_for(|cancel| *cancel != Cancel::Go) => return Ok(Exit::Interrupted),
            };
            print(target, &report);
            checks.extend(report.checks);
        }
        print_line(&Untrusted(&closing(&args.target, &targets, &checks)).line(600));
        if count(&checks, "WRONG") == 0 {
            return Ok(Exit::Fine);
        }
        warn_of_needs(&targets).await;
        Ok(Exit::Target)
    })
}

fn print(target: &Target, report: &SmokeReport) {
    let secrets = Secrets::of(target);
    let clean = |text: &str| Untrusted(&secrets.out_of(text)).line(600);
    print_line(&target.id.to_string());
    if let Some(hello) = &report.hello {
        print_line(&clean(&format!("  {} {} ({}, {})", hello.sdk, hello.version, hello.language, hello.api)));
    }
    if target.claims.roles.contains(&Role::Server) && target.claims.transports.contains(&Transport::Stdio) {
        match &report.hello {
            Some(hello) if hello.streams => print_line("  stdio: one process serves the fixtures, each over a stream"),
            Some(_) => print_line("  stdio: a process for each test; a run over stdio takes minutes"),
            None => {}
        }
    }
    for (index, check) in report.checks.iter().enumerate() {
        let is_same = |other: &&SmokeCheck| shape(&other.outcome).is_some_and(|one| Some(one) == shape(&check.outcome));
        if report.checks[..index].iter().any(|other| is_same(&other)) {
            continue;
        }
        print_line(&format!("  {:7} {}", word(&check.outcome), clean(&asked_and_reason(check))));
        match &check.outcome {
            SmokeOutcome::Right | SmokeOutcome::Cannot(_) => {}
            SmokeOutcome::Noisy(lines) => {
                print_last(&lines.join("\n"), &secrets);
                print_line("          expected: nothing but answers on standard output; write logs to standard error");
            }
            SmokeOutcome::Odd { got, wanted } => {
                print_line(&format!("          got: {}", clean(got)));
                print_line(&format!("          expected: {}", clean(wanted)));
                print_line("          Either the adapter or the SDK changes it.");
            }
            SmokeOutcome::Wrong { got, wanted, stderr } => {
                print_line(&format!("          got: {}", clean(got)));
                print_line(&format!("          expected: {}", clean(wanted)));
                print_last(stderr, &secrets);
            }
        }
        match report.checks[index + 1..].iter().filter(is_same).count() {
            0 => {}
            more => print_line(&format!("          and {more} more of the same")),
        }
    }
    let has_id = |check: &SmokeCheck| matches!(&check.outcome, SmokeOutcome::Wrong { wanted, .. } if wanted.contains(r#"{"id":ID"#));
    if report.checks.iter().any(has_id) {
        print_line("  ID stands for the id of the request, a string, which each answer repeats.");
    }
}

fn word(outcome: &SmokeOutcome) -> &'static str {
    match outcome {
        SmokeOutcome::Right => "right",
        SmokeOutcome::Noisy(_) => "noise",
        SmokeOutcome::Odd { .. } => "odd",
        SmokeOutcome::Cannot(_) => "cannot",
        SmokeOutcome::Wrong { .. } => "WRONG",
    }
}

fn asked_and_reason(check: &SmokeCheck) -> String {
    match &check.outcome {
        SmokeOutcome::Cannot(reason) => format!("{}: {reason}", check.asked),
        _ => check.asked.clone(),
    }
}

/// Returns the text of an outcome that is printed once; `None` if each one is printed. Digits are left out, because
/// they are the ids and ports of a single request.
fn shape(outcome: &SmokeOutcome) -> Option<String> {
    let text = match outcome {
        SmokeOutcome::Odd { got, wanted } => format!("odd\n{got}\n{wanted}"),
        SmokeOutcome::Wrong { got, wanted, stderr } => format!("WRONG\n{got}\n{wanted}\n{stderr}"),
        SmokeOutcome::Right | SmokeOutcome::Noisy(_) | SmokeOutcome::Cannot(_) => return None,
    };
    Some(text.chars().filter(|one| !one.is_ascii_digit()).collect())
}

fn count(checks: &[SmokeCheck], name: &str) -> usize {
    checks.iter().filter(|check| word(&check.outcome) == name).count()
}

/// Returns the last line: the number of checks for each outcome, and the next command.
fn closing(argument: &str, targets: &[Arc<Target>], checks: &[SmokeCheck]) -> String {
    let wrong = count(checks, "WRONG");
    if wrong > 0 {
        return format!("{wrong} WRONG: correct the adapter before its SDK is tested");
    }
    let counts = ["right", "noise", "odd", "cannot"].map(|name| (count(checks, name), name));
    let counts: Vec<_> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let has = |transport| targets.iter().all(|target| target.claims.transports.contains(&transport));
    let over = if has(Transport::Http) && has(Transport::Stdio) { " --transport http" } else { "" };
    format!("{}. Next: casebook run {argument}{over}", counts.join(", "))
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
