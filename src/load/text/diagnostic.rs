//! Diagnostics: the mistakes in a file, each with its lint, its place and a remedy.
//!
//! Takes diagnostics from the readers and the lints, gives text for people. Must not know what a case means.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;
use std::sync::Arc;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, Severity, SourceCode, SourceSpan};

use crate::model::Printable;
use crate::model::spec::words;
use crate::model::untrusted::{is_safe, masked};

/// The longest line that is shown, in bytes. Of a longer line only the place is shown, because one line may have
/// thousands of mistakes.
const LINE: usize = 1000;

words! {
    /// The kinds of mistakes. [`Lint::severity`] is that of an error for those that keep a run from starting.
    Lint {
        /// A file or folder cannot be read.
        Unreadable = "unreadable",
        /// A file is too large, or nested too deep.
        TooLarge = "too-large",
        /// A file lies where no case file may lie, or no case file is found.
        Misplaced = "misplaced",
        /// A file is not strict JSON.
        Syntax = "syntax",
        /// An object has the same key twice.
        DuplicateKey = "duplicate-key",
        /// Two sources have a case of the same id.
        DuplicateCase = "duplicate-case",
        /// Two sources have a requirement of the same id.
        DuplicateRequirement = "duplicate-requirement",
        /// A value has another type than expected.
        WrongType = "wrong-type",
        /// There are too few or too many of something.
        WrongCount = "wrong-count",
        /// A required key is missing.
        MissingKey = "missing-key",
        /// Two keys exclude each other.
        ConflictingKeys = "conflicting-keys",
        /// A key has no meaning in this object.
        UnknownKey = "unknown-key",
        /// A value is not one of those that are allowed.
        UnknownValue = "unknown-value",
        /// The file has no such row.
        UnknownRow = "unknown-row",
        /// The row has no such value.
        UnknownBinding = "unknown-binding",
        /// The fixture has no such tool.
        UnknownTool = "unknown-tool",
        /// There is no such test.
        UnknownTest = "unknown-test",
        /// The catalogue has no such requirement.
        UnknownRequirement = "unknown-requirement",
        /// A placeholder is unknown, or not allowed in its place.
        UnknownPlace = "unknown-place",
        /// An id cannot be part of a test's name.
        IdStyle = "id-style",
        /// Ranges of revisions or transports have nothing in common.
        NeverApplies = "never-applies",
        /// An expectation or action does not fit the role under test.
        RoleMismatch = "role-mismatch",
        /// A test checks a requirement that the catalogue calls unobservable.
        UnobservableButChecked = "unobservable-but-checked",
        /// A `reply`, `sent` or `matches` is not a JSON Schema, or refers to something outside of itself.
        InvalidSchema = "invalid-schema",
        /// A condition cannot fail, or cannot hold, for the fixture and the step that it stands beside.
        Vacuous = "vacuous",
        /// An exclusion matches no sentence of the specification.
        ExclusionNotFound = "exclusion-not-found",
        /// No test runs with the row.
        UnusedRow = "unused-row",
        /// No test uses the value of a row.
        UnusedBinding = "unused-binding",
        /// A test expects only failure, and no control shows that success is possible.
        NoControl = "no-control",
        /// The controls expect only failure.
        ControlExpectsFailureOnly = "control-expects-failure-only",
        /// The arguments fit a schema that the test expects them to violate, or the other way round.
        FalsePremise = "false-premise",
        /// One observation satisfies two alternatives.
        AlternativesOverlap = "alternatives-overlap",
        /// `allowed-by` names a requirement that is not a MAY.
        AllowedByNoMay = "allowed-by-no-may",
        /// A title does not have the expected form.
        TitleStyle = "title-style",
        /// A control names the row, and the file has no rows.
        ControlWithoutRows = "control-without-rows",
        /// The quote of a requirement has keywords of BCP 14, and none of them is its level.
        LevelNotQuoted = "level-not-quoted",
        /// The page of a requirement does not have the quoted words.
        QuoteNotFound = "quote-not-found",
        /// A quote begins or ends inside a sentence.
        QuoteCut = "quote-cut",
        /// A sentence of the specification is neither quoted nor excluded.
        SentenceNotQuoted = "sentence-not-quoted",
        /// A file is not read because of its name.
        UnreadFile = "unread-file",
        /// A line is too long.
        Width = "width",
        /// A test is large, and not marked as heavy.
        Heavy = "heavy",
    }
}

impl Lint {
    /// [`Severity::Error`] keeps a run from starting; [`Severity::Warning`] is shown by `lint` only.
    pub fn severity(self) -> Severity {
        if self < Self::UnusedRow { Severity::Error } else { Severity::Warning }
    }
}

/// A file's name and text, shared by all of its diagnostics.
pub(crate) type File = NamedSource<String>;

/// One mistake in a file.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    lint: Lint,
    message: String,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
    file: Arc<File>,
    is_denied: bool,
}

