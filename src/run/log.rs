//! `run.jsonl`: a header, a line a test, a footer; beside it `run.wire.jsonl`, a transcript a line.
//!
//! Each line is flushed as it is written, so that a run that is killed leaves whole lines and at most one torn one.
//! The reader takes such a log as partial; it shows what is there and never more.

use std::fs::File;
use std::io::{BufWriter, Write};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::model::nesting;
use crate::model::record::{FORMAT, Footer, Header, Line, Record, Transcript};

/// How many bytes of a message are kept beside the log.
const MESSAGE: usize = 32 * 1024;

/// Why a log can't be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system says no.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: Utf8PathBuf,
        /// What it says.
        source: std::io::Error,
    },
    /// The first line is no header.
    #[error("{path} is no record of a run: its first line is no header")]
    NoHeader {
        /// Which file.
        path: Utf8PathBuf,
    },
    /// A later version wrote it.
    #[error("{path} is a record of format {format}; this version reads up to {FORMAT}, a newer casebook reads it")]
    Newer {
        /// Which file.
        path: Utf8PathBuf,
        /// The format that it says it has.
        format: u32,
    },
    /// The last line has no end: whoever wrote it was stopped.
    #[error("{path} is cut in the middle of line {line}")]
    Torn {
        /// Which file.
        path: Utf8PathBuf,
        /// Which line, counted from 1.
        line: usize,
    },
    /// A line in the middle can't be read.
    #[error("{path}:{line}: {reason}")]
    Line {
        /// Which file.
        path: Utf8PathBuf,
        /// Which line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// Where the transcripts of a log are: `run.wire.jsonl` beside `run.jsonl`.
pub fn wire_path(log: &Utf8Path) -> Utf8PathBuf {
    log.with_extension("wire.jsonl")
}

/// A log that is being written.
#[derive(Debug)]
pub struct Log {
    records: Lines,
    wire: Lines,
}

impl Log {
    /// Begins a log, and the file for its transcripts; older ones are overwritten.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn create(path: &Utf8Path, header: Header) -> Result<Self, LogError> {
        let mut log = Self { records: Lines::create(path)?, wire: Lines::create(&wire_path(path))? };
        log.records.write(&Line::Header(header))?;
        Ok(log)
    }

    /// Writes what became of one test; the transcript first, so that every record has its own.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn append(&mut self, record: &Record, transcript: &Transcript) -> Result<(), LogError> {
        self.wire.write(&shortened(transcript))?;
        self.records.write(&Line::Record(Box::new(record.clone())))
    }

    /// Writes how the run ended.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn finish(mut self, footer: Footer) -> Result<(), LogError> {
        self.records.write(&Line::Footer(footer))
    }
}

/// A file of JSON lines.
#[derive(Debug)]
struct Lines {
    path: Utf8PathBuf,
    file: BufWriter<File>,
}

impl Lines {
    fn create(path: &Utf8Path) -> Result<Self, LogError> {
        let folder = path.parent().filter(|folder| !folder.as_str().is_empty());
        folder.map_or(Ok(()), std::fs::create_dir_all).map_err(io(path))?;
        let file = File::create(path).map_err(io(path))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), LogError> {
        let mut bytes = serde_json::to_vec(line).expect("every line of a log is JSON");
        bytes.push(b'\n');
        self.file.write_all(&bytes).and_then(|()| self.file.flush()).map_err(io(&self.path))
    }
}

fn io(path: &Utf8Path) -> impl FnOnce(std::io::Error) -> LogError {
    move |source| LogError::Io { path: path.to_owned(), source }
}

/// The transcript with long messages cut.
fn shortened(transcript: &Transcript) -> Transcript {
    let mut short = transcript.clone();
    let messages = short.steps.iter_mut().flat_map(|step| &mut step.messages);
    for message in short.opening.iter_mut().chain(messages).filter(|message| message.text.len() > MESSAGE) {
        message.cut_from.get_or_insert(message.text.len() as u64);
        cut(&mut message.text);
    }
    short.steps.iter_mut().filter_map(|step| step.handed.as_mut()).for_each(cut);
    short
}

