//! The run log `run.jsonl`, with a header, one record per test and a footer; and beside it `run.wire.jsonl`, with one
//! transcript per test.
//!
//! Takes records and transcripts, writes and reads files. Each line is flushed when it is written, so a run that is
//! killed leaves complete lines and at most one incomplete line. The reader takes such a run log as partial.

use camino::{Utf8Path, Utf8PathBuf};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::lines::{LONGEST, Read, Reader, Writer};
use crate::jsonrpc::nesting;
use crate::model::bound::{brief, length};
use crate::model::record::{FORMAT, Footer, Header, Line, Record};
use crate::model::transcript::Transcript;

/// The most JSON values in a line. A parsed value takes many times the memory of its text.
const VALUES: usize = 1_000_000;
/// The approximate number of bytes of memory that the records of one run log may take.
const MEMORY: usize = 1 << 30;
/// The number of bytes up to which the length of a line stands for the length of its record.
const SHORT: usize = 16 << 10;
/// The approximate number of bytes of memory that a value takes in addition to its text.
const A_VALUE: usize = 64;

/// An error of writing or reading a run log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// An error of the file system.
    #[error("cannot {} {path}: {source}", if *.is_writing { "write" } else { "read" })]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Set if the file was being written.
        is_writing: bool,
        /// The error.
        source: std::io::Error,
    },
    /// Another run writes to the file.
    #[error("another run writes to {path}; choose another file with --run-log")]
    InUse {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The first line is not a header.
    #[error("{path} is not a run log: its first line is not a header")]
    NoHeader {
        /// The file.
        path: Utf8PathBuf,
    },
    /// Another version of casebook wrote the file.
    #[error(
        "{path} is a run log of format {format}, and this version of casebook reads format {FORMAT}; use the version that wrote it, or run the tests again"
    )]
    OtherFormat {
        /// The file.
        path: Utf8PathBuf,
        /// The format in the header.
        format: u32,
    },
    /// The file has more records than are read of one file.
    #[error("{path} has more records than fit into memory; casebook ignores those from line {line} on")]
    TooMuch {
        /// The file.
        path: Utf8PathBuf,
        /// The first line that is not read, counted from 1.
        line: usize,
    },
    /// The last line is incomplete, because the process that wrote it was stopped.
    #[error("{path} is cut in the middle of line {line}")]
    Torn {
        /// The file.
        path: Utf8PathBuf,
        /// The number of the line, counted from 1.
        line: usize,
    },
    /// A complete line cannot be read.
    #[error("{path}:{line}: {reason}")]
    Line {
        /// The file.
        path: Utf8PathBuf,
        /// The number of the line, counted from 1.
        line: usize,
        /// The error.
        reason: String,
    },
}

/// Returns the path of the transcripts of a run log: `run.wire.jsonl` beside `run.jsonl`.
pub fn wire_path(log: &Utf8Path) -> Utf8PathBuf {
    log.with_extension("wire.jsonl")
}

/// A run log that is being written.
#[derive(Debug)]
pub struct Log {
    records: Writer,
    wire: Writer,
}

impl Log {
    /// Creates a run log and the file for its transcripts. Existing files are overwritten.
    ///
    /// # Errors
    /// [`LogError::Io`], or [`LogError::InUse`].
    pub fn create(path: &Utf8Path, header: Header) -> Result<Self, LogError> {
        let mut log = Self { records: Writer::create(path)?, wire: Writer::create(&wire_path(path))? };
        log.records.write(&Line::Header(header))?;
        Ok(log)
    }

    /// Writes one test: its transcript first, so that every record has a transcript. After an error the run log ends with
    /// the test before, and the caller must not append to it.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn append(&mut self, record: &Record, transcript: &Transcript) -> Result<(), LogError> {
        // The record is serialized by reference, because it can be large.
        #[derive(Serialize)]
        struct Entry<'a> {
            record: &'a Record,
        }
        self.wire.write(transcript)?;
        self.records.write(&Entry { record })
    }

    /// Writes the footer.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn finish(mut self, footer: Footer) -> Result<(), LogError> {
        self.records.write(&Line::Footer(footer))
    }
}

