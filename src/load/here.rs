//! The folders in which names are looked up: from the current folder up to the root of its repository.
//!
//! Takes the current folder, gives the nearest folder `targets` or `snapshots`, unless another user could have created
//! it. Must not know what these folders contain.

use std::fmt;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// The names that mark the root of a repository.
const REPOSITORY: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".pijul"];

/// The trust in files of other users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Such a file is used only if its path was named.
    Named,
    /// Such a file is used wherever a name leads to it.
    All,
}

/// The folders in which names are looked up.
#[derive(Clone, Debug)]
pub struct Here {
    /// The current folder, and those above it up to the root of the repository.
    folders: Vec<Utf8PathBuf>,
    trust: Trust,
}

/// A file or folder that a name leads to, and that is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file or folder.
    path: Utf8PathBuf,
    /// The file or folder of another user.
    foreign: Utf8PathBuf,
    /// Its owner.
    why: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, foreign, why } = self;
        write!(f, "{path} is not used, because {foreign} {why}; ")?;
        f.write_str("if you trust it, name its path, pass --trust or set CASEBOOK_TRUST=1")
    }
}

impl Skipped {
    /// Returns whether the skipped folder has this file in this folder.
    pub(super) fn leads_to(&self, folder: &str, file: &str) -> bool {
        self.path.join(folder).join(file).exists()
    }
}

impl Here {
    /// Looks names up in `folder`, and, if it lies in a repository, in the folders above it up to the repository's root.
    pub fn new(folder: &Utf8Path, trust: Trust) -> Self {
        let is_root = |folder: &Utf8Path| REPOSITORY.iter().any(|mark| folder.join(mark).exists());
        let root = folder.ancestors().position(is_root).unwrap_or(0);
        Self { folders: folder.ancestors().take(root + 1).map(Utf8Path::to_owned).collect(), trust }
    }

    /// The current folder.
    pub fn folder(&self) -> &Utf8Path {
        &self.folders[0]
    }

    /// The nearest folder of this name that contains `inside`.
    pub(super) fn nearest(&self, name: &str, inside: &str) -> Option<Result<Utf8PathBuf, Skipped>> {
        let place = self.folders.iter().position(|folder| folder.join(name).join(inside).is_dir())?;
        let found = self.folders[place].join(name);
        let on_the_way = self.folders[..=place].iter().cloned().chain([found.clone(), found.join(inside)]);
        Some(self.own(found, on_the_way))
    }

    /// The folder of a cache, unless another user could have created it or the folders `inside` of it.
    ///
    /// # Errors
    /// The first folder that another user controls: the cache, one of those inside, or the folder above.
    pub fn own_cache(&self, cache: Utf8PathBuf, inside: &[&str]) -> Result<Utf8PathBuf, Skipped> {
        let inside = inside.iter().map(|name| cache.join(name));
        let on_the_way: Vec<_> = [cache.clone()].into_iter().chain(inside).collect();
        let cache = self.own(cache, on_the_way)?;
        match cache
            .parent()
            .filter(|_| self.trust == Trust::Named)
            .and_then(|above| Some((above, who_replaces(above)?)))
        {
            Some((above, why)) => Err(Skipped { foreign: above.to_owned(), path: cache, why }),
            None => Ok(cache),
        }
    }

    /// Returns whether a path lies below the current folder or its repository, judged by its name alone.
    pub fn has(&self, path: &Utf8Path) -> bool {
        let is_plain =
            |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::RootDir | Utf8Component::Prefix(_));
        path.components().all(is_plain) && self.folders.last().is_some_and(|root| path.starts_with(root))
    }

    /// Returns a path, unless another user owns, or all users can write to, one of the files and folders on the way.
    pub(super) fn own(
        &self,
        path: Utf8PathBuf,
        on_the_way: impl IntoIterator<Item = Utf8PathBuf>,
    ) -> Result<Utf8PathBuf, Skipped> {
        if self.trust == Trust::All {
            return Ok(path);
        }
        match on_the_way.into_iter().find_map(|one| Some((whose(&one)?, one))) {
            Some((why, foreign)) => Err(Skipped { path, foreign, why }),
            None => Ok(path),
        }
    }
}

