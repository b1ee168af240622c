//! The embedded targets: those that this program was built with, for use outside of its repository.
//!
//! Takes a target's name and the cache folder, gives the folder with its files, and beside it the folders that targets
//! share. Must not know what the files contain.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::load::text::bundle::{Bundle, bundle};
use crate::model::fnv1a;

/// The files of `targets/` that `build.rs` found, by their paths below it.
static FILES: Bundle = bundle!("targets");

/// The names of the embedded targets.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = FILES.paths().filter_map(|path| path.strip_suffix("/target.toml")).collect();
    names.retain(|name| !name.contains('/'));
    names
}

/// The files of one target, by their paths in its folder.
fn files(name: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let own = move |(path, bytes): (&'static str, &'static [u8])| {
        path.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')).map(|path| (path, bytes))
    };
    FILES.files().filter_map(own)
}

/// The files of the folders that have no `target.toml`, by their paths beside the folder of a target. The adapters of
/// several targets use them.
fn shared() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let names = names();
    let is_shared = move |path: &str| path.split_once('/').is_some_and(|(folder, _)| !names.contains(&folder));
    FILES.files().filter(move |(path, _)| is_shared(path))
}

/// The text of one file of a target.
pub(super) fn text(name: &str, file: &str) -> Option<&'static str> {
    let (_, bytes) = files(name).find(|(path, _)| *path == file)?;
    std::str::from_utf8(bytes).ok()
}

/// The folder that a target is unpacked into. It depends on the contents, so that each version of this program has its
/// own.
pub(super) fn place(name: &str, cache: &Utf8Path) -> Utf8PathBuf {
    let files = files(name).chain(shared());
    let contents: Vec<u8> = files.flat_map(|(path, bytes)| [path.as_bytes(), &[0], bytes, &[0]].concat()).collect();
    cache.join("targets").join(format!("{:016x}", fnv1a(&contents))).join(name)
}

/// Unpacks a target, unless that was done before. The folder appears with all of its files, or not at all.
///
/// # Errors
/// An error of the file system.
pub(super) fn unpack(name: &str, cache: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let place = place(name, cache);
    if place.is_dir() {
        return Ok(place);
    }
    let whole = place.parent().expect("a place in the cache has a folder above it");
    let above = whole.parent().expect("and that one too");
    fs::create_dir_all(above)?;
    let growing = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(above)?;
    let own = files(name).map(|(path, bytes)| (Utf8Path::new(name).join(path), bytes));
    for (path, bytes) in own.chain(shared().map(|(path, bytes)| (path.into(), bytes))) {
        let file = growing.path().join(path);
        fs::create_dir_all(file.parent().expect("a file has a folder"))?;
        fs::write(file, bytes)?;
    }
    match fs::rename(growing.path(), whole) {
        // Another process was faster. Its folder has the same contents.
        Err(_) if place.is_dir() => Ok(place),
        done => done.map(|()| place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_files_are_those_of_the_repository() {
        assert!(names().len() >= 10, "{:?}", names());
        assert!(!names().contains(&"shared"), "a folder without a target.toml is no target");
        assert!(shared().all(|(path, _)| path.starts_with("shared/")), "{:?}", shared().next());
        for path in FILES.paths() {
            let left = ["node_modules", ".venv", "target", "__pycache__", ".casebook-setup", "adapter"];
            assert!(!path.split('/').any(|part| left.contains(&part)), "{path} is a product of a set-up");
        }
    }

    #[test]
    fn concurrent_unpacking_gives_one_complete_folder() {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let cache = Utf8Path::from_path(cache.path()).expect("UTF-8");
        let name = names()[0];
        let places: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> =
                (0..8).map(|_| scope.spawn(|| unpack(name, cache).expect("it is unpacked"))).collect();
            started.into_iter().map(|one| one.join().expect("no panic")).collect()
        });
        assert!(places.iter().all(|place| *place == places[0]));
        for (path, bytes) in files(name) {
            assert_eq!(fs::read(places[0].join(path)).expect(path), bytes, "{path}");
        }
        for (path, bytes) in shared() {
            assert_eq!(fs::read(places[0].join("..").join(path)).expect(path), bytes, "{path}");
        }
        let left = cache.join("targets").read_dir_utf8().expect("a folder").count();
        assert_eq!(left, 1, "no incomplete folder is left");
    }
}
