//! Ad hoc targets of `casebook run`: a server that the command line names by its command or URL.
//!
//! Takes the arguments, asks the server for its declarations, prints them with what the run will send. Must not know
//! verdicts.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::Value;
use tokio::sync::watch;

use super::RunArgs;
use super::base::exit::Exit;
use super::base::heading;
use super::base::here::here;
use super::base::problem::Problem;
use crate::drive::{Cancel, SurveyError, survey};
use crate::file;
use crate::jsonrpc::nesting;
use crate::load::target::ad_hoc::{self, is_url};
use crate::model::action::Asks;
use crate::model::callable::{Callable, Permitted};
use crate::model::case::{Fixture, When};
use crate::model::endpoint::{Endpoint, Header, why_no_value};
use crate::model::spec::{Lifecycle, Revision, Transport};
use crate::model::survey::Survey;
use crate::model::target::{Fixed, Target, TargetKind};
use crate::model::template::Template;
use crate::model::text::count;
use crate::plan::Plan;
use crate::report::Untrusted;
use crate::report::terminal::{eprint_line, print_line};
use crate::run::Secrets;

/// The number of workers for a server on this machine: each starts a process of the server for each revision, and the
/// tests are few.
const WORKERS: NonZeroUsize = NonZeroUsize::new(2).expect("2 is not zero");
/// The name that stands for every tool of a server.
const EVERY: &str = "*";
/// The most bytes, and the most levels, of the arguments in a file.
const MOST_BYTES: usize = 1 << 20;
const LEVELS: usize = 100;
/// The columns of the first screen.
const WIDTH: usize = 80;
/// The columns of its labels.
const LABEL: usize = 16;
/// The lines of a list on the first screen.
const LINES: usize = 3;
/// The number of characters of a name that are shown.
const NAME: usize = 48;

/// The options for servers without a `target.toml`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = heading::AD_HOC)]
pub struct AdHocArgs {
    /// Send a header with the value of an environment variable; repeatable
    ///
    /// The value appears in no output and no run log, and not on the command line, which other users of this machine see.
    #[arg(long, value_name = "NAME=VARIABLE")]
    pub header_env: Vec<String>,
    /// Also trust the certificates in this PEM file
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<Utf8PathBuf>,
    /// Allow calls of this tool of the server, or of every tool with '*'; repeatable
    ///
    /// A call can have any effect. Without this option, casebook calls only tools that require arguments, and only with
    /// arguments with which no code can do its work. The arguments of permitted calls follow from the listed schema;
    /// `TOOL=@FILE` calls the tool with those in a JSON file.
    #[arg(long, value_name = "TOOL[=@FILE]")]
    pub call: Vec<String>,
}

/// Returns the server that the command line names by its command or URL, if it does.
pub(super) fn named(args: &RunArgs) -> Result<Option<Target>, Problem> {
    let usage = |text: String| Problem::new(Exit::Usage, text);
    let AdHocArgs { header_env, cacert, call } = &args.ad_hoc;
    let url = args.targets.iter().find(|typed| is_url(typed));
    if url.is_some() && args.targets.len() > 1 {
        return Err(usage("a URL is tested alone; run the other targets in a run of their own".to_owned()));
    }
    let has_options = !header_env.is_empty() || cacert.is_some();
    if has_options && url.is_none() {
        return Err(usage(
            "--header-env and --cacert are for a URL, as in: casebook run https://example.com/mcp".to_owned(),
        ));
    }
    if url.is_none() && args.command.is_empty() {
        if !call.is_empty() {
            let text =
                "--call is for a server without a target.toml; write `calls` into the [claims] of its target.toml";
            return Err(usage(text.to_owned()));
        }
        return Ok(None);
    }
    if args.accept {
        let text = "--accept needs a target.toml, which `casebook new target` prints";
        return Err(usage(text.to_owned()));
    }
    let here = here()?;
    let folder = here.folder();
    let target = match url {
        None => of_command(&args.command, folder),
        Some(typed) => {
            let url = ad_hoc::url(typed).map_err(|why| usage(format!("this URL cannot be tested: it {why}")))?;
            let headers =
                header_env.iter().map(|typed| ad_hoc::header_env(typed).map_err(|why| format!("--header-env: {why}")));
            let headers = headers.collect::<Result<Vec<_>, _>>().map_err(usage)?;
            let endpoint = Endpoint { url, headers, roots: cacert.as_ref().map(|path| folder.join(path)) };
            if cacert.is_some() && !endpoint.is_encrypted() {
                return Err(usage(
                    "--cacert is for an https:// URL: nothing is encrypted on an http:// one".to_owned(),
                ));
            }
            check_variables(&endpoint)?;
            warn_of_plain_text(&endpoint);
            ad_hoc::of_endpoint(endpoint, folder)
        }
    };
    let mut callable = Callable { every: call.iter().any(|typed| typed == EVERY), named: Vec::new() };
    for typed in call.iter().filter(|typed| *typed != EVERY) {
        callable.named.push(permitted(typed, folder).map_err(|why| usage(format!("--call {typed}: {why}")))?);
    }
    Ok(Some(Target { callable, ..target }))
}

