//! Remedies for errors of the command line that its parser cannot know.
//!
//! Takes an error of the parser, gives it with other tips. Must not know what a command does.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Error};

use super::Cli;
use crate::load::did_you_mean;

/// Options that casebook had in earlier versions, or that other test runners have, each with the option to use.
const OPTIONS: [(&str, &str); 20] = [
    ("--badge", "--report badge=FOLDER"),
    ("--exclude", "--skip PATTERN"),
    ("--filter", "--only PATTERN"),
    ("--github", "--annotations github"),
    ("--html", "--report html=FILE"),
    ("--include", "--only PATTERN"),
    ("--junit", "--report junit=FILE"),
    ("--log", "--run-log FILE"),
    ("--markdown", "--report md=FILE"),
    ("--md", "--report md=FILE"),
    ("--out", "--report KIND=FILE"),
    ("--output", "--report KIND=FILE"),
    ("--record", "--run-log FILE"),
    ("--seed", "--shuffle SEED"),
    ("--spec", "--revision REVISION"),
    ("--test", "--only PATTERN"),
    ("--threads", "--jobs N"),
    ("--timeout", "--step-limit TIME, --test-limit TIME or --run-limit TIME"),
    ("--update", "--accept"),
    ("--workers", "--jobs N"),
];

/// Options that exist for some commands in another form.
const FORMATS: [(&str, &str); 1] = [("--json", "--format json")];

/// Adds the remedy to an error, and removes tips that would mislead.
pub(super) fn with_tips(mut error: Error) -> Error {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return error };
            let name = typed.split('=').next().unwrap_or_default().to_owned();
            let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
            let has = |option: &str| takes(&usage, option.split(' ').next().unwrap_or_default());
            let tip = if name == "--target" {
                Some("name the target without an option, as in `casebook run TARGET`".to_owned())
            } else {
                let all = OPTIONS.iter().chain(&FORMATS);
                let new = all.filter(|(old, _)| *old == name).map(|(_, new)| *new).find(|new| has(new));
                new.map(|new| format!("use {new}"))
            };
            let is_escape =
                error.get(ContextKind::Suggested).is_some_and(|tip| tip.to_string().contains("as a value, use"));
            if is_escape {
                // clap proposes to pass an unknown option as a value, behind `--`.
                _ = error.remove(ContextKind::Suggested);
            }
            if let Some(tip) = tip {
                // The usage line shows the option that clap takes for the most similar one.
                _ = error.remove(ContextKind::SuggestedArg);
                _ = error.remove(ContextKind::Usage);
                suggest(&mut error, &tip);
            }
        }
        ErrorKind::InvalidSubcommand if error.get(ContextKind::SuggestedSubcommand).is_none() => {
            let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return error };
            let command = Cli::command();
            let known: Vec<_> =
                command.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name).collect();
            let nearest = did_you_mean(typed, &known);
            let tip = nearest.unwrap_or_else(|| "`casebook --help` lists the commands".to_owned());
            suggest(&mut error, &tip);
        }
        _ => {}
    }
    error
}

/// Returns whether the command of a usage line has an option.
fn takes(usage: &str, option: &str) -> bool {
    let command = Cli::command();
    let named = usage.split_whitespace().skip_while(|word| !word.ends_with("casebook")).nth(1);
    let found = named.and_then(|name| command.find_subcommand(name));
    found.is_some_and(|command| {
        command.get_arguments().any(|one| one.get_long().is_some_and(|long| option == format!("--{long}")))
    })
}

fn suggest(error: &mut Error, tip: &str) {
    _ = error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip.to_owned())]));
}
