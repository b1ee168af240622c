//! The places of cases: inside of the binary, in a folder, or in memory.
//!
//! Takes sources, gives the texts of their files with what each is by its path. Must not know what is in them.

use std::io::Read as _;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use include_dir::{Dir, include_dir};

use super::diagnostic::{Diagnostic, File, Lint};
use super::read::Reader;
use crate::model::{CaseId, is_id};

/// The cases that this program was built with. `build.rs` makes a changed case change the program.
static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/cases");

/// The most that is read of a file.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// Where cases come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The cases that this program was built with.
    Embedded,
    /// `<folder>/<folder of cases>/*.json`, each folder with a `requirements.json`.
    Folder(Utf8PathBuf),
    /// The texts of the files of such a folder, by path.
    Texts(Vec<(Utf8PathBuf, String)>),
}

/// The text of a file, and what it is.
pub(super) struct Text {
    pub(super) kind: Kind,
    file: Arc<File>,
}

/// What a file is, by its place.
pub(super) enum Kind {
    /// `<folder>/requirements.json`.
    Requirements(String),
    /// `<folder>/<file>.json`.
    Case(CaseId),
}

impl Kind {
    pub(super) fn requirements(&self) -> Option<&str> {
        match self {
            Self::Requirements(folder) => Some(folder),
            Self::Case(_) => None,
        }
    }

    pub(super) fn case(&self) -> Option<&CaseId> {
        match self {
            Self::Case(id) => Some(id),
            Self::Requirements(_) => None,
        }
    }
}

impl Text {
    pub(super) fn reader(&self) -> Reader {
        Reader::new(Arc::clone(&self.file))
    }
}

/// A hash of what the files say, wherever they lie.
pub(super) fn hash(texts: &[Text]) -> String {
    let place = |kind: &Kind| match kind {
        Kind::Requirements(folder) => format!("{folder}/requirements"),
        Kind::Case(id) => id.to_string(),
    };
    let files: Vec<_> = texts.iter().map(|Text { kind, file }| (place(kind), file.inner())).collect();
    crate::model::hash(&files)
}

/// The texts of all sources, source by source, sorted by path.
pub(super) fn texts(sources: &[Source], found: &mut Vec<Diagnostic>) -> Vec<Text> {
    let mut texts = Vec::new();
    for source in sources {
        let (root, mut files) = match source {
            Source::Embedded => (Utf8Path::new("cases"), embedded(&EMBEDDED)),
            Source::Folder(folder) => (folder.as_path(), Vec::new()),
            Source::Texts(texts) => {
                let files = texts.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes()));
                (Utf8Path::new("imported"), files.collect())
            }
        };
        if let Source::Folder(folder) = source
            && let Err(diagnostic) = folder_files(folder, Utf8Path::new(""), &mut files)
        {
            found.push(*diagnostic);
        }
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (path, bytes) in files {
            match text(root, &path, bytes) {
                Ok(text) => texts.push(text),
                Err(diagnostic) => found.push(*diagnostic),
            }
        }
    }
    texts
}

type Files = Vec<(Utf8PathBuf, Vec<u8>)>;

fn embedded(dir: &Dir<'_>) -> Files {
    let files = dir.files().filter_map(|file| {
        let path = Utf8Path::from_path(file.path()).filter(|path| is_wanted(path))?;
        Some((path.to_owned(), file.contents().to_vec()))
    });
    files.chain(dir.dirs().flat_map(embedded)).collect()
}

/// Reads what lies under `root/below`; links are not followed.
fn folder_files(root: &Utf8Path, below: &Utf8Path, files: &mut Files) -> Result<(), Box<Diagnostic>> {
    let folder = if below.as_str().is_empty() { root.to_owned() } else { root.join(below) };
    let unreadable = |path: &Utf8Path, error: &std::io::Error| {
        Box::new(refuse(path, Lint::Unreadable, &format!("can't be read: {}", error.kind())))
    };
    for entry in folder.read_dir_utf8().map_err(|error| unreadable(&folder, &error))? {
        let entry = entry.map_err(|error| unreadable(&folder, &error))?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type().map_err(|error| unreadable(entry.path(), &error))?;
        if kind.is_dir() && !entry.file_name().starts_with('.') {
            folder_files(root, &path, files)?;
        } else if kind.is_file() && is_wanted(&path) {
            files.push((path, bytes(entry.path()).map_err(|error| unreadable(entry.path(), &error))?));
        }
    }
    Ok(())
}

/// One byte more than we take, so that the file is known to be too large.
pub(crate) fn bytes(path: &Utf8Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    crate::file::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// JSON outside of `schemas/`.
fn is_wanted(path: &Utf8Path) -> bool {
    path.extension() == Some("json") && !path.starts_with("schemas")
}

fn text(root: &Utf8Path, path: &Utf8Path, bytes: Vec<u8>) -> Result<Text, Box<Diagnostic>> {
    // The file's name in messages and ids has `/` on every system.
    let parts: Vec<&str> = path.components().map(|part| part.as_str()).collect();
    let name = format!("{}/{}", root.as_str().trim_end_matches('/'), parts.join("/"));
    let refuse = |lint, why: &str| Err(Box::new(refuse(Utf8Path::new(&name), lint, why)));
    let [folder, file] = parts[..] else {
        return refuse(Lint::Misplaced, "a case lies in a folder of cases: `<folder>/<file>.json`");
    };
    let stem = file.trim_end_matches(".json");
    let kind = match stem {
        "requirements" => Kind::Requirements(folder.to_owned()),
        _ => Kind::Case(CaseId::new(folder, stem)),
    };
    if bytes.len() > MOST_BYTES {
        return refuse(Lint::TooLarge, "the file has more than 1 MiB; large values are written with generators");
    }
    let Ok(text) = String::from_utf8(bytes) else { return refuse(Lint::Syntax, "the file is not UTF-8") };
    let text = Text { kind, file: Arc::new(File::new(&name, text)) };
    if [folder, stem].iter().all(|part| is_id(part)) {
        Ok(text)
    } else {
        refuse(Lint::IdStyle, "folder and file are kebab-case: small letters and digits, with single `-` between them")
    }
}

pub(crate) fn refuse(path: &Utf8Path, lint: Lint, why: &str) -> Diagnostic {
    Diagnostic::new(lint, &Arc::new(File::new(path.as_str(), String::new())), why)
}
