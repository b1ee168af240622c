//! `run.jsonl`: a header, a line a test, a footer; beside it `run.wire.jsonl`, a transcript a line.
//!
//! Each line is flushed as it is written, so that a run that is killed leaves whole lines and at most one torn one.
//! The reader takes such a log as partial; it shows what is there and never more.

use camino::{Utf8Path, Utf8PathBuf};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::lines::{LONGEST, Read, Reader, Writer};
use crate::jsonrpc::nesting;
use crate::model::bound::{brief, length};
use crate::model::record::{FORMAT, Footer, Header, Line, Record};
use crate::model::transcript::Transcript;

/// Values that a line may have: a tree takes many times the memory of its text.
const VALUES: usize = 1_000_000;
/// Bytes of memory that the records of one log may take, about.
const MEMORY: usize = 1 << 30;
/// Lines of so many bytes are not measured again.
const SHORT: usize = 16 << 10;
/// Bytes of memory that a value takes beside its text, about.
const A_VALUE: usize = 64;

/// Why a log can't be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system says no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// What it says.
        source: std::io::Error,
    },
    /// Another run writes to it.
    #[error("another run writes to {path}; give this one another file with --record")]
    InUse {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The first line is no header.
    #[error("{path} is no record of a run: its first line is no header")]
    NoHeader {
        /// The file.
        path: Utf8PathBuf,
    },
    /// Another version wrote it.
    #[error(
        "{path} is a record of format {format}, and this version reads format {FORMAT}; read it with the casebook that wrote it, or run the tests again"
    )]
    OtherFormat {
        /// The file.
        path: Utf8PathBuf,
        /// The format that it says it has.
        format: u32,
    },
    /// More than is read of one file.
    #[error("{path} has more records than fit into memory; those from line {line} on are not read")]
    TooMuch {
        /// The file.
        path: Utf8PathBuf,
        /// The first line that is not read, counted from 1.
        line: usize,
    },
    /// The last line has no end: whoever wrote it was stopped.
    #[error("{path} is cut in the middle of line {line}")]
    Torn {
        /// The file.
        path: Utf8PathBuf,
        /// Which line, counted from 1.
        line: usize,
    },
    /// A line in the middle can't be read.
    #[error("{path}:{line}: {reason}")]
    Line {
        /// The file.
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
    records: Writer,
    wire: Writer,
}

impl Log {
    /// Begins a log, and the file for its transcripts; older ones are overwritten.
    ///
    /// # Errors
    /// [`LogError::Io`], or [`LogError::InUse`].
    pub fn create(path: &Utf8Path, header: Header) -> Result<Self, LogError> {
        let mut log = Self { records: Writer::create(path)?, wire: Writer::create(&wire_path(path))? };
        log.records.write(&Line::Header(header))?;
        Ok(log)
    }

    /// Writes what became of one test; the transcript first, so that every record has its own. Nothing is copied:
    /// both can be large. After an error the log ends with the test before, and is not to be appended to.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn append(&mut self, record: &Record, transcript: &Transcript) -> Result<(), LogError> {
        #[derive(Serialize)]
        struct Entry<'a> {
            record: &'a Record,
        }
        self.wire.write(transcript)?;
        self.records.write(&Entry { record })
    }

    /// Writes how the run ended.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn finish(mut self, footer: Footer) -> Result<(), LogError> {
        self.records.write(&Line::Footer(footer))
    }
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
    match read(path, MEMORY, |_| ())? {
        (mut log, None | Some(LogError::Torn { .. })) => {
            log.records.dedup_by_key(|record| record.index);
            Ok(log)
        }
        (_, Some(error)) => Err(error),
    }
}

/// Reads a log up to where it can't be read, and says why not further. Of each observation no more is kept than reports
/// show.
///
/// # Errors
/// [`LogError`] where there is no log, or a newer one.
pub fn read_what_is_there(path: &Utf8Path) -> Result<(RunLog, Option<LogError>), LogError> {
    read(path, MEMORY, brief)
}

/// Reads a log that takes at most so much memory; `shorten` leaves out of each record what isn't wanted.
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

/// Reads the transcripts beside a log, one after the other, so that a record may be larger than memory; a torn last
/// one is left out, and one that can't be read is an error in its place.
///
/// # Errors
/// [`LogError`] where the file isn't there.
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
    use crate::model::case::{Outcome, Then};
    use crate::model::observation::{Observation, Observed};
    use crate::model::record::Cuts;
    use crate::report::html::{Evidence, page};
    use crate::report::markdown::{COMMENT, markdown};
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
        Footer { ran: 2, interrupted: false, stale: Vec::new(), micros: 1, cut: Cuts::default() }
    }

    #[test]
    fn what_was_written_is_read_in_the_order_of_the_plan() {
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
    fn line_of_too_many_values_is_an_error_and_no_tree() {
        let (_folder, path) = folder();
        Log::create(&path, header()).expect("a log");
        let mut text = std::fs::read_to_string(&path).expect("text");
        text.extend(["{\"record\":[", &"0,".repeat(VALUES), "0]}\n"]);
        std::fs::write(&path, text).expect("written");
        let (log, end) = read_what_is_there(&path).expect("a log");
        let told = end.expect("an end").to_string();
        assert!(log.records.is_empty() && told.contains("values in a line; at most 1000000"), "{told}");
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
    fn a_transcript_that_cannot_be_read_is_an_error_in_its_place() {
        let (_folder, path) = folder();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let transcript = serde_json::to_string(&samples::transcript(vec![])).expect("JSON");
        std::fs::write(wire_path(&path), format!("{transcript}\noops\n{transcript}\n{{\"target")).expect("written");
        let read: Vec<_> = read_wire(&path).expect("a file").map(|one| one.is_ok()).collect();
        assert_eq!(read, [true, false, true]);
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
        let is_kept = |seen: &Observation| seen.steps[0].structured.as_ref().and_then(Observed::value).is_some();
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
        assert!(matches!(read_log(&path), Err(LogError::OtherFormat { format: 99, .. })));
        for text in [String::new(), "{}".to_owned(), "[".repeat(200_000)] {
            std::fs::write(&path, text).expect("written");
            assert!(matches!(read_log(&path), Err(LogError::NoHeader { .. })));
        }
    }

    #[test]
    fn a_number_of_tests_that_no_run_has_makes_no_header() {
        let (_folder, path) = folder();
        Log::create(&path, Header { planned: usize::MAX, ..header() }).expect("a log");
        let told = read_log(&path).expect_err("nobody could add that up").to_string();
        assert!(told.contains("its first line is no header"), "{told}");
    }

    #[test]
    fn any_record_is_read_and_reported_as_far_as_it_goes() {
        let (_folder, path) = folder();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fuzz("records", fuzz::samples::records(), |bytes| {
            std::fs::write(&path, bytes).expect("written");
            let read = read_what_is_there(&path);
            // A file that is written over goes to the disk each time.
            std::fs::remove_file(&path).expect("removed");
            let Ok((log, cut)) = read else { return };
            let RunLog { header, records, footer } = log;
            let cut = cut.map(|error| error.to_string());
            let source = Source { name: "run.jsonl".into(), header, records, footer, cut, is_broken: false };
            let sources = [source.clone(), source];
            let report = Report::new(&sources, &ReportContext::default());
            let shown = [junit(&report), markdown(&report, COMMENT), page(&report, &Evidence::of(&report))];
            assert!(shown.iter().all(|text| !text.contains(['\u{1b}', '\u{202e}', '\0'])));
            badges(&report);
        });
    }

    #[test]
    fn any_transcripts_are_read_as_far_as_they_go() {
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