/// A run log that was read.
#[derive(Debug)]
pub struct RunLog {
    /// The description of the run.
    pub header: Header,
    /// The records of the tests, in the order of the plan.
    pub records: Vec<Record>,
    /// The end of the run; `None` if the run log is cut.
    pub footer: Option<Footer>,
}

impl RunLog {
    /// Returns whether tests that were planned are missing.
    pub fn is_partial(&self) -> bool {
        self.footer.as_ref().is_none_or(|footer| footer.interrupted) || self.records.len() < self.header.planned
    }
}

/// Reads a run log. The last line may be incomplete.
///
/// # Errors
/// [`LogError`] if there is no run log, if it has another format, or if a complete line cannot be read.
pub fn read_log(path: &Utf8Path) -> Result<RunLog, LogError> {
    match read(path, MEMORY, |_| ())? {
        (mut log, None | Some(LogError::Torn { .. })) => {
            log.records.dedup_by_key(|record| record.index);
            Ok(log)
        }
        (_, Some(error)) => Err(error),
    }
}

/// Reads a run log up to the first line that cannot be read, and returns the error of that line. Keeps only the parts of
/// observations that reports show.
///
/// # Errors
/// [`LogError`] if there is no run log, or if it has another format.
pub fn read_what_is_there(path: &Utf8Path) -> Result<(RunLog, Option<LogError>), LogError> {
    read(path, MEMORY, brief)
}

/// Reads a run log as [`read_what_is_there`] does. `shorten` removes more parts of each record before the next is read.
///
/// # Errors
/// [`LogError`] if there is no run log, or if it has another format.
pub fn read_shortened(path: &Utf8Path, shorten: impl Fn(&mut Record)) -> Result<(RunLog, Option<LogError>), LogError> {
    read(path, MEMORY, |record| {
        brief(record);
        shorten(record);
    })
}

/// Reads the first line of a run log.
///
/// # Errors
/// [`LogError`] if there is no run log, or if it has another format.
pub fn read_header(path: &Utf8Path) -> Result<Header, LogError> {
    let mut lines = Reader::open(path)?;
    header(path, lines.next()?.and_then(|line| line.bytes).unwrap_or_default())
}

/// Reads a run log into at most `memory` bytes. `shorten` removes the parts of each record that are not needed.
fn read(
    path: &Utf8Path,
    mut memory: usize,
    shorten: impl Fn(&mut Record),
) -> Result<(RunLog, Option<LogError>), LogError> {
    let mut lines = Reader::open(path)?;
    let header = header(path, lines.next()?.and_then(|line| line.bytes).unwrap_or_default())?;
    let mut log = RunLog { header, records: Vec::new(), footer: None };
    let mut end = None;
    while let (None, Some(line)) = (&end, lines.next()?) {
        match parsed(path, &line) {
            Ok(Line::Record(mut record)) => {
                shorten(&mut record);
                let text = match line.bytes.map_or(0, <[u8]>::len) {
                    short @ ..=SHORT => short,
                    _ => length(&record),
                };
                let values = line.bytes.map_or(0, nesting::values).min(text);
                match memory.checked_sub(text + values * A_VALUE) {
                    Some(left) => {
                        memory = left;
                        log.records.push(*record);
                    }
                    None => end = Some(LogError::TooMuch { path: path.to_owned(), line: line.number }),
                }
            }
            Ok(Line::Footer(footer)) => log.footer = Some(footer),
            Ok(Line::Header(_)) => end = Some(broken(path, line.number, "a second header")),
            Err(error) => end = Some(error),
        }
    }
    log.records.sort_by_key(|record| record.index);
    Ok((log, end))
}

/// Reads the transcripts beside a run log one after the other, because all together may not fit into memory. Skips an
/// incomplete last line; a line that cannot be read is an error in its place.
///
/// # Errors
/// [`LogError`] if the file cannot be opened.
pub fn read_wire(log: &Utf8Path) -> Result<impl Iterator<Item = Result<Transcript, LogError>> + use<>, LogError> {
    let mut lines = Reader::open(&wire_path(log))?;
    let mut failed = false;
    Ok(std::iter::from_fn(move || {
        let path = lines.path().to_owned();
        match lines.next().transpose().filter(|_| !failed)? {
            Ok(line) => match parsed(&path, &line) {
                Err(LogError::Torn { .. }) => None,
                read => Some(read),
            },
            Err(error) => {
                failed = true;
                Some(Err(error))
            }
        }
    }))
}

