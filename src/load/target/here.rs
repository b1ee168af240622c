//! The folders in which names are looked up: the current folder and the root of its repository.
//!
//! Takes the current folder. Must not know what these folders contain.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// The folder or file that marks the root of a repository.
const REPOSITORY: &str = ".git";

/// The current folder and its repository.
#[derive(Clone, Debug)]
pub struct Here {
    folder: Utf8PathBuf,
    root: Utf8PathBuf,
}

impl Here {
    /// Takes the nearest folder with `.git`, at or above `folder`, as the root; without one, `folder` itself.
    pub fn new(folder: &Utf8Path) -> Self {
        let root = folder.ancestors().find(|folder| folder.join(REPOSITORY).exists()).unwrap_or(folder);
        Self { folder: folder.to_owned(), root: root.to_owned() }
    }

    /// The current folder.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// The root of the repository.
    pub(super) fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns whether a path lies below the root of the repository, judged by its name alone.
    pub fn has(&self, path: &Utf8Path) -> bool {
        let is_plain =
            |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::RootDir | Utf8Component::Prefix(_));
        path.components().all(is_plain) && path.starts_with(&self.root)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn root_is_the_nearest_folder_with_git_or_the_current_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let (repository, deep) = (path.join("repository"), path.join("repository/inner/deep"));
        fs::create_dir_all(&deep).expect("a folder");
        assert_eq!(Here::new(&deep).root(), deep);
        fs::write(repository.join(".git"), "gitdir: of a worktree").expect("a file");
        assert_eq!(Here::new(&deep).root(), repository);
        assert_eq!(Here::new(&deep).folder(), deep);
        assert!(Here::new(&deep).has(&repository.join("targets")) && !Here::new(&deep).has(path));
    }
}
