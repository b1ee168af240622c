//! The cache folder of casebook: run logs and unpacked targets.

use std::path::PathBuf;

use camino::Utf8PathBuf;
use etcetera::BaseStrategy as _;

use super::{Exit, Problem};

/// The variable that names the cache folder, before the home folder does.
const VARIABLE: &str = "XDG_CACHE_HOME";

/// Returns the folder `casebook` in the user's cache folder.
///
/// # Errors
/// The reason why the cache folder is not known, with the remedy.
pub(super) fn folder() -> Result<Utf8PathBuf, String> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from).filter(|folder| cfg!(unix) && folder.is_absolute());
    let caches = match named {
        Some(folder) => folder,
        None => etcetera::choose_base_strategy().map(|base| base.cache_dir()).map_err(|_| {
            format!("the home folder is not known, because HOME is not set; set HOME, or {VARIABLE} to a folder")
        })?,
    };
    let caches = Utf8PathBuf::from_path_buf(caches).map_err(|folder| {
        format!("the path of the cache folder, {}, is not UTF-8; set {VARIABLE}", folder.display())
    })?;
    // A relative path would be a different folder for each working directory.
    if caches.is_absolute() {
        Ok(caches.join("casebook"))
    } else {
        Err(format!("the cache folder, {caches}, is not an absolute path; set HOME or {VARIABLE} to one"))
    }
}

/// Returns the cache folder for a command that cannot do without it.
///
/// # Errors
/// The problem that ends the command.
pub(super) fn needed() -> Result<Utf8PathBuf, Problem> {
    folder().map_err(|why| Problem::new(Exit::System, why))
}