fn parsed<T: DeserializeOwned>(path: &Utf8Path, line: &Read<'_>) -> Result<T, LogError> {
    if let Some(values) = line.bytes.map(nesting::values).filter(|values| *values > VALUES) {
        return Err(broken(path, line.number, &format!("{values} values in a line; at most {VALUES} are read")));
    }
    let read = line.bytes.map(nesting::read);
    match read {
        Some(Ok(value)) => Ok(value),
        _ if !line.is_whole => Err(LogError::Torn { path: path.to_owned(), line: line.number }),
        Some(Err(error)) => Err(broken(path, line.number, &error.to_string())),
        None => Err(broken(path, line.number, &format!("more than {LONGEST} bytes in a line"))),
    }
}

fn header(path: &Utf8Path, line: &[u8]) -> Result<Header, LogError> {
    /// The part of a header that every format has.
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
    if format != FORMAT {
        return Err(LogError::OtherFormat { path: path.to_owned(), format });
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
    use crate::fuzz::{self, fuzz};
    use crate::judge::{observe, samples};
    use crate::model::case::{Library, Outcome, Then};
    use crate::model::observation::{Observation, Observed};
    use crate::report::evidence::Evidence;
    use crate::report::markdown::{COMMENT, markdown};
    use crate::report::site::{Site, page};
    use crate::report::{Report, ReportContext, Source, badges, junit};

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
        Footer { ran: 2, micros: 1, ..Footer::default() }
    }

    #[test]
    fn records_are_read_in_the_order_of_the_plan() {
        let (_folder, path) = folder();
        let mut log = Log::create(&path, header()).expect("a log");
        let transcript = samples::transcript(vec![samples::replied(&["é"])]);
        let records: Vec<_> =
            (0..2).map(|index| samples::record(index, "f/c/t@2026-07-28+http", Outcome::Success)).collect();
        for record in records.iter().rev() {
            log.append(record, &transcript).expect("written");
        }
        log.finish(footer()).expect("written");
        let read = read_log(&path).expect("a log");
        assert_eq!((read.records.as_slice(), read.footer.as_ref()), (records.as_slice(), Some(&footer())));
        assert!(!read.is_partial());
        let wire: Vec<_> = read_wire(&path).expect("a file").collect::<Result<_, _>>().expect("transcripts");
        assert_eq!((wire.len(), wire[0].steps[0].messages[0].text.as_str()), (2, "é"));
    }

    #[test]
    fn line_with_too_many_values_is_an_error() {
        let (_folder, path) = folder();
        Log::create(&path, header()).expect("a log");
        let mut text = std::fs::read_to_string(&path).expect("text");
        text.extend(["{\"record\":[", &"0,".repeat(VALUES), "0]}\n"]);
        std::fs::write(&path, text).expect("written");
        let (log, end) = read_what_is_there(&path).expect("a log");
        let text = end.expect("an error").to_string();
        assert!(log.records.is_empty() && text.contains("values in a line; at most 1000000"), "{text}");
    }

    #[test]
    fn records_over_the_memory_bound_are_not_read() {
        let (_folder, path) = folder();
        let mut log = Log::create(&path, header()).expect("a log");
        let record = samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success);
        for index in 0..3 {
            log.append(&Record { index, ..record.clone() }, &samples::transcript(vec![])).expect("written");
        }
        let (seen, end) = read(&path, 100 * length(&record), |_| ()).expect("a log");
        assert!(end.is_none() && seen.records.len() == 3);
        let (seen, end) = read(&path, 15 * length(&record), |_| ()).expect("a log");
        assert!(matches!(end, Some(LogError::TooMuch { line: 3 | 4, .. })), "{end:?}");
        assert!(!seen.records.is_empty());
    }

    #[test]
    fn unreadable_transcript_is_an_error_in_its_place() {
        let (_folder, path) = folder();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let transcript = serde_json::to_string(&samples::transcript(vec![])).expect("JSON");
        std::fs::write(wire_path(&path), format!("{transcript}\noops\n{transcript}\n{{\"target")).expect("written");
        let read: Vec<_> = read_wire(&path).expect("a file").map(|one| one.is_ok()).collect();
        assert_eq!(read, [true, false, true]);
    }

    #[test]
    fn torn_last_line_is_partial_and_unreadable_line_is_an_error() {
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
    fn deepest_value_of_an_observation_is_read_again() {
        let (_folder, path) = folder();
        let test = samples::test(&[], vec![(samples::call("t"), Then::Observe)]);
        let seen = |levels: usize| {
            let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            let reply = format!(r#"{{"id":1,"result":{{"content":[],"structuredContent":{deep}}}}}"#);
            observe(&test, &samples::transcript(vec![samples::replied(&[&reply])]))
        };
        let is_kept = |seen: &Observation| seen.steps[0].structured.as_ref().and_then(Observed::value).is_some();
        let observation = (1..=nesting::LIMIT).rev().map(seen).find(is_kept).expect("a value that is kept");
        let record = Record { observation, ..samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success) };
        let mut log = Log::create(&path, header()).expect("a log");
        log.append(&record, &samples::transcript(vec![])).expect("written");
        assert_eq!(read_log(&path).expect("a log").records, [record]);
    }

    #[test]
    fn log_of_another_format_and_other_files_are_refused() {
        let (_folder, path) = folder();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, "{\"header\":{\"format\":99,\"else\":1}}\n").expect("written");
        assert!(matches!(read_log(&path), Err(LogError::OtherFormat { format: 99, .. })));
        for text in [String::new(), "{}".to_owned(), "[".repeat(200_000)] {
            std::fs::write(&path, text).expect("written");
            assert!(matches!(read_log(&path), Err(LogError::NoHeader { .. })));
        }
    }

    #[test]
    fn impossible_number_of_tests_makes_the_header_invalid() {
        let (_folder, path) = folder();
        Log::create(&path, Header { planned: usize::MAX, ..header() }).expect("a log");
        let text = read_log(&path).expect_err("the sum overflows").to_string();
        assert!(text.contains("its first line is not a header"), "{text}");
    }

    #[test]
    fn fuzzed_run_log_is_read_and_reported_without_panic() {
        let (_folder, path) = folder();
        let library = Library::default();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fuzz("records", fuzz::samples::records(), |bytes| {
            std::fs::write(&path, bytes).expect("written");
            let read = read_what_is_there(&path);
            // Truncating a file writes it to the disk each time, deleting it does not.
            std::fs::remove_file(&path).expect("removed");
            let Ok((log, cut)) = read else { return };
            let RunLog { header, records, footer } = log;
            let cut = cut.map(|error| error.to_string());
            let source = Source { name: "run.jsonl".into(), header, records, footer, cut, is_broken: false };
            let sources = [source.clone(), source];
            let report = Report::new(&sources, &ReportContext::default());
            let shown =
                [junit(&report), markdown(&report, COMMENT), page(&sources, &library, &report, &Evidence::of(&report))];
            assert!(shown.iter().all(|text| !text.contains(['\u{1b}', '\u{202e}', '\0'])));
            badges(&report);
            let mut site = Site::new(&library, &sources.each_ref().map(|source| source.header.clone()));
            let mut put = |path: &str, text: &str| {
                assert!(!path.contains("..") && !text.contains(['\u{1b}', '\u{202e}', '\0']), "{path}");
                Ok(())
            };
            let evidence = |report: &Report, _: &[Source]| Evidence::of(report);
            site.add(sources.to_vec(), evidence, &mut put).expect("nothing is written");
            site.finish(&mut put).expect("nothing is written");
        });
    }

    #[test]
    fn fuzzed_transcripts_are_read_without_panic() {
        let (_folder, path) = folder();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fuzz("transcripts", fuzz::samples::wire(), |bytes| {
            std::fs::write(wire_path(&path), bytes).expect("written");
            for transcript in read_wire(&path).expect("a file").flatten() {
                let line = serde_json::to_vec(&transcript).expect("JSON");
                assert!(nesting::read::<Transcript>(&line).is_ok());
            }
            std::fs::remove_file(wire_path(&path)).expect("removed");
        });
    }
}
