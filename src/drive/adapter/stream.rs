//! Loopback streams, which an adapter connects in place of the standard streams of a stdio server.
//!
//! Takes connections that begin with an expected word, gives the streams. Must not know the protocol of the streams.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::oneshot;

use crate::drive::accept::{Asked, accept_or_tell, listen};
use crate::drive::fault;
use crate::drive::fault::AbortOnDrop;
use crate::drive::process::lines::Lines;
use crate::drive::token::token;

/// The longest line that can be a word.
const MAX_WORD: u64 = 256;

/// The listener to which an adapter connects. It is opened when the first stream is expected.
#[derive(Debug, Default)]
pub(crate) struct Streams(Option<Listener>);

#[derive(Debug)]
struct Listener {
    port: u16,
    expected: Expected,
    _accepting: AbortOnDrop,
}

/// The word of the next expected stream, and the channel for the stream or for the error of accepting it.
type Expected = Arc<Mutex<Option<(String, oneshot::Sender<io::Result<Stream>>)>>>;

/// The address of a stream. The adapter sends the word first, in a line of its own.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) port: u16,
    pub(crate) word: String,
}

/// An expected stream. Dropping it does not close the listener.
#[derive(Debug)]
pub(crate) struct Awaited {
    pub(crate) place: Place,
    coming: oneshot::Receiver<io::Result<Stream>>,
}

/// A connection that carries a server's standard input and output.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The server's standard input.
    pub(crate) input: OwnedWriteHalf,
    /// The lines of the server's standard output.
    pub(crate) output: Lines,
    /// The task that reads the lines.
    pub(crate) reading: AbortOnDrop,
}

impl Streams {
    /// Expects a stream with an unguessable word.
    ///
    /// # Errors
    /// Errors of opening a port.
    pub(crate) fn expect(&mut self) -> io::Result<Awaited> {
        let listener = match &self.0 {
            Some(listener) => listener,
            None => self.0.insert(Listener::open()?),
        };
        let (sender, coming) = oneshot::channel();
        let word = token();
        *listener.expected.lock().unwrap_or_else(PoisonError::into_inner) = Some((word.clone(), sender));
        Ok(Awaited { place: Place { port: listener.port, word }, coming })
    }
}

impl Listener {
    fn open() -> io::Result<Self> {
        let listener = listen()?;
        let port = listener.local_addr()?.port();
        let expected = Expected::default();
        let (taking, telling) = (Arc::clone(&expected), Arc::clone(&expected));
        let take = move |stream, asked: Asked| {
            let expected = Arc::clone(&taking);
            async move { _ = take(stream, &asked, &expected).await }
        };
        let tell = move |error| {
            if let Some((_, sender)) = telling.lock().unwrap_or_else(PoisonError::into_inner).take() {
                // An error means that no stream is expected any more.
                _ = sender.send(Err(error));
            }
        };
        let accepting = fault::spawn(accept_or_tell(listener, take, tell));
        Ok(Self { port, expected, _accepting: AbortOnDrop::of(&accepting) })
    }
}

impl Awaited {
    /// Waits for the stream; returns `None` if another stream is expected by now.
    pub(crate) async fn wait(self) -> Option<io::Result<Stream>> {
        self.coming.await.ok()
    }
}

/// Reads the word of a connection, and passes the connection on if the word is expected.
async fn take(stream: TcpStream, asked: &Asked, expected: &Expected) -> io::Result<()> {
    let (read, input) = stream.into_split();
    let mut output = BufReader::with_capacity(64 << 10, read);
    let mut word = String::new();
    (&mut output).take(MAX_WORD).read_line(&mut word).await?;
    let mut expected = expected.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, sender)) = expected.take_if(|(wanted, _)| word.strip_suffix('\n') == Some(wanted)) {
        asked.mark();
        let (output, reading) = Lines::of(output);
        // An error means that the stream is no longer expected; the connection is then closed.
        _ = sender.send(Ok(Stream { input, output, reading: AbortOnDrop::of(&reading) }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::drive::process::lines::LineEvent;

    async fn connect(port: u16, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a listener");
        stream.write_all(text.as_bytes()).await.expect("written");
        stream
    }

    #[tokio::test]
    async fn stream_with_expected_word_is_delivered_with_later_lines() {
        let mut streams = Streams::default();
        let awaited = streams.expect().expect("a port");
        let (port, word) = (awaited.place.port, awaited.place.word.clone());
        let _peer = connect(port, &format!("{word}\nfirst\n")).await;
        let mut stream = awaited.wait().await.expect("it is expected").expect("a stream");
        assert_eq!(stream.output.next().await, LineEvent::Line(b"first".to_vec()));
        // Each word is valid for one connection.
        let mut late = connect(port, &format!("{word}\n")).await;
        assert_eq!(late.read(&mut [0]).await.expect("an end"), 0);
    }

    #[tokio::test]
    async fn stream_with_another_word_is_closed() {
        let mut streams = Streams::default();
        let awaited = streams.expect().expect("a port");
        for wrong in
            ["\n".to_owned(), "guess\n".to_owned(), "x".repeat(1000), awaited.place.word[1..].to_owned() + "\n"]
        {
            let mut stranger = connect(awaited.place.port, &wrong).await;
            // A connection that is closed with unread input is reset.
            assert_eq!(stranger.read(&mut [0]).await.unwrap_or_default(), 0, "{wrong}");
        }
        let _peer = connect(awaited.place.port, &format!("{}\n", awaited.place.word)).await;
        assert!(awaited.wait().await.is_some());
    }
}
