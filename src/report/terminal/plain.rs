//! Words on standard output and standard error, outside of a run's display.
//!
//! Takes text that was made harmless, prints it. Must not know what it says.

use std::io::{self, IsTerminal as _, Write};

use anstream::{AutoStream, ColorChoice};

/// Prints what was asked for.
pub fn say(text: &str) {
    print(&mut anstream::stdout(), text);
}

/// Prints what isn't the answer itself: progress, hints, problems.
pub fn aside(text: &str) {
    print(&mut anstream::stderr(), text);
}

/// Whether standard output is shown in colour.
pub fn colours() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never && io::stdout().is_terminal()
}

/// Whether standard error is shown in colour.
pub fn colours_errors() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never && io::stderr().is_terminal()
}

/// A pipe that was closed is no problem: whoever read it has seen enough.
///
/// # Errors
/// Everything else that the output says.
pub fn heard(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

fn print(out: &mut impl Write, text: &str) {
    // Whoever reads may have seen enough; there is nowhere to say anything else.
    _ = writeln!(out, "{text}");
}
