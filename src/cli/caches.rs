//! The folder for what this program can make again.

use camino::Utf8PathBuf;
use etcetera::BaseStrategy as _;

/// `casebook` in the user's cache folder, where there is one.
pub(super) fn folder() -> Option<Utf8PathBuf> {
    let caches = Utf8PathBuf::from_path_buf(etcetera::choose_base_strategy().ok()?.cache_dir()).ok()?;
    // A relative one would be another one in each folder.
    caches.is_absolute().then(|| caches.join("casebook"))
}
