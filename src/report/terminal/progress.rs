//! A progress bar on standard error, if that is a terminal.
//!
//! Takes names, shows the last one and their number. Must not know what is counted.

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar of `whole` steps.
    pub fn new(whole: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}").expect("the template is right");
        Self(ProgressBar::new(whole as u64).with_style(style.progress_chars("━╸ ")))
    }

    /// Counts one step, and shows its name.
    pub fn on(&self, name: &str) {
        self.0.inc(1);
        self.0.set_message(name.to_owned());
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
