//! `casebook init`: prints a `target.toml` for a server without one, and a workflow for GitHub.
//!
//! Takes the command or the URL of the server, gives text. Starts nothing, and must not write a file.

use clap::Args;

use super::ad_hoc::of_command;
use super::here::here;
use super::{Exit, Problem};
use crate::load::ad_hoc;
use crate::model::endpoint::Endpoint;
use crate::model::spec::Revision;
use crate::report::terminal::show;
use crate::run::Secrets;

const WORKFLOW: &str = "\
name: casebook
on: [push, pull_request]
permissions:
  contents: read
jobs:
  casebook:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      # Install and build the server here, if its command needs that.
      - uses: mcp-casebook/mcp-casebook@main
        with:
          target: conformance   # the folder of the target.toml
        # env:
        #   MCP_TOKEN: ${{ secrets.MCP_TOKEN }}
";

/// `casebook init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// URL of a running server
    #[arg(value_name = "URL", required_unless_present_any = ["command", "workflow"])]
    pub url: Option<String>,
    /// Command of a server over stdio
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "url")]
    pub command: Vec<String>,
    /// Print a workflow for GitHub instead
    #[arg(long, conflicts_with_all = ["url", "command"])]
    pub workflow: bool,
}

pub(super) fn init(args: &InitArgs) -> Result<Exit, Problem> {
    let text = if args.workflow { WORKFLOW.to_owned() } else { target_toml(args)? };
    show(&text).map_err(|error| Problem::unsaved("standard output".into(), &error))?;
    Ok(Exit::Fine)
}

/// Returns the `target.toml`. A secret in the command or the URL is replaced by its name in brackets.
fn target_toml(args: &InitArgs) -> Result<String, Problem> {
    let folder = here()?.folder().to_owned();
    let target = match &args.url {
        None => of_command(&args.command, &folder),
        Some(typed) => {
            let url = ad_hoc::url(typed).map_err(|why| Problem::new(Exit::Usage, format!("the URL {why}")))?;
            ad_hoc::of_endpoint(Endpoint::new(&url), &folder)
        }
    };
    let secrets = Secrets::of(&target);
    let word = |word: &String| quoted(&secrets.out_of(word));
    let server = match &args.url {
        None => {
            let words: Vec<_> = args.command.iter().map(word).collect();
            format!("# The command runs in the folder of this file.\ncommand = [{}]", words.join(", "))
        }
        Some(url) => format!("url = {}\n# header-env = {{ Authorization = \"MCP_TOKEN\" }}", word(url)),
    };
    let revisions: Vec<_> = Revision::all().map(|revision| quoted(revision.name())).collect();
    Ok(format!(
        "\
# All keys: https://github.com/mcp-casebook/mcp-casebook/blob/main/docs/targets.md
title = {title}
kind = \"fixed\"
{server}

[claims]
# Keep the revisions that `casebook run` shows on its first screen.
revisions = [{revisions}]
# lacks = [\"tools\"]   # if the server declares no tools
# calls = [\"TOOL\"]    # the tools that casebook may call with valid arguments, or \"all\"
",
        title = quoted(&target.id.name),
        revisions = revisions.join(", ")
    ))
}

/// Returns a text as a string of TOML. The escapes of JSON are among those of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
