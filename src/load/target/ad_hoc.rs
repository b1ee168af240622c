//! Targets without a `target.toml`: a server that the user names by its command or its URL.
//!
//! Takes words of the command line, gives a [`Target`] with a name of its own, or the reason why there is none. Must not
//! start or contact anything.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::REFERENCE;
use crate::model::TargetId;
use crate::model::callable::Callable;
use crate::model::endpoint::{Endpoint, Header, why_no_header};
use crate::model::program::{is_launcher, is_subcommand};
use crate::model::spec::{Role, Transport};
use crate::model::survey::Survey;
use crate::model::target::{Claims, Fixed, Setup, Target, TargetKind};
use crate::model::text::shell_line;

/// The number of characters of a name.
const NAME: usize = 60;
/// The names of scripts that say nothing about their server.
const GENERIC: [&str; 12] = ["", ".", "__main__", "app", "bin", "build", "cli", "dist", "index", "lib", "main", "src"];

/// Returns whether a word of the command line is a URL, and no name of a target.
pub fn is_url(typed: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| typed.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// Checks the address of a server.
///
/// # Errors
/// The reason why it is none.
pub fn url(typed: &str) -> Result<String, &'static str> {
    let rest = typed.split_once("://").map(|(_, rest)| rest).filter(|_| is_url(typed));
    let Some(rest) = rest.filter(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#'])) else {
        return Err("not `http://HOST…` or `https://HOST…`");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if typed.contains(|one: char| one.is_whitespace() || one.is_control() || one == '\\') {
        Err("has a blank or another character that no URL can have")
    } else if authority.contains('@') {
        Err("has a user or a password, which belong into a header: --header-env Authorization=VARIABLE")
    } else if rest.contains('#') {
        Err("has a fragment after `#`, which no request can have")
    } else {
        Ok(typed.to_owned())
    }
}

/// Reads `NAME=VARIABLE`.
///
/// # Errors
/// The reason why it names no header.
pub fn header_env(typed: &str) -> Result<Header, String> {
    let expected = "expected NAME=VARIABLE, as in Authorization=MCP_AUTHORIZATION";
    let (name, variable) = typed.split_once('=').ok_or(expected)?;
    if let Some(why) = why_no_header(name) {
        return Err(why);
    }
    if !is_variable(variable) {
        return Err(format!("{expected}; the value itself belongs into the environment variable"));
    }
    Ok(Header { name: name.to_owned(), variable: variable.to_owned() })
}

/// Returns whether a text can be the name of an environment variable: letters, digits and `_`.
fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|one| one == '_' || one.is_ascii_alphanumeric())
}

/// A target for the command of a server over stdio, which runs in `folder`.
pub fn of_command(words: &[String], folder: &Utf8Path) -> Target {
    let (env, command) = without_env(words);
    let title = shell_line(command);
    let name = name_of_command(command, folder);
    Target { env, ..target(name, title, Fixed::Server(command.to_vec()), folder) }
}

/// A target for a server that runs at a URL.
pub fn of_endpoint(endpoint: Endpoint, folder: &Utf8Path) -> Target {
    let port = endpoint.port().map_or_else(String::new, |port| format!("-{port}"));
    let name = sound(&format!("{}{port}", endpoint.host()));
    let title = endpoint.url.clone();
    target(name, title, Fixed::Running(endpoint), folder)
}

/// Sets the claims that follow from a survey: what a server does not declare is not tested.
#[must_use]
pub fn surveyed(target: Target, survey: Survey) -> Target {
    let claims = Claims { revisions: survey.revisions.keys().copied().collect(), ..target.claims };
    Target { announced: claims.clone(), claims, survey: Some(survey), ..target }
}

fn target(name: String, title: String, fixed: Fixed, folder: &Utf8Path) -> Target {
    let (role, transport): (Role, Transport) = fixed.speaks();
    let claims = Claims { roles: vec![role], transports: vec![transport], ..Claims::default() };
    Target {
        id: TargetId { name, variant: None },
        title,
        file: None,
        folder: folder.to_owned(),
        setup: Setup::default(),
        callable: Callable::default(),
        drives: TargetKind::Fixed(fixed),
        env: BTreeMap::new(),
        secrets: Vec::new(),
        announced: claims.clone(),
        claims,
        known: Vec::new(),
        repro: Vec::new(),
        author: Vec::new(),
        snapshots: None,
        language: None,
        api: None,
        by_hand: BTreeMap::new(),
        unverified: None,
        needs: Vec::new(),
        package: None,
        survey: Some(Survey::default()),
    }
}

/// Returns the variables of a command that begins with `env NAME=VALUE…`, and the rest of the command. With an option of
/// `env`, the whole command stays as it is.
fn without_env(words: &[String]) -> (BTreeMap<String, String>, &[String]) {
    let is_env = words.first().is_some_and(|word| Utf8Path::new(word).file_name() == Some("env"));
    let rest = if is_env { &words[1..] } else { return (BTreeMap::new(), words) };
    let variables: Vec<_> = rest.iter().map_while(|word| pair(word)).collect();
    let command = &rest[variables.len()..];
    match command.first() {
        Some(program) if !program.starts_with('-') => (variables.into_iter().collect(), command),
        _ => (BTreeMap::new(), words),
    }
}

fn pair(word: &str) -> Option<(String, String)> {
    // `name==1.2` is a package with its version.
    let (name, value) = word.split_once('=').filter(|(name, value)| is_variable(name) && !value.starts_with('='))?;
    Some((name.to_owned(), value.to_owned()))
}

