//! The places in the cache folder where targets are built on checkouts and other releases: bounded in number, and none
//! removed while a process uses it.
//!
//! Takes paths, gives nothing but the files. Must not know what is built there.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

/// The folders of the cache that have places.
pub(super) const CHECKOUTS: &str = "checkouts";
pub(super) const VERSIONS: &str = "versions";
/// The number of places of each kind that are kept.
const KEPT: usize = 24;
/// The file in a place that is locked while a process uses it, and written when one begins to.
const USED: &str = "used";

/// Keeps a place until this process ends. A new place replaces the one that was used longest ago, where there are too
/// many. In an old place, of the folders where targets were unpacked only the given one is kept.
///
/// # Errors
/// An error of the file system.
pub(super) fn occupy(place: &Utf8Path, unpacked: Option<&Utf8Path>) -> io::Result<()> {
    let is_new = !place.is_dir();
    let lock = loop {
        fs::create_dir_all(place)?;
        let file = place.join(USED);
        let mut lock = File::options().create(true).append(true).open(&file)?;
        if lock.try_lock().is_ok() {
            unpacked.into_iter().for_each(leave_only);
            lock.set_len(0)?;
            lock.write_all(b"\n")?;
            lock.unlock()?;
        }
        lock.lock_shared()?;
        // Another process may have removed the place in the meantime.
        if file.is_file() {
            break lock;
        }
    };
    std::mem::forget(lock);
    if is_new && let Some(places) = place.parent() {
        used(places)?.iter().skip(KEPT).for_each(|place| _ = remove(place));
    }
    Ok(())
}

/// Removes all places that no process uses. Returns the names of the removed ones, and of those in use.
///
/// # Errors
/// An error of the file system.
pub fn clear(cache: &Utf8Path) -> io::Result<[Vec<String>; 2]> {
    let mut all = Vec::new();
    for kind in [VERSIONS, CHECKOUTS] {
        all.extend(used(&cache.join(kind))?);
    }
    let mut ends = [Vec::new(), Vec::new()];
    for place in all {
        let is_removed = remove(&place)?;
        ends[usize::from(!is_removed)].push(place.strip_prefix(cache).unwrap_or(&place).to_string());
    }
    Ok(ends)
}

/// The places of one kind, the one that was used last first.
fn used(places: &Utf8Path) -> io::Result<Vec<Utf8PathBuf>> {
    let entries = match places.read_dir_utf8() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?.flatten(),
    };
    let mut all: Vec<_> = entries.map(camino::Utf8DirEntry::into_path).filter(|path| path.is_dir()).collect();
    all.sort_by_cached_key(|place| Reverse(place.join(USED).metadata().and_then(|about| about.modified()).ok()));
    Ok(all)
}

/// Removes a place, unless a process uses it.
fn remove(place: &Utf8Path) -> io::Result<bool> {
    let lock = File::options().create(true).append(true).open(place.join(USED))?;
    if lock.try_lock().is_err() {
        return Ok(false);
    }
    fs::remove_dir_all(place)?;
    Ok(true)
}

/// Removes what earlier versions of this program unpacked beside a folder.
fn leave_only(unpacked: &Utf8Path) {
    let above = unpacked.parent().and_then(|folder| folder.read_dir_utf8().ok());
    for old in above.into_iter().flatten().flatten().filter(|entry| entry.path() != unpacked) {
        // What cannot be removed only takes room.
        _ = fs::remove_dir_all(old.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_stay_while_they_are_used() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let place = |name: &str| cache.join(VERSIONS).join(name);
        let unpacked = |name: &str, hash: &str| place(name).join("targets").join(hash);
        // A process that has ended has no lock.
        let ended = |name: &str| {
            fs::create_dir_all(unpacked(name, "old")).expect("a folder");
            fs::write(place(name).join(USED), "").expect("a file");
        };
        ended("first");
        occupy(&place("living"), Some(&unpacked("living", "new"))).expect("a place");
        for number in 0..KEPT {
            ended(&format!("next-{number}"));
        }
        occupy(&place("last"), Some(&unpacked("last", "new"))).expect("a place");
        let left = |name: &str| place(name).is_dir();
        assert!(left("living") && left("last"), "a process uses them");
        assert_eq!(cache.join(VERSIONS).read_dir_utf8().expect("a folder").count(), KEPT + 1);
        let kept = (0..KEPT).map(|number| format!("next-{number}")).find(|name| left(name)).expect("some are kept");
        occupy(&place(&kept), Some(&unpacked(&kept, "new"))).expect("a place");
        assert!(!unpacked(&kept, "old").exists(), "only the newest files stay");
        let [removed, in_use] = clear(cache).expect("a folder");
        assert_eq!((removed.len(), in_use.len()), (KEPT - 2, 3), "{removed:?} {in_use:?}");
        assert!(left("living") && left("last") && left(&kept));
    }
}
