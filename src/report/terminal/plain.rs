//! Lines on standard output and standard error, outside of the display of a run.
//!
//! Apart from the display of a run, only this module writes to them. The type of the text ensures that it is escaped,
//! and each line is checked again. Must not know what a text means.

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

/// Prints progress, hints and errors on standard error.
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

/// Prints a line that GitHub reads as a command.
pub fn annotate(annotation: &Annotation) {
    _ = ignore_broken_pipe(writeln!(anstream::stdout(), "{annotation}")).map_err(keep_error);
}

/// Returns whether standard output is shown in colour.
pub fn colours() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never && io::stdout().is_terminal()
}

/// Returns whether standard error is shown in colour.
pub fn colours_errors() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never && io::stderr().is_terminal()
}

/// Treats a closed pipe as success: its reader needs no more output.
///
/// # Errors
/// All other errors of the output.
pub fn ignore_broken_pipe(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

fn print(out: &mut impl Write, text: &Printable) -> io::Result<()> {
    writeln!(out, "{}", safe(text.as_str()))
}