fn cut(text: &mut String) {
    let end = (0..=MESSAGE.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
}

/// A log that was read.
#[derive(Debug)]
pub struct RunLog {
    /// What was to be run.
    pub header: Header,
    /// What became of the tests, in the order of the plan.
    pub records: Vec<Record>,
    /// How it ended; `None` where the log was cut short.
    pub footer: Option<Footer>,
}

impl RunLog {
    /// Whether tests that were planned are missing.
    pub fn is_partial(&self) -> bool {
        self.footer.as_ref().is_none_or(|footer| footer.interrupted) || self.records.len() < self.header.planned
    }
}

/// Reads a log, also one that was cut short.
///
/// # Errors
/// [`LogError`] where there is no log, a newer one, or a broken line that isn't the last.
pub fn read_log(path: &Utf8Path) -> Result<RunLog, LogError> {
    match read_what_is_there(path)? {
        (mut log, None | Some(LogError::Torn { .. })) => {
            log.records.dedup_by_key(|record| record.index);
            Ok(log)
        }
        (_, Some(error)) => Err(error),
    }
}

/// Reads a log up to where it can't be read, and says why not further.
///
/// # Errors
/// [`LogError`] where there is no log, or a newer one.
pub fn read_what_is_there(path: &Utf8Path) -> Result<(RunLog, Option<LogError>), LogError> {
    let bytes = std::fs::read(path).map_err(io(path))?;
    let mut lines = lines(&bytes);
    let header = header(path, lines.next().map_or(b"".as_slice(), |(_, line, _)| line))?;
    let mut log = RunLog { header, records: Vec::new(), footer: None };
    let mut end = None;
    for (number, line, whole) in lines {
        match nesting::read(line) {
            Ok(Line::Record(record)) => log.records.push(*record),
            Ok(Line::Footer(footer)) => log.footer = Some(footer),
            Ok(Line::Header(_)) => end = Some(broken(path, number, "a second header")),
            Err(error) if whole => end = Some(broken(path, number, &error.to_string())),
            Err(_) => end = Some(LogError::Torn { path: path.to_owned(), line: number }),
        }
        if end.is_some() {
            break;
        }
    }
    log.records.sort_by_key(|record| record.index);
    Ok((log, end))
}

/// Reads the transcripts beside a log; a torn last one is left out.
///
/// # Errors
/// [`LogError`] where the file isn't there, or a line that isn't the last is broken.
pub fn read_wire(log: &Utf8Path) -> Result<Vec<Transcript>, LogError> {
    let path = wire_path(log);
    let bytes = std::fs::read(&path).map_err(io(&path))?;
    let mut transcripts = Vec::new();
    for (number, line, whole) in lines(&bytes) {
        match nesting::read(line) {
            Ok(transcript) => transcripts.push(transcript),
            Err(error) if whole => return Err(broken(&path, number, &error.to_string())),
            Err(_) => break,
        }
    }
    Ok(transcripts)
}

/// Each line with its number, and whether its end was written.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8], bool)> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
    lines.map(|(index, line)| (index + 1, line, line.ends_with(b"\n")))
}

fn header(path: &Utf8Path, line: &[u8]) -> Result<Header, LogError> {
    /// As much of a header as every format has.
    #[derive(Deserialize)]
    struct Probe {
        header: Format,
    }
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let no_header = || LogError::NoHeader { path: path.to_owned() };
    let Probe { header: Format { format } } = nesting::read(line).map_err(|_| no_header())?;
    if format > FORMAT {
        return Err(LogError::Newer { path: path.to_owned(), format });
    }
    match nesting::read(line) {
        Ok(Line::Header(header)) => Ok(header),
        _ => Err(no_header()),
    }
}

