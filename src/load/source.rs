//! The sources of cases: the binary, a folder, one file of a folder, or memory.
//!
//! Takes sources, gives the text of each file and the kind that follows from its path. Must not know what the files
//! contain.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::load::text::bundle::{Bundle, bundle};
use crate::load::text::diagnostic::{Diagnostic, File, Lint};
use crate::load::text::read::Reader;
use crate::model::{CaseId, is_id};

/// The cases that this program was built with. `build.rs` rebuilds the program when one of them changes.
static EMBEDDED: Bundle = bundle!("cases");

/// The largest file that is read, in bytes.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// The folder beside the folders of cases in which editors find the JSON Schemas. It holds no cases.
const SCHEMAS: &str = "schemas";
const REQUIREMENTS: &str = "requirements.json";
/// The file beside the folders of cases that has the questions of readers.
const CAPABILITIES: &str = "capabilities.json";
/// The file beside the folders of cases that names the sentences which no requirement quotes.
const EXCLUSIONS: &str = "exclusions.json";

/// The help for a path that holds no cases.
const EXPECTED: &str = "expected a folder that holds folders of cases, as in `cases`; one of these folders, as in \
`cases/tools`; or one case file, as in `cases/tools/list.json`";

/// A place that cases are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The cases that this program was built with.
    Embedded,
    /// A folder with `NAME/*.json` and a `requirements.json` in each `NAME`; or one such `NAME`, or one file in it.
    ///
    /// A part of a folder is read together with the `requirements.json` of all of it, whose requirements it may check.
    Folder(Utf8PathBuf),
    /// The texts of the files of such a folder, by path.
    Texts(Vec<(Utf8PathBuf, String)>),
}

/// The text of a file, and its kind.
pub(super) struct Text {
    pub(super) kind: Kind,
    /// `true` if the file was read only for requirements that other files check. Its mistakes are not reported.
    pub(super) is_context: bool,
    file: Arc<File>,
}

/// The kind of a file, by its path.
pub(super) enum Kind {
    /// `<folder>/requirements.json`.
    Requirements(String),
    /// `<folder>/<file>.json`.
    Case(CaseId),
    /// `capabilities.json`.
    Capabilities,
    /// `exclusions.json`.
    Exclusions,
    /// `<folder>/mutants.json`.
    Mutants(String),
}

impl Kind {
    /// The folder, for a file of requirements.
    pub(super) fn requirements(&self) -> Option<&str> {
        match self {
            Self::Requirements(folder) => Some(folder),
            Self::Case(_) | Self::Capabilities | Self::Exclusions | Self::Mutants(_) => None,
        }
    }

    /// The id, for a case file.
    pub(super) fn case(&self) -> Option<&CaseId> {
        match self {
            Self::Case(id) => Some(id),
            Self::Requirements(_) | Self::Capabilities | Self::Exclusions | Self::Mutants(_) => None,
        }
    }
}

impl Text {
    pub(super) fn reader(&self) -> Reader {
        Reader::new(Arc::clone(&self.file))
    }

    /// The text as it was written.
    pub(super) fn as_str(&self) -> &str {
        self.file.inner()
    }
}

/// The JSON Schemas of case files and of files of requirements, by file name, for editors.
pub fn schemas() -> impl Iterator<Item = (&'static str, &'static str)> {
    let schema = |(path, bytes): (&'static str, &'static [u8])| {
        let name = path.strip_prefix(SCHEMAS)?.strip_prefix('/')?;
        Some((name, std::str::from_utf8(bytes).ok()?))
    };
    EMBEDDED.files().filter_map(schema)
}

/// Returns whether the embedded cases have requirements in a folder of this name.
pub fn is_embedded_folder(folder: &str) -> bool {
    EMBEDDED.paths().any(|path| path.strip_suffix(REQUIREMENTS).and_then(|path| path.strip_suffix('/')) == Some(folder))
}

