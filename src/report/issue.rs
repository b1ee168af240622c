//! A failed test as the draft of an issue, as Markdown.
//!
//! Takes one violated requirement of a record, gives the finding that the terminal shows of it. Text from outside is in
//! code, or escaped. Must not know where records come from.

use crate::model::Untrusted;
use crate::model::markdown::{text, url};
use crate::model::record::{Record, Verdict};
use crate::model::spec::{Level, Requirement, Role, Transport};
use crate::model::text::beginning;
use crate::model::transcript::Transcript;
use crate::model::verdict::VerdictKind;
use crate::report::terminal::evidence::evidence;

/// The characters of a quote or a command, of a title, and of a name.
const LINE: usize = 800;
const TITLE: usize = 140;
const NAME: usize = 200;
/// The characters of a message.
const MESSAGE: usize = 6_000;
/// The reasons that are listed, and the bytes of one block. An issue on GitHub has at most 64 KiB.
const REASONS: usize = 8;
const BLOCK: usize = 8 << 10;

/// Everything that a draft is made of.
#[derive(Debug)]
pub struct Draft<'a> {
    /// The failed test.
    pub record: &'a Record,
    /// The verdict by which it violates the requirement.
    pub verdict: &'a Verdict,
    /// The messages of the test, if they were recorded.
    pub transcript: Option<&'a Transcript>,
    /// The requirement, if the cases still have it.
    pub requirement: Option<&'a Requirement>,
    /// The side of the protocol that was tested.
    pub role: Role,
    /// The package under test and its version, or the target.
    pub package: String,
    /// The version of casebook that ran the test.
    pub casebook: &'a str,
    /// The command that runs the test.
    pub command: String,
    /// The command that shows the failure with the SDK alone, in the folder of the target.
    pub repro: Option<String>,
}

impl Draft<'_> {
    /// Returns the draft. Its first line is the title.
    pub fn markdown(&self) -> String {
        let Self { record, verdict, role, package, casebook, .. } = self;
        let (test, id) = (code(&record.test.to_string()), code(verdict.requirement.as_str()));
        let over = if record.test.transport == Transport::Http { "Streamable HTTP" } else { "stdio" };
        let side = if *role == Role::Server { "server" } else { "client" };
        let mut out = format!("# {}\n\n{}", self.title(), self.notes());
        out += &format!(
            "A {side} built with {} does not meet a requirement of the Model Context Protocol, revision {}, over {over}. \
             [casebook]({}) {} found it in the test {test}.\n\n## Requirement\n\n",
            code(package),
            record.test.revision,
            env!("CARGO_PKG_REPOSITORY"),
            code(casebook),
        );
        if let Some(requirement) = self.requirement {
            let statement = requirement.on(record.test.revision);
            let link = statement.link();
            let link = url(&link).map_or_else(|| code(&link), |link| format!("<{link}>"));
            out += &format!(
                "> {}\n\n{link}\n\n{}: {} (casebook's name: {id})\n\n",
                text(statement.quote, LINE),
                verdict.level,
                text(&requirement.why, LINE)
            );
        } else {
            out += &format!("{}: {id}\n\n", verdict.level);
        }
        out += &format!("## Observation\n\n{}:\n\n", text(&record.title, LINE));
        let reasons = verdict.detail.iter().take(REASONS).map(|detail| Untrusted(&detail.to_string()).line(LINE));
        out += &fenced("text", &reasons.collect::<Vec<_>>().join("\n"));
        match self.transcript {
            None => out += "The messages of this test were not recorded.\n\n",
            Some(transcript) => {
                for (label, text) in evidence(transcript, verdict, MESSAGE) {
                    let info = if ["sent", "received"].contains(&label) { "json" } else { "text" };
                    out += format!("{label}:\n\n{}", fenced(info, &text)).trim_start_matches(":\n\n");
                }
            }
        }
        out += "## Reproduce\n\n";
        if let Some(repro) = &self.repro {
            out += "With the SDK alone, in the folder of the target:\n\n";
            out += &fenced("sh", &Untrusted(repro).line(LINE));
            out += "With casebook:\n\n";
        }
        out + fenced("sh", &Untrusted(&self.command).line(LINE)).trim_end() + "\n"
    }

    fn title(&self) -> String {
        let side = if self.role == Role::Server { "Server" } else { "Client" };
        let level = match self.verdict.level {
            Level::Must | Level::MustNot => "violates a MUST",
            Level::Should | Level::ShouldNot => "violates a SHOULD",
            Level::May | Level::Derived => "differs from the specification",
        };
        // The words of a derived requirement may be a line of code.
        let quote = self.requirement.filter(|requirement| requirement.level != Level::Derived);
        let words =
            quote.map_or(self.record.title.as_str(), |requirement| requirement.on(self.record.test.revision).quote);
        let plain = Untrusted(words).line(TITLE);
        let is_active = plain.contains(['<', '>', '@', '[', '#', '!', '&', '\\', '|'])
            || ["://", "www."].iter().any(|one| plain.contains(one));
        format!("{side} {level}: {}", if is_active { text(words, TITLE) } else { plain })
    }

    /// The sentences at the top that a reader must not miss.
    fn notes(&self) -> String {
        let known = self.verdict.known.as_ref().filter(|_| self.verdict.kind == VerdictKind::Known);
        let issue = known.and_then(|known| known.issue.as_deref());
        let harm = self.requirement.map(|requirement| requirement.harm).filter(|harm| harm.is_grave());
        let mut out = String::new();
        match (issue, harm) {
            (Some(issue), _) => {
                let issue = url(issue).map_or_else(|| code(issue), |issue| format!("<{issue}>"));
                out += &format!("> **Already reported:** {issue}; do not open another issue.\n\n");
            }
            (None, Some(harm)) => {
                out += &format!(
                    "> **Not for a public tracker:** the harm of this failure is {harm}. Send it to the security contact \
                     of the maintainers.\n\n"
                );
            }
            (None, None) => {}
        }
        if let Some(known) = known {
            out += &format!("{}\n\n", text(&known.reason, LINE));
        }
        out
    }
}

/// Returns a text on one line as a code span.
fn code(text: &str) -> String {
    let text = Untrusted(text).line(NAME);
    if text.contains('`') { crate::model::markdown::code(&text, NAME) } else { format!("`{text}`") }
}

/// Returns a code block, whose fence is longer than any in the text.
fn fenced(info: &str, text: &str) -> String {
    let kept = beginning(text, BLOCK);
    let cut = if kept.len() < text.len() { format!("… ({} bytes)\n", text.len()) } else { String::new() };
    let longest = kept.split(|one| one != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{info}\n{kept}\n{cut}{fence}\n\n")
}

#[cfg(test)]
mod tests;