impl Diagnostic {
    pub(crate) fn new(lint: Lint, file: &Arc<File>, message: impl Into<String>) -> Self {
        Self { lint, message: message.into(), labels: Vec::new(), help: None, file: Arc::clone(file), is_denied: false }
    }

    /// Records the error of the operating system that the diagnostic is about.
    pub(crate) fn caused_by(mut self, error: &io::Error) -> Self {
        self.is_denied = error.kind() == io::ErrorKind::PermissionDenied;
        self
    }

    /// Returns whether the operating system denied access to the file.
    pub(crate) fn is_denied(&self) -> bool {
        self.is_denied
    }

    /// Adds a label at a place. The first place is that of the diagnostic.
    ///
    /// Of a place of several lines only the first line is marked: the others would hide the mistake.
    pub(crate) fn at(mut self, span: SourceSpan, label: impl Into<String>) -> Self {
        let marked = self.file.inner().get(span.offset()..span.offset() + span.len());
        let length = marked.and_then(|text| text.find(['\r', '\n'])).unwrap_or(span.len());
        let span = SourceSpan::new(span.offset().into(), length);
        self.labels.push(LabeledSpan::new_with_span(Some(label.into()), span));
        self
    }

    /// Shows the lines of another text of the same length in place of the file's own.
    pub(crate) fn shown_in(mut self, file: &Arc<File>) -> Self {
        self.file = Arc::clone(file);
        self
    }

    /// Sets the remedy.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets a remedy that lists the known words, after a question for the nearest one.
    pub(crate) fn known<'a>(self, word: &str, what: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let list = match known.len() {
            0 => format!("{what}: none"),
            1..=24 => format!("{what}: {}", known.join(", ")),
            more => format!("{what}: {}, and {} more", known[..12].join(", "), more - 12),
        };
        match did_you_mean(word, &known) {
            Some(question) => self.help(format!("{question} {list}")),
            None => self.help(list),
        }
    }

    /// The kind of the mistake.
    pub fn lint(&self) -> Lint {
        self.lint
    }

    /// Returns whether a run must not start.
    pub fn is_error(&self) -> bool {
        self.lint.severity() == Severity::Error
    }

    /// One line: `file:line:column: lint: message`.
    pub fn line(&self) -> String {
        let (line, column) = position(self.file.inner(), self.offset());
        format!("{}:{line}:{column}: {}: {}", self.file.name(), self.lint, self.message)
    }

    /// The key for sorting: the file, and the place in it.
    pub(crate) fn order(&self) -> (&str, usize, Lint) {
        (self.file.name(), self.offset(), self.lint)
    }

    /// Returns whether both have the same place and message: a test is read once for each of its rows.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.order() == other.order() && self.message == other.message
    }

    /// Returns whether both have the same lint and message, at any place.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        self.lint == other.lint && self.message == other.message
    }

    fn offset(&self) -> usize {
        self.labels.first().map_or(0, LabeledSpan::offset)
    }

    /// Returns whether a line that would be shown, or one beside it, is too long to be shown.
    fn is_wide(&self) -> bool {
        let text = self.file.inner().as_bytes();
        let start = self.labels.iter().map(LabeledSpan::offset).min().unwrap_or(0).min(text.len());
        let end = self.labels.iter().map(|label| label.offset() + label.len()).max().unwrap_or(0);
        let (before, behind) = (&text[..start], &text[end.clamp(start, text.len())..]);
        let ends = |byte: &u8| *byte == b'\n';
        let first = before.rsplitn(3, ends).take(2).map(|line| line.len() + 1).sum::<usize>();
        let last = behind.splitn(3, ends).take(2).map(|line| line.len() + 1).sum::<usize>();
        let shown = &text[start.saturating_sub(first)..(text.len() - behind.len() + last).min(text.len())];
        !self.labels.is_empty() && shown.split(ends).any(|line| line.len() > LINE)
    }
}

/// A diagnostic with escaped texts, for the renderer, which adds styles of its own.
#[derive(Debug)]
struct Escaped {
    lint: Lint,
    message: Printable,
    labels: Vec<LabeledSpan>,
    help: Option<Printable>,
    source: Arc<File>,
}

impl Escaped {
    /// Escapes a diagnostic; `source` is its file, masked.
    fn new(diagnostic: &Diagnostic, source: Arc<File>) -> Self {
        let Diagnostic { lint, message, labels, help, .. } = diagnostic;
        let escape = |text: &str| Printable::from(text);
        let shown = if diagnostic.is_wide() { &[] } else { labels.as_slice() };
        let labels = shown.iter().map(|label| {
            LabeledSpan::new_with_span(label.label().map(|text| escape(text).to_string()), *label.inner())
        });
        Self {
            lint: *lint,
            message: escape(message),
            labels: labels.collect(),
            help: help.as_deref().map(escape),
            source,
        }
    }
}

impl fmt::Display for Escaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl std::error::Error for Escaped {}