/// A hash of the files' paths below their roots, and of their texts. Other files than cases and requirements leave it as it is.
pub(super) fn hash(texts: &[Text]) -> String {
    let place = |kind: &Kind| match kind {
        Kind::Requirements(folder) => format!("{folder}/requirements"),
        Kind::Case(id) => id.to_string(),
        Kind::Capabilities => CAPABILITIES.to_owned(),
        Kind::Exclusions => EXCLUSIONS.to_owned(),
        Kind::Mutants(folder) => format!("{folder}/mutants"),
    };
    let is_asked = |kind: &Kind| matches!(kind, Kind::Requirements(_) | Kind::Case(_));
    let asked = texts.iter().filter(|text| is_asked(&text.kind));
    let files: Vec<_> = asked.map(|text| (place(&text.kind), text.file.inner())).collect();
    crate::model::hash(&files)
}

/// The texts of all sources, source by source, sorted by path. A file that two sources have in common is read once.
pub(super) fn texts(sources: &[Source], found: &mut Vec<Diagnostic>) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    let mut known: BTreeMap<Utf8PathBuf, usize> = BTreeMap::new();
    for source in sources {
        let (root, mut files) = match source {
            Source::Embedded => ("cases".into(), embedded()),
            Source::Folder(path) => folder(path, found),
            Source::Texts(texts) => {
                let file = |(path, text): &(Utf8PathBuf, String)| Found::new(path.clone(), text.clone().into_bytes());
                ("imported".into(), texts.iter().map(file).collect())
            }
        };
        files.sort_by(|one, other| one.path.cmp(&other.path));
        for Found { path, bytes, is_context } in files {
            let is_on_disk = matches!(source, Source::Folder(_));
            let real = is_on_disk.then(|| root.join(&path).canonicalize_utf8().ok()).flatten();
            if let Some(place) = real.as_ref().and_then(|real| known.get(real)) {
                texts[*place].is_context &= is_context;
                continue;
            }
            match text(&root, &path, bytes, is_context) {
                Ok(text) => {
                    known.extend(real.map(|real| (real, texts.len())));
                    texts.push(text);
                }
                Err(diagnostic) if !is_context => found.push(*diagnostic),
                Err(_) => {}
            }
        }
    }
    texts
}

/// A file of a source, by its path below the root.
struct Found {
    path: Utf8PathBuf,
    bytes: Vec<u8>,
    is_context: bool,
}

impl Found {
    fn new(path: Utf8PathBuf, bytes: Vec<u8>) -> Self {
        Self { path, bytes, is_context: false }
    }
}

fn embedded() -> Vec<Found> {
    let wanted = EMBEDDED.files().filter(|(path, _)| is_wanted(Utf8Path::new(path)));
    wanted.map(|(path, bytes)| Found::new(path.into(), bytes.to_vec())).collect()
}

/// The files that a path leads to, and the root that they lie in.
fn folder(path: &Utf8Path, found: &mut Vec<Diagnostic>) -> (Utf8PathBuf, Vec<Found>) {
    let mut files = Vec::new();
    let (root, part) = match part(path) {
        Ok(found) => found,
        Err(error) => {
            found.push(unreadable(path, &error).help(EXPECTED));
            return (path.to_owned(), files);
        }
    };
    let read = match &part {
        Part::Whole => folder_files(&root, Utf8Path::new(""), &mut files, found),
        Part::Folder(name) => folder_files(&root, Utf8Path::new(name), &mut files, found),
        Part::File(below) => file(&root, below.clone(), &mut files),
    };
    let context = match part {
        Part::Whole => Ok(()),
        Part::Folder(_) | Part::File(_) => requirements(&root, &mut files),
    };
    found.extend(read.and(context).err().map(|diagnostic| *diagnostic));
    (root, files)
}

/// The folder of folders of cases that a path leads to: the path itself, or the folder above a part that it names.
pub fn root(path: &Utf8Path) -> Utf8PathBuf {
    part(path).map_or_else(|_| path.to_owned(), |(root, _)| root)
}

/// The part of a folder of cases that a path names.
enum Part {
    Whole,
    /// One folder of cases, by its name.
    Folder(String),
    /// One file, by its path below the root.
    File(Utf8PathBuf),
}

