//! The hidden command `__man`: writes the man pages of all commands, for the archives of a release.
//!
//! Takes a folder that exists, gives files such as `casebook-run.1` in it, made from the texts of `--help`. Must not know
//! how a command works.

use camino::Utf8Path;
use clap::CommandFactory as _;

use super::{Cli, Exit, Problem};

pub(super) fn man(folder: &Utf8Path) -> Result<Exit, Problem> {
    clap_mangen::generate_to(Cli::command(), folder).map_err(|error| Problem::unsaved(folder, &error))?;
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn man_pages_exist_for_public_commands_only() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Utf8Path::from_path(folder.path()).expect("UTF-8");
        assert_eq!(man(place).map_err(|problem| problem.text.to_string()), Ok(Exit::Fine));
        let public: Vec<_> = Cli::command().get_subcommands().filter(|one| !one.is_hide_set()).cloned().collect();
        assert!(public.len() > 15, "{}", public.len());
        for command in &public {
            let page = format!("casebook-{}.1", command.get_name());
            let text = fs::read_to_string(place.join(&page)).expect(&page);
            assert!(text.contains(".SH SYNOPSIS") && text.contains(".SH OPTIONS"), "{page}");
        }
        let all = fs::read_to_string(place.join("casebook.1")).expect("the page of the program");
        assert!(all.contains("Exit statuses"), "the page has the long help");
        assert_eq!(place.read_dir_utf8().expect("a folder").count(), public.len() + 1);
    }

    #[test]
    fn folder_that_is_missing_is_named() {
        let problem = man(Utf8Path::new("no/such/folder")).expect_err("the folder is missing");
        assert!(problem.text.to_string().starts_with("casebook: cannot write no/such/folder: "));
    }
}
