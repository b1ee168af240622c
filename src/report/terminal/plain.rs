//! Words on standard output and standard error, outside of a run's display.
//!
//! The only place that writes to them, but for a run's display: whatever is printed is escaped by its type, and checked
//! again. Must not know what it says.

use std::io::{self, IsTerminal as _, Write};
use std::sync::Mutex;

use anstream::{AutoStream, ColorChoice};

use super::safe::safe;
use crate::model::{Printable, ToPrintable};
use crate::report::Annotation;

/// The first error of standard output.
static FAILED: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints a line on standard output. An error is kept until [`finish_output`].
pub fn print_line(text: &(impl ToPrintable + ?Sized)) {
    _ = ignore_broken_pipe(print(&mut anstream::stdout(), &text.to_printable())).map_err(keep_error);
}

/// Keeps an error of standard output until [`finish_output`].
pub fn keep_error(error: io::Error) {
    FAILED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
}

/// Flushes standard output.
///
/// # Errors
/// The first error that [`keep_error`] got, or that of flushing; a closed pipe is no error.
pub fn finish_output() -> io::Result<()> {
    let failed = FAILED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    failed.map_or_else(|| ignore_broken_pipe(anstream::stdout().flush()), Err)
}

/// Prints what isn't the answer itself: progress, hints, problems.
pub fn eprint_line(text: &(impl ToPrintable + ?Sized)) {
    // There is nowhere else to report that standard error fails.
    _ = print(&mut anstream::stderr(), &text.to_printable());
}

/// Writes a whole text to standard output, without a line end of its own.
///
/// # Errors
/// Those of the output; a pipe that was closed is no error.
pub fn show(text: &(impl ToPrintable + ?Sized)) -> io::Result<()> {
    ignore_broken_pipe(anstream::stdout().write_all(safe(text.to_printable().as_str()).as_bytes()))
}

/// Prints a line that GitHub is to take as a command.
pub fn annotate(annotation: &Annotation) {
    _ = ignore_broken_pipe(writeln!(anstream::stdout(), "{annotation}")).map_err(keep_error);
}

/// Whether standard output is shown in colour.
pub fn colours() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never && io::stdout().is_terminal()
}

/// Whether standard error is shown in colour.
pub fn colours_errors() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never && io::stderr().is_terminal()
}

/// Takes a closed pipe for success: its reader has seen enough.
///
/// # Errors
/// Everything else that the output says.
pub fn ignore_broken_pipe(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

fn print(out: &mut impl Write, text: &Printable) -> io::Result<()> {
    writeln!(out, "{}", safe(text.as_str()))
}
