//! Standard input and output as a server: a client starts a relay, which sends its lines here over loopback.
//!
//! Takes connections that begin with a word of the relay's file, gives responses line by line. Must not know methods or
//! tools.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use camino::Utf8Path;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::listeners::Router;
use super::outlet::{Frame, Framing, Outlet};
use super::relay_file::{MAX_WORD, WELCOME};
use super::server::{Incoming, Reply, ReplyContent, Server};
use crate::drive::accept::Asked;
use crate::drive::fault;
use crate::drive::fault::AbortOnDrop;
use crate::drive::kept_headers::Headers;
use crate::drive::process::lines::{LineEvent, Lines, MAX_LINE};
use crate::file;

/// The largest part of a relay's file that is read, in bytes.
const MAX_FILE: usize = 16 << 10;

/// Serves one relay until either side disconnects.
pub(super) async fn converse(stream: TcpStream, asked: &Asked, router: &Router) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut first = String::new();
    (&mut read).take(MAX_WORD).read_line(&mut first).await?;
    let Some(server) = router.by_relay_word(first.trim_end()) else { return Ok(()) };
    asked.mark();
    write.write_all(WELCOME).await?;
    let (lines, pump) = Lines::of(read);
    let _pump = AbortOnDrop::of(&pump);
    let (sender, frames) = mpsc::channel(16);
    let mut writing = std::pin::pin!(write_all(frames, write));
    tokio::select! {
        written = &mut writing => return written,
        () = listen(lines, sender, &server) => {}
    }
    writing.await
}

/// Writes frames until one of them ends the connection.
async fn write_all(mut frames: mpsc::Receiver<Frame>, mut write: OwnedWriteHalf) -> io::Result<()> {
    while let Some(frame) = frames.recv().await {
        write.write_all(&frame?).await?;
    }
    Ok(())
}

/// Answers each line.
async fn listen(mut lines: Lines, sender: mpsc::Sender<Frame>, server: &Arc<Server>) {
    let mut dialogs = JoinSet::new();
    let (mut session, process) = (None, server.mark_of_relay());
    loop {
        let event = tokio::select! {
            event = lines.next() => event,
            Some(_) = dialogs.join_next() => continue,
        };
        let reply = match event {
            LineEvent::Oversized if server.log.received_too_long(&[], MAX_LINE + 1, Headers::new()) => {
                Reply::unreadable("longer than is read", true)
            }
            LineEvent::Line(line) | LineEvent::Unended(line) => {
                let text = String::from_utf8_lossy(&line);
                let marks = server.lateness(&text).into_iter().chain(process.clone());
                if !server.log.received(&line, marks.collect()) {
                    break;
                }
                if std::str::from_utf8(&line).is_ok() {
                    server.answer(Incoming { text: &text, session: session.as_deref(), headers: None })
                } else {
                    Reply::unreadable("not UTF-8", false)
                }
            }
            LineEvent::Oversized | LineEvent::Eof => break,
        };
        let cut = reply.wrong.cut_after;
        let mut outlet =
            Outlet::new(Arc::clone(&server.log), sender.clone(), Framing::Line, cut, None).written(reply.wrong.written);
        session = reply.session.or(session);
        let preface = reply.wrong.preface;
        let talks = preface.asks() || matches!(reply.content, ReplyContent::Dialog(_));
        let sending = async move {
            preface.send(&mut outlet).await;
            match reply.content {
                ReplyContent::Message(text) => return outlet.send(text).await,
                ReplyContent::Dialog(dialog) => dialog.hold(outlet).await,
                ReplyContent::Nothing | ReplyContent::Unanswered { .. } => {}
            }
            Ok(())
        };
        if talks {
            dialogs.spawn(fault::reporting_panics(async { _ = sending.await }));
        } else if sending.await.is_err() {
            break;
        }
    }
}

/// Copies lines between this process's standard streams and the mock server that a file names.
///
/// # Errors
/// An error if the file is not one of a mock server, or if the connection breaks.
pub async fn relay(file: &Utf8Path) -> io::Result<()> {
    between(file, tokio::io::stdin(), tokio::io::stdout()).await
}

/// Copies lines until the server disconnects. The end of the input is passed on, after which the server may finish.
pub(super) async fn between(
    file: &Utf8Path,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let (mut read, mut write) = connect(file).await?;
    let up = async {
        tokio::io::copy(&mut input, &mut write).await?;
        write.shutdown().await?;
        std::future::pending::<io::Result<()>>().await
    };
    let down = async { tokio::io::copy(&mut read, &mut output).await.map(drop) };
    tokio::select! {
        broken = up => broken,
        done = down => done,
    }
}

/// Connects with the first unused word of a file, which contains an address on its first line and the words below.
async fn connect(file: &Utf8Path) -> io::Result<(OwnedReadHalf, OwnedWriteHalf)> {
    let unfit = || io::Error::new(io::ErrorKind::InvalidInput, "not the file of a mock server");
    let text = file::read_text(file, MAX_FILE)?;
    let (address, words) = text.split_once('\n').ok_or_else(unfit)?;
    let address: SocketAddr = address.parse().map_err(|_| unfit())?;
    if !address.ip().is_loopback() {
        return Err(unfit());
    }
    for word in words.lines() {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (mut read, mut write) = stream.into_split();
        write.write_all(format!("{word}\n").as_bytes()).await?;
        if read.read_exact(&mut [0; WELCOME.len()]).await.is_ok() {
            return Ok((read, write));
        }
    }
    Err(io::Error::new(
        io::ErrorKind::ConnectionRefused,
        "the mock server is gone, or was started too often in one test",
    ))
}
