//! The cache folder of casebook: run logs and unpacked targets.

use std::path::PathBuf;

use camino::Utf8PathBuf;
use etcetera::BaseStrategy as _;

/// The variable that names the cache folder, before the home folder does.
const VARIABLE: &str = "XDG_CACHE_HOME";

/// The reason why the cache folder is not known, with the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::cli) struct NoCache(pub(in crate::cli) String);

/// Returns the folder `casebook` in the user's cache folder.
pub(in crate::cli) fn folder() -> Result<Utf8PathBuf, NoCache> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from).filter(|folder| cfg!(unix) && folder.is_absolute());
    let caches = match named {
        Some(folder) => folder,
        None => etcetera::choose_base_strategy().map(|base| base.cache_dir()).map_err(|_| {
            NoCache(format!(
                "the home folder is not known, because HOME is not set; set HOME, or {VARIABLE} to a folder"
            ))
        })?,
    };
    let caches = Utf8PathBuf::from_path_buf(caches).map_err(|folder| {
        NoCache(format!("the path of the cache folder, {}, is not UTF-8; set {VARIABLE}", folder.display()))
    })?;
    // A relative path would be a different folder for each working directory.
    if caches.is_absolute() {
        Ok(caches.join("casebook"))
    } else {
        Err(NoCache(format!("the cache folder, {caches}, is not an absolute path; set HOME or {VARIABLE} to one")))
    }
}
