//! A bug of our own, kept to the test in which it shows.
//!
//! Takes work that may panic, gives its result, or the panic's words. Must not know what the work is.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt as _;

/// Does something. What it had in hand when it panicked has to be thrown away.
///
/// # Errors
/// The panic's words; the panic itself has been printed by then.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| words(&*panic))
}

/// The same, for work that waits.
///
/// # Errors
/// As [`caught`].
pub(crate) async fn caught_in<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| words(&*panic))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_its_words() {
        let late = async {
            tokio::task::yield_now().await;
            assert_eq!(1, 2, "one is not two");
        };
        assert!(caught_in(late).await.is_err_and(|words| words.contains("one is not two")));
        assert_eq!(caught(|| -> () { panic!("at once") }), Err("at once".to_owned()));
        assert_eq!((caught(|| 7), caught_in(async { 8 }).await), (Ok(7), Ok(8)));
        assert_eq!(caught(|| std::panic::panic_any(7)).err().as_deref(), Some("a panic without words"));
    }
}
