//! A file of JSON lines. The writer writes complete lines, the reader bounds the length of a line.
//!
//! Takes and gives bytes. Must not know the content of lines.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::LogError;

/// The longest line that is read, in bytes. A run writes shorter lines.
pub(super) const LONGEST: usize = 32 << 20;

/// A file that is being written. A lock keeps other runs from writing to it.
#[derive(Debug)]
pub(super) struct Writer {
    path: Utf8PathBuf,
    /// `None` after a line could not be written.
    file: Option<BufWriter<File>>,
    /// The end of the last complete line, in bytes.
    end: u64,
}

impl Writer {
    pub(super) fn create(path: &Utf8Path) -> Result<Self, LogError> {
        let folder = path.parent().filter(|folder| !folder.as_str().is_empty());
        let failed = |source| LogError::Io { path: path.to_owned(), is_writing: true, source };
        folder.map_or(Ok(()), private_folder).map_err(failed)?;
        let file = private_file(path).map_err(failed)?;
        // The lock ends with the handle. A device needs no lock, and some file systems have none.
        if file.metadata().map_err(failed)?.is_file() {
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                return Err(LogError::InUse { path: path.to_owned() });
            }
            file.set_len(0).map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), file: Some(BufWriter::new(file)), end: 0 })
    }

    /// Writes a line. After an error the file ends with the line before, and further lines are ignored.
    pub(super) fn write(&mut self, line: &impl Serialize) -> Result<(), LogError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = serde_json::to_writer(&mut *file, line).map_err(io::Error::from);
        let written = written.and_then(|()| file.write_all(b"\n")).and_then(|()| file.flush());
        if written.is_ok() {
            self.end = file.get_mut().stream_position().unwrap_or(0);
        } else if let Some(file) = self.file.take() {
            // Dropping the writer would write the rest of the buffer.
            let (file, _) = file.into_parts();
            if file.metadata().is_ok_and(|file| file.is_file()) {
                _ = file.set_len(self.end);
            }
        }
        written.map_err(|source| LogError::Io { path: self.path.clone(), is_writing: true, source })
    }
}

/// Creates a folder and its parents, readable only for their owner. An existing folder is not changed.
///
/// # Errors
/// Those of the file system.
pub fn private_folder(path: &Utf8Path) -> io::Result<()> {
    let mut new = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut new, 0o700);
    new.recursive(true).create(path)
}

/// Opens or creates a file that only its owner can read.
fn private_file(path: &Utf8Path) -> io::Result<File> {
    let mut new = OpenOptions::new();
    new.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut new, 0o600);
    let file = match new.open(path) {
        // On some file systems a new file belongs to another user, so the owner is checked only for existing files.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => own_file(path)?,
        done => done?,
    };
    #[cfg(unix)]
    if file.metadata()?.is_file() {
        use std::os::unix::fs::PermissionsExt as _;
        // The mode above is only for new files. Some file systems do not support modes.
        _ = file.set_permissions(std::fs::Permissions::from_mode(0o600));
    }
    Ok(file)
}

/// Opens an existing file, unless the file or the link to it belongs to another user, who could read it.
fn own_file(path: &Utf8Path) -> io::Result<File> {
    let mut there = OpenOptions::new();
    there.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
        let check = |metadata: &std::fs::Metadata| {
            let (owner, own) = (metadata.uid(), nix::unistd::geteuid().as_raw());
            let is_ours = owner == 0 || owner == own || !(metadata.is_file() || metadata.is_symlink());
            let why = || format!("this is a file of another user (uid {owner}, and you are {own}), who could read it");
            if is_ours { Ok(()) } else { Err(io::Error::new(io::ErrorKind::PermissionDenied, why())) }
        };
        let seen = path.symlink_metadata()?;
        check(&seen)?;
        if !seen.is_symlink() {
            // The file may have been replaced by a link since it was checked.
            there.custom_flags(nix::libc::O_NOFOLLOW);
        }
        let file = there.open(path)?;
        check(&file.metadata()?)?;
        Ok(file)
    }
    #[cfg(not(unix))]
    there.open(path)
}

