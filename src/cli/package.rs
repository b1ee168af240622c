//! The hidden command `__package`: writes the completions of all shells and the man pages of all commands, for the archives
//! of a release.
//!
//! Takes a folder, gives `completions/` and `man/` in it, made from the options and the texts of `--help`. Must not know
//! how a command works.

use std::fs;

use camino::Utf8Path;
use clap::{CommandFactory as _, ValueEnum as _};
use clap_complete::Shell;

use super::Cli;
use super::base::exit::Exit;
use super::base::problem::Problem;

pub(super) fn package(folder: &Utf8Path) -> Result<Exit, Problem> {
    let unsaved = |error: std::io::Error| Problem::unsaved(folder, &error);
    let [completions, man] = ["completions", "man"].map(|name| folder.join(name));
    fs::create_dir_all(&completions).and_then(|()| fs::create_dir_all(&man)).map_err(unsaved)?;
    for shell in Shell::value_variants() {
        clap_complete::generate_to(*shell, &mut Cli::command(), "casebook", &completions).map_err(unsaved)?;
    }
    clap_mangen::generate_to(Cli::command(), man).map_err(unsaved)?;
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn man_pages_exist_for_public_commands_only() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Utf8Path::from_path(folder.path()).expect("UTF-8");
        assert_eq!(package(place).map_err(|problem| problem.text.to_string()), Ok(Exit::Fine));
        let place = place.join("man");
        let mut public = Vec::new();
        for command in Cli::command().get_subcommands().filter(|one| !one.is_hide_set()) {
            public.push(command.get_name().to_owned());
            public
                .extend(command.get_subcommands().map(|inner| format!("{}-{}", command.get_name(), inner.get_name())));
        }
        assert!(public.len() > 15, "{}", public.len());
        for name in &public {
            let page = format!("casebook-{name}.1");
            let text = fs::read_to_string(place.join(&page)).expect(&page);
            assert!(text.contains(".SH SYNOPSIS") && text.contains(".SH OPTIONS"), "{page}");
        }
        let all = fs::read_to_string(place.join("casebook.1")).expect("the page of the program");
        assert!(all.contains("Exit statuses"), "the page has the long help");
        assert_eq!(place.read_dir_utf8().expect("a folder").count(), public.len() + 1);
    }

    #[test]
    fn folder_that_cannot_be_created_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let place = Utf8Path::from_path(file.path()).expect("UTF-8").join("folder");
        let problem = package(&place).expect_err("a file is in the way");
        assert!(problem.text.to_string().starts_with(&format!("casebook: cannot write {place}: ")));
    }
}
