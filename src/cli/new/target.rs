//! `casebook new target`: the text of a `target.toml` for a server without one.
//!
//! Takes the command or the URL of the server, gives text. Starts nothing, and must not write a file.

use clap::Args;

use crate::cli::ad_hoc::of_command;
use crate::cli::base::exit::Exit;
use crate::cli::base::here::here;
use crate::cli::base::problem::Problem;
use crate::load::target::ad_hoc;
use crate::model::endpoint::Endpoint;
use crate::model::spec::Revision;
use crate::run::Secrets;

/// `casebook new target`.
#[derive(Debug, Args)]
pub struct NewTargetArgs {
    /// URL of a running server
    #[arg(value_name = "URL", required_unless_present = "command")]
    pub url: Option<String>,
    /// Command of a server over stdio
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "url")]
    pub command: Vec<String>,
}

/// Returns the `target.toml`. A secret in the command or the URL is replaced by its name in brackets.
pub(super) fn target_toml(args: &NewTargetArgs) -> Result<String, Problem> {
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
