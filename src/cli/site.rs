//! The report of the kind `site`: a static site from any number of run logs.
//!
//! Takes the paths of run logs, of which it keeps only some in memory at once, and writes a folder. Must not know the pages.
//!
//! The site is written beside its folder, and takes the place of the earlier one when it is whole. A folder is replaced
//! only if the list in it names each of its files, so that no file of others is deleted.

use std::collections::HashSet;
use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::base::exit::Exit;
use super::base::outputs;
use super::base::problem::Problem;
use super::base::results::named;
use crate::file;
use crate::model::bound::keep_values;
use crate::model::case::Library;
use crate::model::record::Record;
use crate::model::text::count;
use crate::report::pairs::{self, Pairs};
use crate::report::site::{PAIRS, Site, groups};
use crate::report::terminal::eprint_line;
use crate::report::{Source, Status};
use crate::run::{LogError, read_header, read_shortened};

/// The list of the files of a site, which also shows that a folder is one.
const LIST: &str = "casebook-site.txt";
/// The first line of the list.
const FIRST: &str = "casebook site 1: the files of this folder; `casebook report` replaces them";
/// The length of a list that is read, in bytes.
const LONGEST: usize = 256 << 20;

/// Writes a site to a folder that is new, empty or an earlier site.
pub(super) fn write(to: &Utf8Path, run_logs: &[&Utf8Path], library: &Library) -> Result<Exit, Problem> {
    let out = folder(to)?;
    let (mut paths, mut headers, mut exit) = (Vec::new(), Vec::new(), Exit::Fine);
    let mut refuse = |problem: Problem| {
        eprint_line(&problem.text);
        exit = exit.max(problem.exit);
    };
    let mut of_pairs = Vec::new();
    for path in run_logs {
        match read_header(path) {
            // The pairs have a page of their own.
            Ok(header) if header.about.iter().any(|about| about.pair.is_some()) => of_pairs.push(path),
            Ok(header) => {
                paths.push(path);
                headers.push(header);
            }
            Err(error) => refuse(error.into()),
        }
    }
    let mut pair_sources = Vec::new();
    for path in of_pairs {
        match source(path) {
            Ok(source) => pair_sources.push(source),
            Err(error) => refuse(error.into()),
        }
    }
    if paths.is_empty() && pair_sources.is_empty() {
        return Err(Problem::new(Exit::Usage, "cannot read any of the run logs; no site was written"));
    }
    let unsaved = |error: io::Error| Problem::unsaved(&out, &error);
    let mut files = Files::new(&out).map_err(unsaved)?;
    let pairs = (!pair_sources.is_empty()).then(|| outputs::pairs(&pair_sources, library));
    drop(pair_sources);
    let mut site = Site::new(library, &headers).with_pairs(pairs.as_ref().map(Pairs::overall));
    if let Some(pairs) = &pairs {
        files.put(PAIRS, &pairs::html::page(pairs)).map_err(unsaved)?;
    }
    for group in groups(&headers) {
        let mut sources = Vec::new();
        for at in group {
            match source(paths[at]) {
                Ok(source) => sources.push(source),
                Err(error) => refuse(error.into()),
            }
        }
        site.add(sources, outputs::evidence, &mut |path, text| files.put(path, text)).map_err(unsaved)?;
    }
    let summary = site.finish(&mut |path, text| files.put(path, text)).map_err(unsaved)?;
    let written = files.written.len();
    files.publish().map_err(unsaved)?;
    eprint_line(&format!(
        "report: {to}: {} of {} in {}; agreement: {} of {} capabilities",
        count(written, "file"),
        count(summary.versions, "version"),
        count(summary.targets, "target"),
        summary.agreement.held,
        summary.agreement.asked
    ));
    Ok(exit)
}

/// Reads a run log without the parts that no page shows.
fn source(path: &Utf8Path) -> Result<Source, LogError> {
    let shorten = |record: &mut Record| {
        record.attempts = Vec::new();
        if Status::of(record) == Status::Passed {
            keep_values(record);
        }
    };
    let (log, cut) = read_shortened(path, shorten)?;
    Ok(named(path, log, cut))
}

