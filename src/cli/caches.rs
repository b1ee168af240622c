//! The folder in which this program keeps what it can make again.

use camino::Utf8PathBuf;

/// Below the user's cache folder, where there is one.
pub(super) fn folder() -> Option<Utf8PathBuf> {
    let folder = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty()).map(Utf8PathBuf::from);
    let caches = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(caches)))?;
    // A relative one would be another one in each folder.
    cache.is_absolute().then(|| cache.join("casebook"))
}
