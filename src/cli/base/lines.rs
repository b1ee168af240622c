//! Lines about targets on standard error.

use crate::model::text::count;
use crate::report::Untrusted;
use crate::report::terminal::eprint_line;

/// The most characters of a line of a setup command that are shown.
const LINE: usize = 1000;

/// Prints lines about targets.
pub(in crate::cli) fn print_all(lines: &[String]) {
    for line in lines {
        eprint_line(&Untrusted(line).line(LINE));
    }
}

/// Prints the number of tests that were run again after a time-out.
pub(in crate::cli) fn print_repeated(tests: usize) {
    if tests > 0 {
        let tests = count(tests, "test");
        eprint_line(&format!("{tests} timed out and ran once more, alone; the second result counts"));
    }
}