/// Returns the folder of the site: one that does not exist, is empty, or has only files of an earlier site.
fn folder(out: &Utf8Path) -> Result<Utf8PathBuf, Problem> {
    let refused = |reason: &str| {
        Problem::new(
            Exit::Usage,
            format!("cannot write a site to {out}: {reason}; choose a folder that is new, empty or an earlier site"),
        )
    };
    match out.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = out.file_name().ok_or_else(|| refused("it has no name"))?;
            let parent = out.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
            fs::create_dir_all(parent).map_err(|error| Problem::unsaved(parent, &error))?;
            Ok(parent.join(name))
        }
        Err(error) => Err(Problem::unsaved(out, &error)),
        Ok(_) => {
            // The folder itself is replaced, and not a link to it.
            let out = out.canonicalize_utf8().map_err(|error| Problem::unsaved(out, &error))?;
            if !out.is_dir() {
                return Err(refused("it is not a folder"));
            }
            match foreign(&out).map_err(|error| Problem::unsaved(&out, &error))? {
                None => Ok(out),
                Some(name) => Err(refused(&format!("`{name}` is not a file of an earlier site"))),
            }
        }
    }
}

/// Returns the first file that is not a file of an earlier site.
fn foreign(folder: &Utf8Path) -> io::Result<Option<String>> {
    let mut own = HashSet::new();
    let list = folder.join(LIST);
    if list.symlink_metadata().is_ok_and(|there| there.is_file()) {
        let text = String::from_utf8_lossy(&file::read(&list, LONGEST)?).into_owned();
        let mut lines = text.lines();
        if lines.next() == Some(FIRST) {
            own.extend(lines.map(str::to_owned));
            own.insert(LIST.to_owned());
        }
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in next.read_dir_utf8()? {
            let entry = entry?;
            let path = entry.path().strip_prefix(folder).expect("it is below").as_str().replace('\\', "/");
            // A symbolic link is neither a folder nor a file here.
            match entry.file_type()? {
                kind if kind.is_dir() => {
                    // An earlier site has no empty folder.
                    if fs::read_dir(entry.path())?.next().is_none() {
                        return Ok(Some(path));
                    }
                    folders.push(entry.path().to_owned());
                }
                kind if kind.is_file() && own.contains(&path) => {}
                _ => return Ok(Some(path)),
            }
        }
    }
    Ok(None)
}

/// The files of a new site, in a folder beside its own until all are written.
struct Files {
    out: Utf8PathBuf,
    /// Removed with everything in it when this is dropped.
    beside: TempDir,
    new: Utf8PathBuf,
    written: Vec<String>,
    folders: HashSet<Utf8PathBuf>,
}

impl Files {
    fn new(out: &Utf8Path) -> io::Result<Self> {
        let parent = out.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        let beside = tempfile::Builder::new().prefix(".casebook-site-").tempdir_in(parent)?;
        let path = Utf8PathBuf::try_from(beside.path().to_owned()).map_err(camino::FromPathBufError::into_io_error)?;
        let new = path.join("new");
        fs::create_dir(&new)?;
        Ok(Self { out: out.to_owned(), beside, new, written: Vec::new(), folders: HashSet::new() })
    }

    fn put(&mut self, path: &str, text: &str) -> io::Result<()> {
        let file = self.new.join(path);
        if let Some(folder) = file.parent()
            && !self.folders.contains(folder)
        {
            fs::create_dir_all(folder)?;
            self.folders.insert(folder.to_owned());
        }
        fs::write(file, text)?;
        self.written.push(path.to_owned());
        Ok(())
    }

    /// Puts the new site in the place of the earlier one.
    fn publish(mut self) -> io::Result<()> {
        self.written.sort();
        self.written.dedup();
        fs::write(self.new.join(LIST), format!("{FIRST}\n{}\n", self.written.join("\n")))?;
        let old = self.new.with_file_name("old");
        match fs::rename(&self.out, &old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            moved => {
                fs::rename(&self.new, &self.out).inspect_err(|_| {
                    if moved.is_ok() {
                        _ = fs::rename(&old, &self.out);
                    }
                })?;
            }
        }
        self.beside.close()
    }
}
