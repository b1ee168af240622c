//! The current folder, the trust in files of other users, and the paths of target files for people.
//!
//! Takes names from the command line, gives the folders to search. Must not know the content of files.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Problem, caches};
use crate::load::target::{REFERENCE, is_embedded, skipped};
use crate::load::{Here, Trust};
use crate::model::target::Target;
use crate::report::Untrusted;
use crate::report::terminal::eprint_line;

/// The most characters of a path that are shown.
const SHOWN: usize = 1000;

/// The trust in files of other users, which is set once for the whole program.
static TRUST: OnceLock<Trust> = OnceLock::new();

/// Sets the trust, from `--trust` or the variable `CASEBOOK_TRUST`.
pub(super) fn trust(is_given: bool) {
    let is_set = std::env::var_os("CASEBOOK_TRUST").is_some_and(|value| !value.is_empty() && value != "0");
    TRUST.get_or_init(|| if is_given || is_set { Trust::All } else { Trust::Named });
}

/// Returns the folders in which names are looked up.
pub(super) fn here() -> Result<Here, Problem> {
    Ok(Here::new(&folder()?, TRUST.get().copied().unwrap_or(Trust::Named)))
}

fn folder() -> Result<Utf8PathBuf, Problem> {
    let here = std::env::current_dir().map_err(Problem::system)?;
    Utf8PathBuf::try_from(here).map_err(|error| Problem::system(error.into_io_error()))
}

/// Prints the files of other users that are not used for a name; without a name, the skipped folder of targets.
pub(super) fn warn_of_skipped(typed: Option<&str>, here: &Here) {
    for skipped in skipped(typed, here) {
        eprint_line(&Untrusted(&format!("casebook: {skipped}")).line(SHOWN));
    }
}

/// Prints the file of each target.
pub(super) fn show_files<'t>(targets: impl IntoIterator<Item = &'t Target>, here: &Here) {
    let mut shown = Vec::new();
    for target in targets.into_iter().filter(|target| target.id.name != REFERENCE) {
        let line = format!("target {}: {}", target.id.name, file(target, here.folder()));
        if !shown.contains(&line) {
            eprint_line(&Untrusted(&line).line(SHOWN));
            shown.push(line);
        }
    }
}

/// Returns the path of a target's file from the current folder, or `embedded`.
pub(super) fn file(target: &Target, here: &Utf8Path) -> String {
    match (&target.file, caches::folder()) {
        (Some(_), Ok(cache)) if is_embedded(target, &cache) => "embedded".to_owned(),
        (Some(file), _) => file.strip_prefix(here).unwrap_or(file).to_string(),
        (None, _) => "embedded".to_owned(),
    }
}

/// Returns the folder of an embedded target that was unpacked into a cache, if one of these `target.toml` files is its file.
/// The cache may be that of another machine, or of another version of casebook.
pub(super) fn unpacked_folder<'f>(
    name: &str,
    files: impl IntoIterator<Item = &'f Utf8PathBuf>,
) -> Option<&'f Utf8Path> {
    files.into_iter().filter_map(|file| file.parent()).find(|folder| {
        let above = folder.parent().and_then(Utf8Path::parent);
        folder.file_name() == Some(name) && above.is_some_and(|above| above.ends_with("casebook/targets"))
    })
}