/// Reads `TOOL` or `TOOL=@FILE`.
fn permitted(typed: &str, folder: &Utf8Path) -> Result<Permitted, String> {
    let Some((tool, file)) = typed.split_once("=@") else {
        return Ok(Permitted { tool: typed.to_owned(), arguments: None });
    };
    if tool == EVERY || file.is_empty() {
        return Err("write the name of one tool, `=@` and a file with its arguments".to_owned());
    }
    let text =
        file::read_text(folder.join(file), MOST_BYTES).map_err(|error| format!("cannot read {file}: {error}"))?;
    if nesting::depth(text.as_bytes()) > LEVELS {
        return Err(format!("{file} has more than {LEVELS} levels"));
    }
    let arguments: Value = serde_json::from_str(&text).map_err(|error| format!("{file} is not JSON: {error}"))?;
    if !arguments.is_object() {
        return Err(format!("{file} is not a JSON object, as the arguments of a tool are"));
    }
    Ok(Permitted { tool: tool.to_owned(), arguments: Some(arguments) })
}

/// Returns the target of a command. Its name has no secret, such as the value of an option.
pub(super) fn of_command(words: &[String], folder: &Utf8Path) -> Target {
    let target = ad_hoc::of_command(words, folder);
    let secrets = Secrets::of(&target);
    let shown: Vec<_> = words.iter().filter(|word| secrets.out_of(word) == word.as_str()).cloned().collect();
    let id = ad_hoc::of_command(&shown, folder).id;
    Target { id, ..target }
}

/// Checks the environment variables of headers before anything is sent.
fn check_variables(endpoint: &Endpoint) -> Result<(), Problem> {
    for Header { name, variable } in &endpoint.headers {
        let why = match std::env::var(variable) {
            Err(_) => Some("the variable is not set"),
            Ok(value) => why_no_value(&value),
        };
        if let Some(why) = why {
            return Err(Problem::new(Exit::Usage, format!("--header-env {name}={variable}: {why}")));
        }
    }
    Ok(())
}

fn warn_of_plain_text(endpoint: &Endpoint) {
    if !endpoint.headers.is_empty() && !endpoint.is_encrypted() && !endpoint.is_local() {
        eprint_line("casebook: the headers are sent to another machine without encryption; use https://");
    }
}

/// Asks the server for its declarations, and returns the target with the claims that follow from them.
pub(super) async fn surveyed(
    args: &RunArgs,
    target: Target,
    cancel: &watch::Receiver<Cancel>,
) -> Result<Arc<Target>, Problem> {
    let selected = &args.select.revision;
    let wanted: Vec<_> = Revision::all().filter(|one| selected.is_empty() || selected.contains(one)).collect();
    let mut stop = cancel.clone();
    let survey = tokio::select! {
        survey = survey(&target, &wanted, args.limits.options().start_limit) => survey,
        _ = stop.wait_for(|cancel| *cancel != Cancel::Go) => {
            return Err(Problem::new(Exit::Interrupted, "interrupted before the first test".to_owned()));
        }
    };
    let secrets = Secrets::of(&target);
    let survey = survey.map_err(|error| {
        let exit = match error {
            SurveyError::Unusable(_) => Exit::Target,
            SurveyError::NoRevision(_) => Exit::Nothing,
        };
        let text = format!("cannot test {}: {error}", target.title);
        Problem::new(exit, Untrusted(&secrets.out_of(&text)).block(4000))
    })?;
    check_calls(&target, &survey)?;
    Ok(Arc::new(ad_hoc::surveyed(target, survey)))
}