/// The root that a path leads to, and the part of it.
fn part(path: &Utf8Path) -> io::Result<(Utf8PathBuf, Part)> {
    if path.metadata()?.is_file() {
        let (folder, file) = above(path)?;
        let (root, folder) = above(&folder)?;
        return Ok((root, Part::File(Utf8Path::new(&folder).join(file))));
    }
    let has_cases = |folder: &Utf8Path| {
        let mut entries = folder.read_dir_utf8().into_iter().flatten().flatten();
        entries.any(|entry| is_json(entry.path()) && entry.path().is_file())
    };
    let mut inner = path.read_dir_utf8()?.flatten().filter(|entry| entry.path().is_dir());
    if has_cases(path) && !inner.any(|folder| has_cases(folder.path())) {
        let (root, folder) = above(path)?;
        return Ok((root, Part::Folder(folder)));
    }
    Ok((path.to_owned(), Part::Whole))
}

/// The folder above a path, and the path's last name.
fn above(path: &Utf8Path) -> io::Result<(Utf8PathBuf, String)> {
    let split = |path: &Utf8Path| Some((path.parent()?.to_owned(), path.file_name()?.to_owned()));
    match split(path) {
        Some((parent, name)) if !parent.as_str().is_empty() => Ok((parent, name)),
        Some((_, name)) => Ok((Utf8PathBuf::from("."), name)),
        None => split(&path.canonicalize_utf8()?).ok_or_else(|| io::ErrorKind::InvalidInput.into()),
    }
}

/// Reads the files under `root/below`, without following links. Warns of files with a name that is almost that of a case.
fn folder_files(
    root: &Utf8Path,
    below: &Utf8Path,
    files: &mut Vec<Found>,
    found: &mut Vec<Diagnostic>,
) -> Result<(), Box<Diagnostic>> {
    let folder = if below.as_str().is_empty() { root.to_owned() } else { root.join(below) };
    let refused = |path: &Utf8Path, error: &io::Error| Box::new(unreadable(path, error));
    for entry in folder.read_dir_utf8().map_err(|error| refused(&folder, &error))? {
        let entry = entry.map_err(|error| refused(&folder, &error))?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type().map_err(|error| refused(entry.path(), &error))?;
        if kind.is_dir() && !entry.file_name().starts_with('.') {
            folder_files(root, &path, files, found)?;
        } else if kind.is_file() && is_wanted(&path) {
            file(root, path, files)?;
        } else if kind.is_file() && is_almost_json(&path) {
            let unread = refuse(entry.path(), Lint::UnreadFile, "the file is not read");
            found.push(unread.help("rename it: the name of a case file ends in `.json`"));
        }
    }
    Ok(())
}

fn file(root: &Utf8Path, below: Utf8PathBuf, files: &mut Vec<Found>) -> Result<(), Box<Diagnostic>> {
    let path = root.join(&below);
    let bytes = bytes(&path).map_err(|error| Box::new(unreadable(&path, &error)))?;
    files.push(Found::new(below, bytes));
    Ok(())
}

/// Reads the requirements of all folders, for those that were not read yet.
fn requirements(root: &Utf8Path, files: &mut Vec<Found>) -> Result<(), Box<Diagnostic>> {
    let folders = root.read_dir_utf8().map_err(|error| Box::new(unreadable(root, &error)))?;
    for folder in folders.flatten() {
        let below = Utf8Path::new(folder.file_name()).join(REQUIREMENTS);
        let is_new = files.iter().all(|file| file.path != below);
        if is_new && is_wanted(&below) && root.join(&below).is_file() {
            let bytes = bytes(&root.join(&below)).unwrap_or_default();
            files.push(Found { is_context: true, ..Found::new(below, bytes) });
        }
    }
    Ok(())
}