/// Returns a name for a server: its program, or the script or package that a launcher runs.
fn name_of_command(command: &[String], folder: &Utf8Path) -> String {
    let mut words = command.iter().map(String::as_str).filter(|word| !word.starts_with('-') && pair(word).is_none());
    let program = words.next().unwrap_or_default();
    let mut named = program;
    if is_launcher(&stem(program)) {
        let inner = words.find(|word| !is_subcommand(word) && !is_launcher(&stem(word)));
        named = inner.unwrap_or(program);
    }
    // The parts of a path from its end: `my-server/dist/index.js` is the server `my-server`.
    let parts = named.split(['/', '\\']).rev();
    let telling = parts.map(package).map(stem).find(|part| !GENERIC.contains(&part.as_str()) && part != "..");
    let of_folder = || folder.file_name().map(str::to_owned);
    sound(&telling.or_else(of_folder).unwrap_or_default())
}

/// Returns a part of a path or of the name of a package, without a version: `name@1.2` and `name==1.2` have one.
fn package(part: &str) -> &str {
    let part = part.split("==").next().unwrap_or_default();
    match part.rsplit_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => part,
    }
}

/// Returns the name of a file without the extension of a program or a script.
fn stem(word: &str) -> String {
    const EXTENSIONS: [&str; 16] =
        ["bat", "cjs", "cmd", "cs", "exe", "jar", "js", "mjs", "mts", "php", "pl", "ps1", "py", "rb", "sh", "ts"];
    let path = Utf8PathBuf::from(word);
    let name = path.file_name().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, extension)) if EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()) => stem.to_owned(),
        _ => name.to_owned(),
    }
}

/// Returns a text as the name of a target and of a folder.
fn sound(text: &str) -> String {
    let one = |one: char| if one.is_ascii_alphanumeric() || "._-".contains(one) { one } else { '-' };
    let name: String = text.chars().map(one).take(NAME).collect();
    let name = name.trim_matches(['-', '.']);
    match name {
        "" => "server".to_owned(),
        // The name of the embedded reference.
        REFERENCE => format!("{REFERENCE}-server"),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::fuzz;
    use crate::model::is_target_name;

    fn name(command: &str) -> String {
        let words: Vec<_> = command.split(' ').map(str::to_owned).collect();
        of_command(&words, Utf8Path::new("/home/me/project")).id.name
    }

    #[test]
    fn name_is_that_of_the_script_or_package() {
        for (command, expected) in [
            ("./my-server --flag", "my-server"),
            ("node server.js --flag", "server"),
            ("node my-server/dist/index.js", "my-server"),
            ("node dist/index.js", "project"),
            ("npx -y @modelcontextprotocol/server-everything@2026.8.31 stdio", "server-everything"),
            ("node /a/node_modules/@scope/some-server/dist/index.js", "some-server"),
            ("npx some-server", "some-server"),
            ("uvx mcp-server-time==1.2 --local-timezone UTC", "mcp-server-time"),
            ("uv run my_server.py", "my_server"),
            ("env NAME=V OTHER=W ./prog a", "prog"),
            ("/usr/bin/env A=1 node server.mjs", "server"),
            ("env -i ./prog", "prog"),
            ("docker run -i --rm mcp/time", "time"),
            ("java -jar target/server-1.0.jar", "server-1.0"),
            ("node", "node"),
            ("./reference", "reference-server"),
            ("-", "project"),
            ("./a:b", "a-b"),
        ] {
            assert_eq!(name(command), expected, "{command}");
        }
    }

    #[test]
    fn variables_of_env_are_no_part_of_the_command() {
        let words = ["env", "A=1", "B=", "prog", "C=3"].map(str::to_owned);
        let target = of_command(&words, Utf8Path::new("/"));
        let TargetKind::Fixed(Fixed::Server(command)) = &target.drives else { panic!("a server") };
        assert_eq!((target.env.len(), command.join(" ")), (2, "prog C=3".to_owned()));
    }

    #[test]
    fn address_with_a_user_or_without_a_host_is_refused() {
        for sound in ["http://127.0.0.1:3000/mcp", "https://example.com", "HTTPS://example.com/a?b=c@d"] {
            assert_eq!(url(sound), Ok(sound.to_owned()));
        }
        for wrong in ["ftp://x", "http://", "https:///a", "http://a b", "https://me:secret@example.com/", "http://a/#b"]
        {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn header_has_a_name_and_a_variable() {
        let header = header_env("Authorization=TOKEN").expect("a header");
        assert_eq!((header.name.as_str(), header.variable.as_str()), ("Authorization", "TOKEN"));
        for wrong in ["Authorization", "Authorization=", "Authorization=Bearer abc", "=X", "Host=X"] {
            let why = header_env(wrong).expect_err(wrong);
            assert!(!why.contains("abc"), "{why}");
        }
    }

    #[test]
    fn fuzzed_words_give_a_target_with_a_sound_name() {
        let seeds = ["npx -y @a/b@1 c", "env A=B c", "https://[::1]:3/a?b#c", "node ../../index.js"];
        fuzz("ad-hoc-words", seeds, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let words: Vec<_> = text.split(' ').map(str::to_owned).collect();
            let target = of_command(&words, Utf8Path::new("/a"));
            let running = of_endpoint(Endpoint::new(text.as_ref()), Utf8Path::new("/a"));
            for name in [target.id.name, running.id.name] {
                assert!(is_target_name(&name) && name != REFERENCE && !name.contains([':', '/']), "{name}");
            }
            _ = (url(&text), header_env(&text));
        });
    }
}