/// A file that is being read.
#[derive(Debug)]
pub(super) struct Reader {
    path: Utf8PathBuf,
    file: BufReader<File>,
    line: Vec<u8>,
    number: usize,
}

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Read<'a> {
    /// The number of the line, counted from 1.
    pub(super) number: usize,
    /// The bytes of the line; `None` if there are more than [`LONGEST`].
    pub(super) bytes: Option<&'a [u8]>,
    /// `true` if the line ends with a line feed.
    pub(super) is_whole: bool,
}

impl Reader {
    pub(super) fn open(path: &Utf8Path) -> Result<Self, LogError> {
        let file = crate::file::open(path).map_err(failed(path))?;
        Ok(Self { path: path.to_owned(), file: BufReader::with_capacity(64 << 10, file), line: Vec::new(), number: 0 })
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Reads the next line; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Read<'_>>, LogError> {
        self.line.clear();
        // Frees the memory of a long line.
        self.line.shrink_to(1 << 20);
        let most = u64::try_from(LONGEST).expect("a bound is small") + 1;
        (&mut self.file).take(most).read_until(b'\n', &mut self.line).map_err(failed(&self.path))?;
        if self.line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let mut is_whole = self.line.ends_with(b"\n");
        let fits = is_whole || self.line.len() <= LONGEST;
        if !fits {
            is_whole = self.skip().map_err(failed(&self.path))?;
        }
        Ok(Some(Read { number: self.number, bytes: fits.then_some(self.line.as_slice()), is_whole }))
    }

    /// Skips the rest of a line; returns whether it ends with a line feed.
    fn skip(&mut self) -> io::Result<bool> {
        loop {
            let chunk = self.file.fill_buf()?;
            let (end, length) = (chunk.iter().position(|byte| *byte == b'\n'), chunk.len());
            self.file.consume(end.map_or(length, |end| end + 1));
            if end.is_some() || length == 0 {
                return Ok(end.is_some());
            }
        }
    }
}

/// Makes an error of reading a file.
fn failed(path: &Utf8Path) -> impl FnOnce(io::Error) -> LogError {
    move |source| LogError::Io { path: path.to_owned(), is_writing: false, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn files_and_new_folders_are_readable_only_for_their_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let old = folder.join("old.jsonl");
        std::fs::write(&old, "old").expect("written");
        std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o644)).expect("a mode");
        let new = folder.join("a/b/new.jsonl");
        for path in [&old, &new] {
            Writer::create(path).expect("a file");
        }
        let mode = |path: &Utf8Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        let modes = [old.as_path(), &new, &folder.join("a/b"), &folder.join("a")].map(mode);
        assert_eq!(modes, [0o600, 0o600, 0o700, 0o700]);
        assert_eq!(std::fs::read_to_string(&old).expect("text"), "");
    }

    #[test]
    fn line_over_the_bound_is_skipped_and_others_are_read() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"one\n").expect("written");
        // A hole in a file reads as zeros and takes no space on the disk.
        file.seek(io::SeekFrom::Current(i64::try_from(LONGEST).expect("small") + 1)).expect("a hole");
        file.write_all(b"\ntwo\nthr").expect("written");
        let mut reader = Reader::open(Utf8Path::from_path(file.path()).expect("UTF-8")).expect("a file");
        let mut next = |number, bytes: Option<&str>, is_whole| {
            let wanted = Read { number, bytes: bytes.map(str::as_bytes), is_whole };
            assert_eq!(reader.next().expect("read"), Some(wanted));
        };
        next(1, Some("one\n"), true);
        next(2, None, true);
        next(3, Some("two\n"), true);
        next(4, Some("thr"), false);
        assert_eq!(reader.next().expect("read"), None);
        assert!(reader.line.capacity() <= 2 << 20);
    }
}
