//! Opens regular files without waiting, and reads them up to a bound. The files come from users or other programs.
//!
//! Takes paths, gives files, bytes or text. A pipe, a socket, a device or a folder is an error. Must not know the
//! purpose of a file.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a regular file for reading. Follows symbolic links.
///
/// # Errors
/// Errors of the system, and [`io::ErrorKind::InvalidInput`] if it is not a regular file.
pub(crate) fn open(path: impl AsRef<Path>) -> io::Result<File> {
    // Opening a pipe waits for a writer, and opening a device may have an effect.
    check(&std::fs::metadata(&path)?)?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // The file may have been replaced since it was checked. Some regular files of `/proc` make a reader wait.
        options.custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY);
    }
    let file = options.open(&path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Reads a whole regular file.
///
/// # Errors
/// As [`open`], and [`io::ErrorKind::FileTooLarge`] if the file has more than `most` bytes.
pub(crate) fn read(path: impl AsRef<Path>, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take((most as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("the file has more than {most} bytes")));
    }
    Ok(bytes)
}

/// Reads a whole regular file as UTF-8.
///
/// # Errors
/// As [`read`], and [`io::ErrorKind::InvalidData`] if the file is not UTF-8.
pub(crate) fn read_text(path: impl AsRef<Path>, most: usize) -> io::Result<String> {
    let text = String::from_utf8(read(path, most)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8"))
}

fn check(metadata: &Metadata) -> io::Result<()> {
    let why = if metadata.is_file() {
        return Ok(());
    } else if metadata.is_dir() {
        "this is a folder, not a file"
    } else {
        "this is a pipe, a socket or a device, not a file; copy its content to a file first"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_up_to_the_bound_are_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (file, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
        std::fs::write(&file, "four").expect("written");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo");
        assert!(made.success());
        assert_eq!(read(&file, 4).expect("a file"), b"four");
        assert_eq!(read(&file, 3).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
        for other in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            assert_eq!(read(other, 4).expect_err("no file").kind(), io::ErrorKind::InvalidInput, "{other:?}");
        }
        std::fs::write(&file, b"\xff").expect("written");
        assert_eq!(read_text(&file, 4).expect_err("no text").kind(), io::ErrorKind::InvalidData);
    }
}
