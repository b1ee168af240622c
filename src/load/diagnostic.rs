//! What is wrong with a file: which lint says so, where, and what to do about it.
//!
//! Takes findings from the readers and the lints, gives text for people. Must not know what a case means.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, Severity, SourceCode, SourceSpan};

use crate::model::Printable;
use crate::model::spec::words;
use crate::model::untrusted::{is_safe, masked};

/// Bytes of a line that is shown. Of longer ones only the place is told: there may be thousands of mistakes in one.
const LINE: usize = 1000;

words! {
    /// Everything that can be found wrong; [`Lint::severity`] tells which of it keeps a run from starting.
    Lint {
        /// A file or folder can't be read.
        Unreadable = "unreadable",
        /// A file is too large, or nested too deep.
        TooLarge = "too-large",
        /// A file lies where no case can lie.
        Misplaced = "misplaced",
        /// No strict JSON.
        Syntax = "syntax",
        /// The same key twice in one object.
        DuplicateKey = "duplicate-key",
        /// Two sources have a case of the same id.
        DuplicateCase = "duplicate-case",
        /// Two sources have a requirement of the same id.
        DuplicateRequirement = "duplicate-requirement",
        /// A number where a text belongs, and the like.
        WrongType = "wrong-type",
        /// Too few or too many of something.
        WrongCount = "wrong-count",
        /// A key that must be there isn't.
        MissingKey = "missing-key",
        /// Two keys that exclude each other.
        ConflictingKeys = "conflicting-keys",
        /// A key that has no meaning here.
        UnknownKey = "unknown-key",
        /// A word outside of the vocabulary.
        UnknownValue = "unknown-value",
        /// A row that the file lacks.
        UnknownRow = "unknown-row",
        /// A value that the row lacks.
        UnknownBinding = "unknown-binding",
        /// A tool that the fixture lacks.
        UnknownTool = "unknown-tool",
        /// A requirement that nobody wrote down.
        UnknownRequirement = "unknown-requirement",
        /// An `@` that nobody fills in, or that can't stand where it does.
        UnknownPlace = "unknown-place",
        /// An id that can't be part of a test's name.
        IdStyle = "id-style",
        /// Ranges of revisions or transports that leave nothing.
        NeverApplies = "never-applies",
        /// What can't be seen of, or isn't asked of, the role under test.
        RoleMismatch = "role-mismatch",
        /// A requirement is checked although the catalogue says that nothing shows it.
        UnobservableButChecked = "unobservable-but-checked",
        /// A `reply` or `matches` that is no JSON Schema, or not one that stands alone.
        InvalidSchema = "invalid-schema",
        /// A row that no test runs with.
        UnusedRow = "unused-row",
        /// A value that no test looks at.
        UnusedBinding = "unused-binding",
        /// Failure is expected, and nothing shows that success was possible.
        NoControl = "no-control",
        /// Controls that show no success.
        ControlExpectsFailureOnly = "control-expects-failure-only",
        /// Arguments that don't relate to the schema as the expectation supposes.
        FalsePremise = "false-premise",
        /// Two alternatives that one observation satisfies.
        AlternativesOverlap = "alternatives-overlap",
        /// An alternative is allowed by what isn't a MAY.
        AllowedByNoMay = "allowed-by-no-may",
        /// A title that is no sentence of the wanted form.
        TitleStyle = "title-style",
        /// A line that is too long.
        Width = "width",
        /// Too large for every day, and not marked so.
        Heavy = "heavy",
    }
}

impl Lint {
    /// [`Severity::Error`] keeps a run from starting; [`Severity::Warning`] is shown by `lint` only.
    pub fn severity(self) -> Severity {
        if self < Self::UnusedRow { Severity::Error } else { Severity::Warning }
    }
}

/// A file's name and text, shared by all that is found in it.
pub(crate) type File = NamedSource<String>;

/// One thing that was found.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    lint: Lint,
    message: String,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
    file: Arc<File>,
}

impl Diagnostic {
    pub(crate) fn new(lint: Lint, file: &Arc<File>, message: impl Into<String>) -> Self {
        Self { lint, message: message.into(), labels: Vec::new(), help: None, file: Arc::clone(file) }
    }

    /// Points at a place; the first one is the diagnostic's own.
    pub(crate) fn at(mut self, span: SourceSpan, label: impl Into<String>) -> Self {
        self.labels.push(LabeledSpan::new_with_span(Some(label.into()), span));
        self
    }

    /// Shows the lines of another text in place of the file's own; places stay where they are.
    pub(crate) fn shown_in(mut self, file: &Arc<File>) -> Self {
        self.file = Arc::clone(file);
        self
    }

    /// Says what to do.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says which words there are, the nearest first.
    pub(crate) fn known<'a>(self, word: &str, what: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let list = match known.len() {
            0 => format!("{what}: none"),
            1..=16 => format!("{what}: {}", known.join(", ")),
            more => format!("{what}: {}, and {} more", known[..12].join(", "), more - 12),
        };
        match did_you_mean(word, &known) {
            Some(question) => self.help(format!("{question} {list}")),
            None => self.help(list),
        }
    }

    /// Which lint found it.
    pub fn lint(&self) -> Lint {
        self.lint
    }

    /// Whether a run must not start.
    pub fn is_error(&self) -> bool {
        self.lint.severity() == Severity::Error
    }

    /// One line: `file:line:column: lint: message`.
    pub fn line(&self) -> String {
        let (line, column) = position(self.file.inner(), self.offset());
        format!("{}:{line}:{column}: {}: {}", self.file.name(), self.lint, self.message)
    }

    /// Where it sorts: by file, and by place in it.
    pub(crate) fn order(&self) -> (&str, usize, Lint) {
        (self.file.name(), self.offset(), self.lint)
    }

    /// Whether both say the same of the same place; a test that runs with many rows is read many times.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.order() == other.order() && self.message == other.message
    }

    fn offset(&self) -> usize {
        self.labels.first().map_or(0, LabeledSpan::offset)
    }

    /// Whether a line that would be shown, or one beside it, is too long for that.
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

/// A diagnostic whose texts are all escaped, for the renderer, which puts its own styling between them.
#[derive(Debug)]
struct Escaped {
    lint: Lint,
    message: Printable,
    labels: Vec<LabeledSpan>,
    help: Option<Printable>,
    source: Arc<File>,
}

impl Escaped {
    /// `source` is the diagnostic's file, masked.
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

/// All of them as people read them, with the lines of the files.
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

/// A file as it may be shown, with every place where it was.
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

/// Asks for the known word that was probably meant; `None` where none is near.
pub fn did_you_mean(word: &str, known: &[&str]) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// Returns the known word with the most similar spelling; `None` if none is similar.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |one: &str| strsim::damerau_levenshtein(&one.to_lowercase(), &word.to_lowercase());
    let near = (word.chars().count() / 3).clamp(1, 4);
    known.iter().copied().min_by_key(|one| distance(one)).filter(|one| distance(one) <= near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_one_typo_away_and_not_just_any() {
        assert_eq!(nearest("sucess", &["success", "refused"]), Some("success"));
        assert_eq!(nearest("protocol_error", &["tool-error", "protocol-error"]), Some("protocol-error"));
        assert_eq!(nearest("banana", &["success", "refused"]), None);
    }

    #[test]
    fn rendered_diagnostics_have_no_hidden_characters_of_the_file() {
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
    fn long_lines_are_not_shown_but_their_place_is_told() {
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
    fn a_position_counts_characters() {
        assert_eq!(position("aé\nüx", "aé\nü".len()), (2, 2));
        assert_eq!(position("", 9), (1, 1));
    }
}
