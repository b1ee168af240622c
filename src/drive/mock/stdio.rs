//! Standard input and output as a server: a client starts the relay, and the relay's lines come here over loopback.
//!
//! Takes connections that begin with the token, gives answers line by line. Must not know methods or tools.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Leash;
use super::listeners::Router;
use super::log::Headers;
use super::outlet::{Frame, Framing, Outlet};
use super::server::{Incoming, Reply, Said, Server};
use crate::drive::fault;
use crate::drive::lines::{LineEvent, Lines, MAX_LINE};

/// The longest line that can be a token.
const MAX_TOKEN: u64 = 256;

/// Speaks with one relay until either side ends it.
pub(super) async fn converse(stream: TcpStream, router: &Router) -> io::Result<()> {
    let (read, write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut first = String::new();
    (&mut read).take(MAX_TOKEN).read_line(&mut first).await?;
    let Some(server) = router.server(first.trim_end()) else { return Ok(()) };
    let (lines, pump) = Lines::of(read);
    let _pump = Leash::of(&pump);
    let (sender, frames) = mpsc::channel(16);
    let mut writing = std::pin::pin!(write_all(frames, write));
    tokio::select! {
        written = &mut writing => return written,
        () = listen(lines, sender, &server) => {}
    }
    writing.await
}

/// Writes frames until one of them breaks the connection.
async fn write_all(mut frames: mpsc::Receiver<Frame>, mut write: OwnedWriteHalf) -> io::Result<()> {
    while let Some(frame) = frames.recv().await {
        write.write_all(&frame?).await?;
    }
    Ok(())
}

/// Answers line by line, as long as there are lines.
async fn listen(mut lines: Lines, sender: mpsc::Sender<Frame>, server: &Arc<Server>) {
    let mut dialogs = JoinSet::new();
    let mut session = None;
    loop {
        let event = tokio::select! {
            event = lines.next() => event,
            Some(_) = dialogs.join_next() => continue,
        };
        let reply = match event {
            LineEvent::Oversized if server.log.came_too_long(&[], MAX_LINE + 1, Headers::new()) => {
                Reply::unreadable("longer than is read", true)
            }
            LineEvent::Line(line) => {
                let text = String::from_utf8_lossy(&line);
                if !server.log.came(&line, Headers::new()) {
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
        let mut outlet = Outlet::new(Arc::clone(&server.log), sender.clone(), Framing::Line, cut, None);
        session = reply.session.or(session);
        match reply.said {
            Said::Nothing => {}
            Said::Message(text) => {
                if outlet.send(text).await.is_err() {
                    break;
                }
            }
            Said::Dialog(dialog) => drop(dialogs.spawn(fault::told(dialog.hold(outlet)))),
        }
    }
}

/// The other end: copies lines between this process's standard streams and the mock server at an address.
///
/// # Errors
/// Where the address is none of a mock server's, or the connection breaks.
pub async fn relay(address: &str) -> io::Result<()> {
    between(address, tokio::io::stdin(), tokio::io::stdout()).await
}

/// Copies until the server closes; when the input ends, the server is told and may finish.
pub(super) async fn between(
    address: &str,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let unfit = || io::Error::new(io::ErrorKind::InvalidInput, "not the address of a mock server");
    let (socket, token) = address.split_once('/').ok_or_else(unfit)?;
    let socket: SocketAddr = socket.parse().map_err(|_| unfit())?;
    if !socket.ip().is_loopback() {
        return Err(unfit());
    }
    let stream = TcpStream::connect(socket).await?;
    stream.set_nodelay(true)?;
    let (mut read, mut write) = stream.into_split();
    write.write_all(format!("{token}\n").as_bytes()).await?;
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
