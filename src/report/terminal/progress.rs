//! One line on standard error that says how far something has come, where that is a terminal.
//!
//! Takes names, shows the last one. Must not know what is counted.

use indicatif::{ProgressBar, ProgressStyle};

/// A line that counts.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Counts up to this many.
    pub fn new(whole: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}").expect("the template is right");
        Self(ProgressBar::new(whole as u64).with_style(style.progress_chars("━╸ ")))
    }

    /// One more, of this name.
    pub fn on(&self, name: &str) {
        self.0.inc(1);
        self.0.set_message(name.to_owned());
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