/// Checks that the tools of `--call` exist.
fn check_calls(target: &Target, survey: &Survey) -> Result<(), Problem> {
    let listed = survey.tools();
    if !survey.unlisted().is_empty() {
        return Ok(());
    }
    let mut named = target.callable.named.iter().map(|one| &one.tool);
    let Some(unknown) = named.find(|name| !listed.contains(&name.as_str())) else { return Ok(()) };
    let near = crate::load::did_you_mean(unknown, &listed);
    let hint = near.unwrap_or_else(|| format!("it lists {}", listed.join(", ")));
    let text = format!("--call {unknown}: the server lists no such tool; {hint}");
    Err(Problem::new(Exit::Usage, Untrusted(&text).line(800)))
}

/// Returns the most workers of a run with this target, unless the user chooses their number: one for a server on another
/// machine, and few for one without a `target.toml`.
pub(super) fn workers(target: &Target, usual: NonZeroUsize) -> NonZeroUsize {
    let is_remote = matches!(&target.drives, TargetKind::Fixed(Fixed::Running(endpoint)) if !endpoint.is_local());
    let most = match (is_remote, target.is_ad_hoc()) {
        (true, _) => NonZeroUsize::MIN,
        (false, true) => WORKERS,
        (false, false) => usual,
    };
    usual.min(most)
}

/// Prints what the server declares, and what will be sent to it.
pub(super) fn introduce(target: &Target, plan: &Plan) {
    let Some(survey) = &target.survey else { return };
    let secrets = Secrets::of(target);
    let shown = |text: &str, most: usize| Untrusted(&secrets.out_of(text)).line(most);
    let server = match &survey.server {
        Some((name, version)) => format!("{} {}", shown(name, NAME), shown(version, NAME)).trim_end().to_owned(),
        None => shown(&target.id.name, NAME),
    };
    print_line(&server);
    let is_http = target.claims.transports.contains(&Transport::Http);
    field(if is_http { "URL" } else { "command" }, &[shown(&target.title, 300)], ", ", usize::MAX);
    let revisions = survey.revisions.keys().map(ToString::to_string);
    let unanswered = survey.unanswered.iter().map(|one| format!("{one} (no answer)"));
    let others = survey.others.iter().map(|one| format!("{} (not tested)", shown(one, NAME)));
    field("revisions", &revisions.chain(unanswered).chain(others).collect::<Vec<_>>(), ", ", LINES);
    let capabilities: Vec<_> = survey.capabilities().iter().map(|name| shown(name, NAME)).collect();
    field("capabilities", &capabilities, ", ", LINES);
    let tools: Vec<_> = survey.tools().iter().map(|name| shown(name, NAME)).collect();
    let unlisted: Vec<_> = survey.unlisted().iter().map(ToString::to_string).collect();
    match (tools.len(), unlisted.as_slice()) {
        (0, [_, ..]) => field("tools", &["declared, but casebook cannot read the list".to_owned()], ", ", LINES),
        (known, []) => field(&count(known, "tool"), &tools, ", ", LINES),
        (known, several) => {
            let unread = format!("(the list of {} cannot be read)", several.join(", "));
            field(&count(known, "tool"), &[tools, vec![unread]].concat(), ", ", LINES);
        }
    }
    field("will be sent", &requests(plan, survey), ", ", usize::MAX);
    let calls = match &target.callable {
        callable if callable.is_none() => "no listed tool with valid arguments; --call TOOL allows that".to_owned(),
        Callable { every: true, .. } => "every tool that the server lists".to_owned(),
        Callable { named, .. } => named.iter().map(|one| shown(&one.tool, NAME)).collect::<Vec<_>>().join(", "),
    };
    field("calls", &[calls], ", ", LINES);
    print_line("");
}

