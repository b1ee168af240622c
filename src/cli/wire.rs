//! `casebook explain CASE --wire REVISION`: runs a case with the reference target and prints the messages of both sides.

use std::sync::Arc;

use tokio::sync::watch;

use super::base::chosen::targets;
use super::base::exit::Exit;
use super::base::problem::Problem;
use crate::drive::{Cancel, Options};
use crate::judge::Judge;
use crate::load::target::REFERENCE;
use crate::model::case::{Case, Library};
use crate::model::spec::{Revision, Transport};
use crate::model::transcript::{Message, Party, Transcript};
use crate::plan::{Selection, plan};
use crate::report::Untrusted;
use crate::report::terminal::print_line;
use crate::run::{Seen, conduct};

/// The most characters of a message that are shown.
const SHOWN: usize = 4000;

pub(super) fn wire(library: &Library, case: &Case, revision: Revision) -> Result<Exit, Problem> {
    let targets = targets(&[REFERENCE.to_owned()], &Library::default())?;
    let only = case.id.as_str().parse().map_err(|error| Problem::system(format!("{error}")))?;
    let selection = Selection {
        only: vec![only],
        revision: vec![revision],
        transport: vec![Transport::Http],
        heavy: true,
        ..Selection::default()
    };
    let plan = plan(library, &targets, &selection).map_err(|error| Problem::new(Exit::Nothing, error.to_string()))?;
    let judge = Judge::new(&library.requirements, targets.iter().map(Arc::as_ref));
    let runtime = super::base::interrupt::runtime()?;
    let conducted = runtime.block_on(async {
        let (_never, cancel) = watch::channel(Cancel::Go);
        let see = |seen: Seen<'_>| {
            if let Seen::Judged(_, transcript) = seen {
                print(transcript);
            }
        };
        conduct(Arc::new(plan), judge, Options::default(), cancel, None, see).await
    });
    conducted.broken.map_or(Ok(Exit::Fine), |error| Err(error.into()))
}

fn print(transcript: &Transcript) {
    print_line(&format!("\n# {}", transcript.test));
    let steps = transcript.steps.iter().flat_map(|step| &step.messages);
    for message in transcript.opening.iter().chain(steps) {
        print_line(&format!("\n{}", head(message)));
        for (name, value) in &message.headers {
            print_line(&Untrusted(&format!("{name}: {value}")).line(SHOWN));
        }
        if !message.text.is_empty() {
            print_line(&Untrusted(&message.text).line(SHOWN));
        }
    }
}

fn head(message: &Message) -> String {
    let arrow = if message.from == Party::Harness { "→" } else { "←" };
    message.status.map_or(arrow.to_owned(), |status| format!("{arrow} {status}"))
}