impl miette::Diagnostic for Escaped {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.lint))
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.lint.severity())
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.labels.is_empty())
            .then(|| Box::new(self.labels.iter().cloned()) as Box<dyn Iterator<Item = LabeledSpan>>)
    }
}

/// Renders diagnostics for people, with the lines of the files.
pub fn render(diagnostics: &[Diagnostic], colour: bool) -> Printable {
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(120).with_links(false);
    let mut out = String::new();
    // Diagnostics are sorted by file: each file's text is masked once.
    let mut last: Option<(&Arc<File>, Arc<File>)> = None;
    for diagnostic in diagnostics {
        let known = last.take().filter(|(file, _)| Arc::ptr_eq(file, &diagnostic.file));
        let (_, source) = last.insert(known.unwrap_or_else(|| (&diagnostic.file, masked_file(&diagnostic.file))));
        let escaped = Escaped::new(diagnostic, Arc::clone(source));
        handler.render_report(&mut out, &escaped).expect("writing to a string never fails");
        if escaped.labels.is_empty() {
            out.extend(["  file: ", escaped.source.name()]);
            if let Some(label) = diagnostic.labels.first() {
                let (line, column) = position(escaped.source.inner(), label.offset());
                let text = Printable::from(label.label().unwrap_or_default());
                write!(out, ":{line}:{column}: {text}").expect("writing to a string never fails");
            }
            out.push('\n');
        }
        out.push('\n');
    }
    Printable::styled(out)
}

/// A copy of a file that is safe to print, with the same places.
fn masked_file(file: &Arc<File>) -> Arc<File> {
    match (masked(file.inner()), is_safe(file.name())) {
        (Cow::Borrowed(_), true) => Arc::clone(file),
        (text, _) => Arc::new(File::new(Printable::from(file.name()).as_str(), text.into_owned())),
    }
}

/// Line and column of a byte, both counted from 1, the column in characters.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// A question for the nearest known word; `None` if no word is near.
pub fn did_you_mean(word: &str, known: &[&str]) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// Returns the known word with the most similar spelling; `None` if none is similar.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let (word, length) = (word.to_lowercase(), word.chars().count());
    let near = (length / 3).clamp(1, 4);
    let distance = |one: &str| strsim::damerau_levenshtein(&one.to_lowercase(), &word);
    // Words whose lengths differ by more than the distance are not compared.
    let similar = known.iter().copied().filter(|one| one.chars().count().abs_diff(length) <= near);
    similar
        .map(|one| (distance(one), one))
        .filter(|(distance, _)| *distance <= near)
        .min_by_key(|it| it.0)
        .map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_is_at_most_a_few_typos_away() {
        assert_eq!(nearest("sucess", &["success", "refused"]), Some("success"));
        assert_eq!(nearest("protocol_error", &["tool-error", "protocol-error"]), Some("protocol-error"));
        assert_eq!(nearest("banana", &["success", "refused"]), None);
    }

    #[test]
    fn rendered_diagnostics_escape_hidden_characters() {
        let text = "{ \"a\u{202e}\": \"\u{1b}[2J##[error]x\r\n\tb\" }\n";
        let file = Arc::new(File::new("a\u{1b}]52;.json", text.to_owned()));
        let at = text.find('b').expect("a b");
        let one =
            Diagnostic::new(Lint::Syntax, &file, "no \u{9b} key").at((at, 1).into(), "here \u{7f}").help("\u{feff}");
        let shown = render(&[one.clone(), Diagnostic { labels: Vec::new(), ..one }], false);
        assert!(is_safe(shown.as_str()), "{shown}");
        for words in [r"a\u{1b}]52;.json:2:", r"no \u{9b} key", r"here \u{7f}", r"\u{feff}", r#""?[2J?#[error]x"#] {
            assert!(shown.as_str().contains(words), "{words} in\n{shown}");
        }
    }

    #[test]
    fn long_line_is_left_out_and_its_place_is_shown() {
        let long = format!("{{\n  \"a\": \"{}\", \"b\": 1,\n  \"c\": 1\n}}\n", "x".repeat(70_000));
        let file = Arc::new(File::new("a.json", long.clone()));
        let at = |part: &str, label| {
            let place = long.find(part).expect("it is there");
            Diagnostic::new(Lint::UnknownKey, &file, "no such key").at((place, 3).into(), label).help("none")
        };
        let all: Vec<_> = [at("\"b\"", "here"), at("\"c\"", "beside a long line"), at("{", "before it")].into();
        let shown = render(&all, false);
        assert!(shown.as_str().len() < 2000, "{} bytes", shown.as_str().len());
        for words in ["a.json:2:70012: here", "a.json:3:3: beside a long line", "a.json:1:1: before it", "help: none"] {
            assert!(shown.as_str().contains(words), "{words} in\n{shown}");
        }
    }

    #[test]
    fn position_counts_characters() {
        assert_eq!(position("aé\nüx", "aé\nü".len()), (2, 2));
        assert_eq!(position("", 9), (1, 1));
    }
}
