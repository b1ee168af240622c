//! Copies of checkouts: a set-up builds an SDK in a copy, so that nothing is written into the checkout.
//!
//! Takes a checkout, brings its copy up to date, gives a text that changes with its files. Must not know what is built.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::time::UNIX_EPOCH;

use camino::{Utf8Path, Utf8PathBuf};

use super::ask::ask;
use crate::drive::process::launch::Launch;
use crate::file;
use crate::model::fnv1a;
use crate::model::target::Checkout;

/// The number of files of a checkout that are copied.
const MOST_FILES: usize = 100_000;
/// The number of bytes of all its files.
const MOST_BYTES: u64 = 2 << 30;
/// The file beside a copy with the names of its files.
const LIST: &str = "sdk.files";
const MOST_LIST: usize = 64 << 20;

/// The reason why a checkout cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// Git cannot be started.
    #[error("cannot start `git`, which lists the files of a checkout: {0}")]
    NoGit(#[source] io::Error),
    /// Git knows no checkout there.
    #[error("{folder} is no checkout of a Git repository: {why}")]
    NoCheckout {
        /// The folder.
        folder: Utf8PathBuf,
        /// The error of Git.
        why: String,
    },
    /// The checkout is too large to be that of an SDK.
    #[error("{folder} has more than {MOST_FILES} files or 2 GiB; name the checkout of the SDK")]
    Large {
        /// The folder.
        folder: Utf8PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The path of the file.
        path: Utf8PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

/// What Git knows of a checkout.
#[derive(Debug)]
pub(super) struct Listing {
    /// The files that Git tracks or does not ignore, each followed by a zero byte.
    files: String,
    /// The folder of the repository and the commit; `None` for a part of a checkout.
    repository: Option<(String, String)>,
}

impl Listing {
    /// The files that exist. A folder is a submodule, and other files were deleted, but not from Git's index.
    fn files<'a>(&'a self, checkout: &'a Checkout) -> impl Iterator<Item = (&'a Utf8Path, Metadata)> {
        let names = self.files.split_terminator('\0').map(Utf8Path::new);
        names.filter_map(|name| {
            let about = checkout.folder.join(name).symlink_metadata().ok()?;
            (!about.is_dir()).then_some((name, about))
        })
    }
}

/// Asks Git for the files and the commit of a checkout.
pub(super) async fn list(folder: &Utf8Path) -> Result<Listing, CheckoutError> {
    let ask = async |arguments: &[&str]| git(folder, arguments).await;
    let files = ask(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).await?;
    let repository = if ask(&["rev-parse", "--show-prefix"]).await?.is_empty() {
        let repository = ask(&["rev-parse", "--absolute-git-dir"]).await?;
        // A repository may have no commit yet.
        Some((repository, ask(&["rev-parse", "HEAD"]).await.unwrap_or_default()))
    } else {
        None
    };
    Ok(Listing { files, repository })
}

/// Returns a text that changes with the files and the commit of a checkout.
pub(super) fn state(checkout: &Checkout, listing: &Listing) -> Result<String, CheckoutError> {
    let mut state = listing.repository.as_ref().map_or_else(String::new, |(_, commit)| commit.clone());
    let (mut files, mut bytes) = (0, 0);
    for (name, about) in listing.files(checkout) {
        (files, bytes) = (files + 1, bytes + about.len());
        if files > MOST_FILES || bytes > MOST_BYTES {
            return Err(CheckoutError::Large { folder: checkout.folder.clone() });
        }
        state.push_str(&format!("\0{name}\0{}\0{}", about.len(), time(&about)));
    }
    Ok(format!("{:016x}", fnv1a(state.as_bytes())))
}

/// Brings the copy of a checkout up to date, with the times of its files, so that a build tool builds only what changed.
/// What was built in the copy stays. The copy is a work tree of the same repository, which some build tools ask for a
/// version.
pub(super) fn update(checkout: &Checkout, listing: &Listing) -> Result<(), CheckoutError> {
    let Checkout { folder, copy } = checkout;
    let files: BTreeMap<_, _> = listing.files(checkout).collect();
    let beside = copy.with_file_name(LIST);
    for old in file::read_text(&beside, MOST_LIST).unwrap_or_default().split_terminator('\0').map(Utf8Path::new) {
        if !files.contains_key(old) {
            _ = fs::remove_file(copy.join(old));
        }
    }
    fs::create_dir_all(copy).map_err(at(copy))?;
    fs::write(&beside, &listing.files).map_err(at(&beside))?;
    for (name, about) in files {
        let (from, to) = (folder.join(name), copy.join(name));
        if to.symlink_metadata().is_ok_and(|old| old.len() == about.len() && time(&old) == time(&about)) {
            continue;
        }
        fs::create_dir_all(to.parent().expect("a file has a folder")).map_err(at(&to))?;
        _ = fs::remove_file(&to);
        copied(&from, &to, &about).map_err(at(&to))?;
    }
    if let Some((repository, _)) = &listing.repository {
        let link = copy.join(".git");
        fs::write(&link, format!("gitdir: {repository}\n")).map_err(at(&link))?;
    }
    Ok(())
}

async fn git(folder: &Utf8Path, arguments: &[&str]) -> Result<String, CheckoutError> {
    let command: Vec<_> = ["git"].iter().chain(arguments).map(|word| (*word).to_owned()).collect();
    let env = BTreeMap::from([("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned())]);
    let launch = Launch { command: &command, folder: folder.as_std_path(), env: &env };
    let answered = ask(launch).await.map_err(CheckoutError::NoGit)?;
    if answered.status.success() {
        return Ok(answered.out);
    }
    Err(CheckoutError::NoCheckout { folder: folder.to_owned(), why: answered.err })
}

/// Copies a file or a symbolic link.
fn copied(from: &Utf8Path, to: &Utf8Path, about: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    if about.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if !about.is_file() {
        return Ok(());
    }
    fs::copy(from, to)?;
    File::options().append(true).open(to)?.set_modified(about.modified()?)
}

fn time(about: &Metadata) -> u128 {
    // The time of a link cannot be set.
    let time = about.modified().ok().filter(|_| !about.is_symlink());
    time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos())
}

fn at(path: &Utf8Path) -> impl Fn(io::Error) -> CheckoutError + use<> {
    let path = path.to_owned();
    move |error| CheckoutError::File { path: path.clone(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn updated(checkout: &Checkout) -> Result<String, CheckoutError> {
        let listing = list(&checkout.folder).await?;
        update(checkout, &listing)?;
        state(checkout, &listing)
    }

    async fn checkout() -> (tempfile::TempDir, Checkout) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8").to_owned();
        let checkout = Checkout { folder: root.join("from"), copy: root.join("place").join("sdk") };
        fs::create_dir_all(checkout.folder.join("src")).expect("a folder");
        git(&checkout.folder, &["init", "--quiet"]).await.expect("there is git");
        (folder, checkout)
    }

    #[tokio::test]
    async fn copy_follows_its_checkout_and_keeps_what_was_built() {
        let (_folder, checkout) = checkout().await;
        let (from, to) = (&checkout.folder, &checkout.copy);
        fs::write(from.join(".gitignore"), "built\n").expect("a file");
        fs::write(from.join("src/a"), "1").expect("a file");
        fs::write(from.join("src/b"), "1").expect("a file");
        fs::write(from.join("built"), "of the checkout").expect("a file");
        let first = updated(&checkout).await.expect("it is copied");
        assert_eq!(fs::read_to_string(to.join("src/a")).expect("a copy"), "1");
        assert!(!to.join("built").exists(), "an ignored file is not copied");
        fs::write(to.join("built"), "of the copy").expect("a file");
        assert_eq!(updated(&checkout).await.expect("it is copied"), first, "nothing changed");
        fs::write(from.join("src/a"), "22").expect("a file");
        fs::remove_file(from.join("src/b")).expect("it is there");
        assert_ne!(updated(&checkout).await.expect("it is copied"), first);
        assert_eq!(fs::read_to_string(to.join("src/a")).expect("a copy"), "22");
        assert!(!to.join("src/b").exists(), "a removed file leaves the copy");
        assert_eq!(fs::read_to_string(to.join("built")).expect("it stays"), "of the copy");
        let modified = |path: Utf8PathBuf| path.metadata().expect("a file").modified().expect("a time");
        assert_eq!(modified(from.join("src/a")), modified(to.join("src/a")));
        assert_eq!(git(to, &["rev-parse", "--show-prefix"]).await.expect("a work tree"), "");
    }

    #[tokio::test]
    async fn folder_without_a_repository_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let refused = updated(&Checkout { folder: root.to_owned(), copy: root.join("copy") }).await;
        assert!(matches!(refused, Err(CheckoutError::NoCheckout { .. })), "{refused:?}");
    }
}