/// The reason not to trust a file or folder; `None` if it belongs to this user or root, who alone can write to it.
#[cfg(unix)]
fn whose(path: &Utf8Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = path.metadata().ok()?;
    let (owner, own) = (metadata.uid(), nix::unistd::geteuid().as_raw());
    if !is_ours(owner) {
        return Some(format!("belongs to another user (uid {owner}, and you are {own})"));
    }
    (metadata.mode() & 0o002 != 0).then(|| "can be written to by every user".to_owned())
}

/// The reason not to trust the entries of a folder; `None` if only this user and root can replace them.
#[cfg(unix)]
fn who_replaces(folder: &Utf8Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    // In a sticky folder, each user can replace only what is their own.
    let is_sticky = folder.metadata().is_ok_and(|folder| folder.mode() & 0o1000 != 0 && is_ours(folder.uid()));
    if is_sticky { None } else { whose(folder) }
}

/// Owners are not checked on this system.
#[cfg(not(unix))]
fn who_replaces(_: &Utf8Path) -> Option<String> {
    None
}

/// Returns whether a user is this one or root.
#[cfg(unix)]
fn is_ours(user: u32) -> bool {
    user == 0 || user == nix::unistd::geteuid().as_raw()
}

/// Owners are not checked on this system.
#[cfg(not(unix))]
fn whose(_: &Utf8Path) -> Option<String> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn folders() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("UTF-8");
        for inner in ["targets", "repository/.git", "repository/inner/deep", "repository/targets"] {
            fs::create_dir_all(path.join(inner)).expect("a folder");
        }
        (folder, path)
    }

    fn open_to_all(path: &Utf8Path) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o1777)).expect("it is ours");
    }

    fn nearest(folder: &Utf8Path, trust: Trust) -> Option<Result<Utf8PathBuf, Skipped>> {
        Here::new(folder, trust).nearest("targets", "")
    }

    #[test]
    fn search_ends_at_the_root_of_the_repository() {
        let (_folder, path) = folders();
        let (repository, deep) = (path.join("repository"), path.join("repository/inner/deep"));
        assert_eq!(nearest(&deep, Trust::Named), Some(Ok(repository.join("targets"))));
        fs::remove_dir(repository.join("targets")).expect("it is ours");
        assert_eq!(nearest(&deep, Trust::All), None);
        fs::remove_dir(repository.join(".git")).expect("it is ours");
        assert_eq!(nearest(&deep, Trust::All), None, "without a repository, only the current folder counts");
        assert_eq!(nearest(&path, Trust::Named), Some(Ok(path.join("targets"))));
    }

    #[test]
    fn world_writable_folder_needs_trust() {
        for open in ["repository", "repository/inner", "repository/targets"] {
            let (_folder, path) = folders();
            open_to_all(&path.join(open));
            let deep = path.join("repository/inner/deep");
            let skipped = nearest(&deep, Trust::Named).expect("there is one").expect_err("it is not used").to_string();
            assert!(skipped.contains(&format!("{} can be written to by every user", path.join(open))), "{skipped}");
            assert!(skipped.contains("--trust"), "{skipped}");
            assert_eq!(nearest(&deep, Trust::All), Some(Ok(path.join("repository/targets"))));
        }
    }

    #[test]
    fn folder_of_another_user_needs_trust() {
        if !nix::unistd::geteuid().is_root() {
            // Past the capture of the test runner.
            _ = writeln!(std::io::stderr(), "SKIPPED: only root can give a folder away");
            return;
        }
        let (_folder, path) = folders();
        std::os::unix::fs::chown(path.join("repository/targets"), Some(65534), None).expect("root may");
        let deep = path.join("repository/inner/deep");
        let skipped = nearest(&deep, Trust::Named).expect("there is one").expect_err("it is not used").to_string();
        assert!(skipped.contains("targets belongs to another user (uid 65534, and you are 0)"), "{skipped}");
        assert_eq!(nearest(&deep, Trust::All), Some(Ok(path.join("repository/targets"))));
    }
}