fn broken(path: &Utf8Path, line: usize, reason: &str) -> LogError {
    LogError::Line { path: path.to_owned(), line, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{observe, samples};
    use crate::model::case::{Outcome, Then};
    use crate::model::record::Observation;
    use serde_json::Value;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join("deep/run.jsonl")).expect("UTF-8");
        (folder, path)
    }

    fn header() -> Header {
        Header {
            format: FORMAT,
            casebook: "0".into(),
            targets: vec![samples::target()],
            planned: 2,
            ..Header::default()
        }
    }

    fn footer() -> Footer {
        Footer { ran: 2, interrupted: false, stale: Vec::new(), micros: 1 }
    }

    #[test]
    fn what_was_written_is_read_in_the_order_of_the_plan() {
        let (_folder, path) = folder();
        let mut log = Log::create(&path, header()).expect("a log");
        let transcript = samples::transcript(vec![samples::replied(&["é".repeat(MESSAGE).as_str()])]);
        let records: Vec<_> =
            (0..2).map(|index| samples::record(index, "f/c/t@2026-07-28+http", Outcome::Success)).collect();
        for record in records.iter().rev() {
            log.append(record, &transcript).expect("written");
        }
        log.finish(footer()).expect("written");
        let read = read_log(&path).expect("a log");
        assert_eq!((read.records.as_slice(), read.footer.as_ref()), (records.as_slice(), Some(&footer())));
        assert!(!read.is_partial());
        let wire = read_wire(&path).expect("transcripts");
        let message = &wire[0].steps[0].messages[0];
        assert_eq!((wire.len(), message.text.len(), message.cut_from), (2, MESSAGE, Some(2 * MESSAGE as u64)));
    }

    #[test]
    fn a_torn_last_line_makes_a_log_partial_and_a_broken_one_before_it_is_an_error() {
        let (_folder, path) = folder();
        let mut log = Log::create(&path, header()).expect("a log");
        let record = samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success);
        log.append(&record, &samples::transcript(vec![])).expect("written");
        drop(log);
        let whole = std::fs::read_to_string(&path).expect("text");
        std::fs::write(&path, format!("{whole}{{\"record\":{{\"ind")).expect("written");
        let read = read_log(&path).expect("a log");
        assert!(read.is_partial() && read.records.len() == 1);
        std::fs::write(&path, format!("{whole}oops\n{whole}")).expect("written");
        assert!(matches!(read_log(&path), Err(LogError::Line { line: 3, .. })));
    }

    #[test]
    fn the_deepest_value_that_an_observation_keeps_is_read_again() {
        let (_folder, path) = folder();
        let test = samples::test(&[], vec![(samples::call("t"), Then::Observe)]);
        let seen = |levels: usize| {
            let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            let reply = format!(r#"{{"id":1,"result":{{"content":[],"structuredContent":{deep}}}}}"#);
            observe(&test, &samples::transcript(vec![samples::replied(&[&reply])]))
        };
        let is_kept = |seen: &Observation| seen.steps[0].structured.as_ref().is_some_and(Value::is_array);
        let observation = (1..=nesting::LIMIT).rev().map(seen).find(is_kept).expect("a value that is kept");
        let record = Record { observation, ..samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success) };
        let mut log = Log::create(&path, header()).expect("a log");
        log.append(&record, &samples::transcript(vec![])).expect("written");
        assert_eq!(read_log(&path).expect("a log").records, [record]);
    }

    #[test]
    fn a_newer_log_says_so_and_what_is_no_log_says_that() {
        let (_folder, path) = folder();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, "{\"header\":{\"format\":99,\"else\":1}}\n").expect("written");
        assert!(matches!(read_log(&path), Err(LogError::Newer { format: 99, .. })));
        for text in [String::new(), "{}".to_owned(), "[".repeat(200_000)] {
            std::fs::write(&path, text).expect("written");
            assert!(matches!(read_log(&path), Err(LogError::NoHeader { .. })));
        }
    }
}
