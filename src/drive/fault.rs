//! Containment of panics: a panic in casebook fails one test, not the run.
//!
//! Takes work that may panic, gives its result or the panic message. The message of a background task goes to the
//! worker of the current test. Must not know what the work is.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};

tokio::task_local! {
    static BUGS: Bugs;
}

/// The first panic message of the tasks beside a test. Without it, such a panic would look like a failure of the
/// target.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bugs(Arc<watch::Sender<Option<String>>>);

impl Bugs {
    /// Runs work. The panics of tasks that it spawns are reported here.
    pub(crate) fn scope<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        BUGS.scope(self.clone(), work)
    }

    /// Takes the message of a panic, if there is one.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.send_replace(None)
    }

    /// Waits for a panic, and leaves its message to be taken.
    pub(crate) async fn wait(&self) {
        let mut receiver = self.0.subscribe();
        receiver.wait_for(Option::is_some).await.expect("this sender is alive");
    }
}

/// Spawns a task that works in the background of a test.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(reporting_panics(work))
}

/// Aborts a task when dropped.
#[derive(Debug)]
pub(crate) struct AbortOnDrop(AbortHandle);

impl AbortOnDrop {
    /// Aborts the given task when this value is dropped.
    pub(crate) fn of<T>(task: &JoinHandle<T>) -> Self {
        Self(task.abort_handle())
    }
}

impl std::ops::Deref for AbortOnDrop {
    type Target = AbortHandle;

    fn deref(&self) -> &AbortHandle {
        &self.0
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Wraps the work of a task so that its panic is reported.
pub(crate) fn reporting_panics<F: Future<Output = ()>>(work: F) -> impl Future<Output = ()> + use<F> {
    let bugs = BUGS.try_with(Bugs::clone).unwrap_or_default();
    async move {
        if let Err(words) = caught_in(bugs.scope(work)).await {
            bugs.0.send_modify(|first| _ = first.get_or_insert(words));
        }
    }
}

/// Reports a failure of casebook or of this machine, so that the test becomes an error instead of a failure of the
/// target.
pub(crate) fn report(words: String) {
    let bugs = BUGS.try_with(Bugs::clone).unwrap_or_default();
    bugs.0.send_modify(|first| _ = first.get_or_insert(words));
}

/// Returns whether an error is due to missing descriptors, processes, memory or disk space of this machine.
pub(crate) fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{OutOfMemory, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    #[cfg(unix)]
    if let Some(code) = error.raw_os_error() {
        use nix::errno::Errno;
        return matches!(
            Errno::from_raw(code),
            Errno::EMFILE
                | Errno::ENFILE
                | Errno::EAGAIN
                | Errno::ENOMEM
                | Errno::ENOBUFS
                | Errno::ENOSPC
                | Errno::EDQUOT
                | Errno::EROFS
                | Errno::EFBIG
                | Errno::EADDRNOTAVAIL
        );
    }
    matches!(error.kind(), OutOfMemory | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
}

/// Panics on a marked text, in tests of casebook itself.
#[cfg(test)]
pub(crate) fn trip(text: &str) {
    assert!(!text.contains("please-panic"), "tripped over {text}");
}

/// Does nothing outside of casebook's own tests.
#[cfg(not(test))]
pub(crate) fn trip(_: &str) {}

/// Runs work. Values that it used must not be used again after a panic.
///
/// # Errors
/// The panic message. The panic itself has already been printed.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| words(&*panic))
}

/// Does the same as [`caught`] for asynchronous work.
///
/// # Errors
/// The same as those of [`caught`].
pub(crate) async fn caught_in<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| words(&*panic))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panic_of_task_is_reported_to_its_own_scope_only() {
        let (ours, others) = (Bugs::default(), Bugs::default());
        let inner = async { panic!("deep inside") };
        ours.scope(async { spawn(async { spawn(inner).await.expect("it was caught") }).await.expect("caught") }).await;
        ours.wait().await;
        assert_eq!((ours.take().as_deref(), ours.take(), others.take()), (Some("deep inside"), None, None));
    }

    #[tokio::test]
    async fn panic_becomes_its_message() {
        let late = async {
            tokio::task::yield_now().await;
            assert_eq!(1, 2, "one is not two");
        };
        assert!(caught_in(late).await.is_err_and(|words| words.contains("one is not two")));
        assert_eq!(caught(|| -> () { panic!("at once") }), Err("at once".to_owned()));
        assert_eq!((caught(|| 7), caught_in(async { 8 }).await), (Ok(7), Ok(8)));
        assert_eq!(caught(|| std::panic::panic_any(7)).err().as_deref(), Some("a panic without a message"));
    }
}