/// The bytes of a file; at most one more than [`MOST_BYTES`], by which a larger file is recognized.
pub(crate) fn bytes(path: &Utf8Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    crate::file::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_json(path: &Utf8Path) -> bool {
    path.extension() == Some("json")
}

/// Returns whether a path below the root is that of a case or of requirements: JSON outside of `schemas/`.
fn is_wanted(path: &Utf8Path) -> bool {
    is_json(path) && !path.starts_with(SCHEMAS)
}

/// Returns whether a path would be that of a case with another spelling of its extension.
fn is_almost_json(path: &Utf8Path) -> bool {
    let is_near = |extension: &str| matches!(extension.to_lowercase().as_str(), "json" | "jsonc" | "json5");
    path.components().count() == 2 && !path.starts_with(SCHEMAS) && path.extension().is_some_and(is_near)
}

fn text(root: &Utf8Path, path: &Utf8Path, bytes: Vec<u8>, is_context: bool) -> Result<Text, Box<Diagnostic>> {
    // The file's name in messages and ids has `/` on every system.
    let parts: Vec<&str> = path.components().map(|part| part.as_str()).collect();
    let name = format!("{}/{}", root.as_str().trim_end_matches('/'), parts.join("/"));
    let refuse = |lint, why: &str, help: &str| Err(Box::new(refuse(Utf8Path::new(&name), lint, why).help(help)));
    let (folder, file) = if let [folder, file] = parts[..] {
        (folder, file)
    } else if let [file @ (CAPABILITIES | EXCLUSIONS)] = parts[..] {
        ("cases", file)
    } else {
        let why = "a case file must lie in a folder of cases: `<folder>/<file>.json`";
        return refuse(Lint::Misplaced, why, "move the file, or name the folder above its folder");
    };
    let Some(stem) = file.strip_suffix(".json") else {
        return refuse(Lint::Misplaced, "the file is not a case file: its name does not end in `.json`", EXPECTED);
    };
    let kind = match stem {
        _ if parts == [EXCLUSIONS] => Kind::Exclusions,
        _ if parts.len() == 1 => Kind::Capabilities,
        "requirements" => Kind::Requirements(folder.to_owned()),
        "mutants" => Kind::Mutants(folder.to_owned()),
        _ => Kind::Case(CaseId::new(folder, stem)),
    };
    if bytes.len() > MOST_BYTES {
        let help = "write large values with a generator, such as `{\"@text\": {\"of\": \"a\", \"length\": 100000}}`";
        return refuse(Lint::TooLarge, "the file has more than 1 MiB", help);
    }
    let encoding = match bytes.as_slice() {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        [b'{', 0, ..] | [0, b'{', ..] => Some("UTF-16 without a byte-order mark"),
        _ => None,
    };
    let text = match (encoding, String::from_utf8(bytes)) {
        (None, Ok(text)) => text,
        (encoding, _) => {
            let is = encoding.map(|encoding| format!(": it looks like {encoding}")).unwrap_or_default();
            return refuse(Lint::Syntax, &format!("the file is not UTF-8{is}"), "save the file as UTF-8");
        }
    };
    let text = Text { kind, is_context, file: Arc::new(File::new(&name, text)) };
    match [folder, stem].into_iter().find(|part| !is_id(part)) {
        None => Ok(text),
        Some(part) => {
            let why = format!("`{part}` cannot be part of a test's name");
            let help = "name the folder and the file in kebab-case: small letters and digits, with single `-` between \
                        them, at most 60 characters";
            refuse(Lint::IdStyle, &why, help)
        }
    }
}

/// The diagnostic for a file or folder that cannot be read.
pub(crate) fn unreadable(path: &Utf8Path, error: &io::Error) -> Diagnostic {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        kind => kind.to_string(),
    };
    refuse(path, Lint::Unreadable, &format!("cannot read this path: {reason}")).caused_by(error)
}

/// The diagnostic for a path of which no line can be shown.
pub(crate) fn refuse(path: &Utf8Path, lint: Lint, why: &str) -> Diagnostic {
    Diagnostic::new(lint, &Arc::new(File::new(path.as_str(), String::new())), why)
}

/// The diagnostic for a folder without any case.
pub(super) fn empty(path: &Utf8Path) -> Diagnostic {
    refuse(path, Lint::Misplaced, "there is no case file in this folder").help(EXPECTED)
}