/// The requests of a plan in words, each kind with its number.
fn requests(plan: &Plan, survey: &Survey) -> Vec<String> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let listed = survey.tools();
    for step in plan.tests().flat_map(|(_, planned)| &planned.test.steps) {
        let kind = match (&step.when, step.when.tool()) {
            (_, Some(tool)) if listed.contains(&tool) => format!("tools/call of {}", Untrusted(tool).line(NAME)),
            (_, Some(_)) => "tools/call of unknown tools".to_owned(),
            (When::List, _) => "tools/list".to_owned(),
            (When::Send { message, .. }, _) => match message.get("method") {
                Some(Template::String(method)) if method == "tools/call" => "malformed tools/call".to_owned(),
                Some(Template::String(method)) => Untrusted(method).line(NAME),
                _ => "text that is no message".to_owned(),
            },
            // Calls of listed tools with arguments that follow from their schemas.
            (when, _) if !matches!(when.asks(&Fixture::default()), Asks::Nothing | Asks::Other) => {
                "tools/call of each tool".to_owned()
            }
            _ => continue,
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let is_stateful = |one: &&Revision| one.facts().lifecycle == Lifecycle::Stateful;
    let handshake = survey.revisions.keys().any(|one| is_stateful(&one)).then(|| "initialize".to_owned());
    let first = format!("{}: {}", count(plan.len(), "test"), handshake.clone().unwrap_or_default());
    let mut all: Vec<String> = kinds.into_iter().map(|(kind, number)| format!("{kind} ({number})")).collect();
    match (handshake, all.first_mut()) {
        (None, Some(next)) => *next = format!("{first}{next}"),
        _ => all.insert(0, first),
    }
    all
}

/// Prints a label and a list beside it, in lines of limited width. The rest of a long list is only counted.
fn field(label: &str, items: &[String], between: &str, most: usize) {
    for line in lines(label, items, between, most) {
        print_line(&line);
    }
}

fn lines(label: &str, items: &[String], between: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = format!("  {label:<width$}", width = LABEL - 2);
    let mut is_first = true;
    for (place, item) in items.iter().enumerate() {
        let comma = if place + 1 < items.len() { between } else { "" };
        let rest = items.len() - place;
        // The last line needs room for the number of the others.
        let room = if lines.len() + 1 == most && rest > 1 { WIDTH - " and 99,999 more".len() } else { WIDTH };
        if !is_first && line.chars().count() + item.chars().count() + comma.len() > room {
            if lines.len() + 1 == most {
                line += &format!("and {rest} more");
                break;
            }
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(LABEL);
        }
        line += item;
        line += comma;
        is_first = false;
    }
    if items.is_empty() {
        line += "none";
    }
    lines.push(line.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_of_a_command_is_not_the_name_of_its_target() {
        for (line, expected) in [
            ("npx --token kQ8vT2mZx7Lw4RbY some-server", "some-server"),
            ("npx --token kQ8vT2mZx7Lw4RbY", "npx"),
            ("env -i MY_TOKEN=kQ8vT2mZx7Lw4RbY node some-server.js", "some-server"),
            ("node some-server.js --token kQ8vT2mZx7Lw4RbY", "some-server"),
        ] {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(of_command(&words, Utf8Path::new("/a")).id.name, expected, "{line}");
        }
    }

    #[test]
    fn server_on_another_machine_has_one_worker() {
        let usual = NonZeroUsize::new(8).expect("8 is not zero");
        let running = |url: &str, survey| {
            let target = ad_hoc::of_endpoint(Endpoint::new(url), Utf8Path::new("/a"));
            workers(&Target { survey, ..target }, usual).get()
        };
        let with_toml = ["https://example.com/mcp", "http://127.0.0.1:3000/mcp"].map(|url| running(url, None));
        let ad_hoc =
            ["https://example.com/mcp", "http://127.0.0.1:3000/mcp"].map(|url| running(url, Some(Survey::default())));
        assert_eq!((with_toml, ad_hoc), ([1, 8], [1, 2]));
    }

    #[test]
    fn long_list_fits_the_width_and_counts_the_rest() {
        let names: Vec<_> = (0..1000).map(|number| format!("tool-number-{number}")).collect();
        let shown = lines("1000 tools", &names, ", ", LINES);
        assert_eq!(shown.len(), LINES);
        assert!(shown.iter().all(|line| line.len() <= WIDTH), "{shown:#?}");
        let named: usize = shown.iter().map(|line| line.matches("tool-number-").count()).sum();
        assert!(shown[LINES - 1].ends_with(&format!(", and {} more", 1000 - named)), "{shown:#?}");
        assert_eq!(lines("tools", &[], ", ", LINES), ["  tools         none"]);
        let few = lines("tools", &names[..2], ", ", LINES);
        assert_eq!(few, ["  tools         tool-number-0, tool-number-1"]);
    }
}
