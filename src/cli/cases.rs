//! The commands `lint`, `list` and `explain`, which read cases and run nothing.

use std::fmt::Write as _;

use super::base::exit::Exit;
use super::base::problem::Problem;
use super::base::sources::{CaseArgs, source};
use super::{ExplainArgs, LintArgs, ListArgs};
use crate::load::{self, Source};
use crate::model::case::{Case, Library};
use crate::model::spec::Role;
use crate::model::{Printable, RequirementId};
use crate::report;
use crate::report::terminal;

pub(super) fn lint(args: &LintArgs) -> Result<Exit, Problem> {
    let sources: Vec<Source> = match args.paths.as_slice() {
        [] => vec![Source::Embedded],
        paths => paths.iter().map(source).collect(),
    };
    let mut found = load::lint(&sources);
    if let Some(checkout) = &args.spec {
        let quotes = load::lint_quotes(&sources, checkout);
        found.extend(
            quotes.map_err(|reason| Problem::new(Exit::Usage, format!("{reason}; give the path of a checkout")))?,
        );
    }
    if args.short {
        for one in &found {
            terminal::print_line(&one.line());
        }
    } else if !found.is_empty() {
        terminal::print_line(&load::render(&found, terminal::colours()).trimmed());
    }
    let errors = found.iter().filter(|one| one.is_error()).count();
    terminal::eprint_line(&format!("errors: {errors}, warnings: {}", found.len() - errors));
    Ok(if found.is_empty() { Exit::Fine } else { Exit::Usage })
}

pub(super) fn list(args: &ListArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let mut lines = String::new();
    for id in crate::plan::every_id(&library) {
        if args.pattern.as_ref().is_none_or(|pattern| pattern.matches(&id)) {
            writeln!(lines, "{id}").expect("writing to a string never fails");
        }
    }
    if lines.is_empty() {
        return Err(match &args.pattern {
            Some(pattern) => {
                let problem = super::base::chosen::plan_problem(&crate::plan::unmatched(pattern, &library));
                args.cases.with_hint(problem, &library, pattern.as_str())
            }
            None => Problem::new(Exit::Nothing, "the sources have no tests"),
        });
    }
    terminal::print_line(lines.trim_end());
    Ok(Exit::Fine)
}

pub(super) fn explain(args: &ExplainArgs) -> Result<Exit, Problem> {
    let sources = args.cases.sources()?;
    let library = load::load(&sources)?;
    let is_case = library.cases.iter().any(|case| case.id.as_str() == args.case);
    let is_plain = !args.json && !args.expanded && args.wire.is_none();
    if let Some(requirement) = library.requirements.get(&RequirementId::within("", &args.case))
        && !is_case
        && is_plain
    {
        let breakers = [Role::Server, Role::Client].map(|role| super::prove::breakers(&library, role));
        terminal::print_line(report::explain_requirement(&library, requirement, &breakers).trim_end());
        return Ok(Exit::Fine);
    }
    let case = find(&library, &args.cases, &args.case)?;
    if args.json {
        // The file as it is written, with the order and the layout of its author.
        let text = load::case_text(&sources, &case.id).unwrap_or_default();
        terminal::print_line(&Printable::json(text.trim_end()));
        return Ok(Exit::Fine);
    }
    if let Some(revision) = args.wire {
        return super::wire::wire(&library, case, revision);
    }
    let text = if args.expanded {
        report::expanded(case)
    } else {
        report::explain(&library, case, &super::prove::breakers(&library, case.role))
    };
    terminal::print_line(text.trim_end());
    Ok(Exit::Fine)
}

fn find<'l>(library: &'l Library, cases: &CaseArgs, name: &str) -> Result<&'l Case, Problem> {
    let by_name = |name: &str| library.cases.iter().find(|case| case.id.as_str() == name);
    by_name(name).ok_or_else(|| {
        let known: Vec<&str> = library.cases.iter().map(|case| case.id.as_str()).collect();
        let of_test = name.match_indices('/').nth(1).and_then(|(end, _)| by_name(&name[..end]));
        let hint = match of_test {
            Some(case) => format!("; `{name}` looks like a test of the case `{}`", case.id),
            None if library.cases.iter().any(|case| case.id.folder() == name) => {
                format!("; it is a folder of cases, and `casebook list '{name}/**'` lists their tests")
            }
            None => load::did_you_mean(name, &known).map_or(String::new(), |question| format!("; {question}")),
        };
        let problem = Problem::new(Exit::Usage, format!("there is no case and no requirement `{name}`{hint}"));
        cases.with_hint(problem, library, name)
    })
}
