//! Canary files: each lies in a folder of its own, and its opening is noticed on systems that can report it.
//!
//! Takes documents, gives the paths of files and those that were opened. Must not know tests or targets.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::CanaryError;
use crate::drive::process::session::scratch;
use crate::drive::token::token;

/// Watched files.
#[derive(Debug)]
pub(super) struct Files {
    folder: tempfile::TempDir,
    watch: Watch,
}

impl Files {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("casebook-").tempdir_in(scratch())?;
        Ok(Self { folder, watch: Watch::new()? })
    }

    /// Writes a document to a path in a fresh folder, and watches the file from then on.
    pub(super) fn place(&mut self, path: Option<&str>, document: &str) -> io::Result<PathBuf> {
        let inside = |part: &Component<'_>| matches!(part, Component::Normal(_));
        let path: PathBuf = Path::new(path.unwrap_or("schema.json")).components().filter(inside).collect();
        let path = self.folder.path().join(token()).join(path);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&path, document)?;
        self.watch.add(&path)?;
        Ok(path)
    }

    /// Reads a watched file, and checks that this is noticed, on systems that can report it.
    pub(super) fn probe() -> Result<(), CanaryError> {
        let read_one = || {
            let mut files = Self::new()?;
            let path = files.place(None, "{}")?;
            std::fs::read(&path)?;
            Ok((files, path))
        };
        let (files, path) = read_one().map_err(CanaryError::Watch)?;
        let is_noticed = !Watch::IS_SUPPORTED || files.read().contains(&path);
        if is_noticed { Ok(()) } else { Err(CanaryError::RequestNotNoticed("of a file was not noticed")) }
    }

    /// Returns the files that were opened since the last call.
    pub(super) fn read(&self) -> Vec<PathBuf> {
        self.watch.opened()
    }
}

/// Returns the URL of an absolute path. Those of Windows begin with a drive, and have `\` between their parts.
pub(super) fn address(path: &Path) -> String {
    let path = path.display().to_string();
    if cfg!(windows) { format!("file:///{}", path.replace('\\', "/")) } else { format!("file://{path}") }
}

/// The reports of Linux about opened files.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Watch {
    inotify: nix::sys::inotify::Inotify,
    files: Vec<(nix::sys::inotify::WatchDescriptor, PathBuf)>,
}

#[cfg(target_os = "linux")]
impl Watch {
    const IS_SUPPORTED: bool = true;

    fn new() -> io::Result<Self> {
        use nix::sys::inotify::{InitFlags, Inotify};
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        Ok(Self { inotify, files: Vec::new() })
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        let descriptor = self.inotify.add_watch(path, nix::sys::inotify::AddWatchFlags::IN_OPEN)?;
        self.files.push((descriptor, path.to_owned()));
        Ok(())
    }

    fn opened(&self) -> Vec<PathBuf> {
        let mut opened = Vec::new();
        // An error means that there are no more events.
        while let Ok(events) = self.inotify.read_events() {
            let known = |event: &nix::sys::inotify::InotifyEvent| {
                self.files.iter().find(|(watched, _)| *watched == event.wd).map(|(_, path)| path.clone())
            };
            opened.extend(events.iter().filter_map(known));
        }
        opened
    }
}

/// Other systems do not report to every user that a file was opened, so that no request for one is noticed.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct Watch;

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the signatures are those of Linux")]
impl Watch {
    const IS_SUPPORTED: bool = false;

    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    fn add(&mut self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn opened(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn file_is_noticed_when_it_is_opened_and_not_before() {
        let mut files = Files::new().expect("a folder");
        let path = files.place(Some("../../a/b.json"), "{}").expect("written");
        assert!(path.starts_with(files.folder.path()) && path.ends_with("a/b.json"));
        assert!(files.read().is_empty());
        std::fs::read(&path).expect("the document");
        assert_eq!(files.read(), [path]);
        assert!(files.read().is_empty());
    }
}
