//! The current folder, and the paths of target files for people.
//!
//! Takes names from the command line, gives the folders to search. Must not know the content of files.

use camino::{Utf8Path, Utf8PathBuf};

use super::caches;
use super::problem::Problem;
use crate::load::Here;
use crate::load::target::{REFERENCE, is_embedded};
use crate::model::target::Target;
use crate::report::Untrusted;
use crate::report::terminal::eprint_line;

/// The most characters of a path that are shown.
const SHOWN: usize = 1000;

/// Returns the folders in which names are looked up.
pub(in crate::cli) fn here() -> Result<Here, Problem> {
    let here = std::env::current_dir().map_err(Problem::system)?;
    let here = Utf8PathBuf::try_from(here).map_err(|error| Problem::system(error.into_io_error()))?;
    Ok(Here::new(&here))
}

/// Prints the file of each target.
pub(in crate::cli) fn show_files<'t>(targets: impl IntoIterator<Item = &'t Target>, here: &Here) {
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
pub(in crate::cli) fn file(target: &Target, here: &Utf8Path) -> String {
    match (&target.file, caches::folder()) {
        (Some(_), Ok(cache)) if is_embedded(target, &cache) => "embedded".to_owned(),
        (Some(file), _) => file.strip_prefix(here).unwrap_or(file).to_string(),
        (None, _) => "embedded".to_owned(),
    }
}

/// Returns the folder of an embedded target that was unpacked into a cache, if one of these `target.toml` files is its file.
/// The cache may be that of another machine, or of another version of casebook.
pub(in crate::cli) fn unpacked_folder<'f>(
    name: &str,
    files: impl IntoIterator<Item = &'f Utf8PathBuf>,
) -> Option<&'f Utf8Path> {
    files.into_iter().filter_map(|file| file.parent()).find(|folder| {
        let above = folder.parent().and_then(Utf8Path::parent);
        folder.file_name() == Some(name) && above.is_some_and(|above| above.ends_with("casebook/targets"))
    })
}
