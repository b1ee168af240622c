//! A server for MCP over standard streams, or a socket in their place: one message per line.
//!
//! The module reads and writes lines. Tool calls run concurrently; everything else is processed in order.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::message::{Fault, LONGEST, Message, Request, success};
use crate::policy::{AtOnce, Event};
use crate::server::Server;
use crate::server::session::{Outgoing, Outlet, Session};

/// Returns the standard input. A pipe is read on this thread, which avoids waking another thread for each line.
pub(crate) fn input() -> Box<dyn AsyncRead + Unpin> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        use tokio::net::unix::pipe::Receiver;
        let pipe = io::stdin().as_fd().try_clone_to_owned().and_then(Receiver::from_owned_fd);
        if let Ok(pipe) = pipe {
            return Box::new(pipe);
        }
    }
    Box::new(tokio::io::stdin())
}

/// Returns the next line, cut if it is too long, or `None` at the end.
///
/// # Errors
/// The errors of reading.
pub(crate) async fn line(input: &mut (impl AsyncBufRead + Unpin), longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let limit = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    if (&mut *input).take(limit).read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > longest {
        skip_line(input).await?;
    }
    Ok(Some(line))
}

async fn skip_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    loop {
        let chunk = input.fill_buf().await?;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |end| end + 1);
        input.consume(taken);
        if taken == 0 || end.is_some() {
            return Ok(());
        }
    }
}

/// Connects to the harness. Returns a future that serves the connection until it ends.
///
/// # Errors
/// The errors of connecting.
pub(crate) async fn connect(port: u16, word: &str, server: Server) -> io::Result<impl Future<Output = ()> + use<>> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    stream.set_nodelay(true)?;
    stream.write_all(format!("{word}\n").as_bytes()).await?;
    let (read, write) = stream.into_split();
    Ok(serve(server, read, write))
}

/// Serves messages until the input ends.
pub(crate) async fn serve(server: Server, input: impl AsyncRead + Unpin, mut output: impl AsyncWrite + Unpin) {
    let (outlet, mut outgoing) = mpsc::unbounded_channel();
    let framing = server.fixture.policy.transport.framing;
    let writing = async move {
        while let Some(Outgoing::Message(text) | Outgoing::Reply(_, text)) = outgoing.recv().await {
            let line = format!("{}\n", framing(text));
            if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
                return;
            }
        }
    };
    let speaking = async move {
        let mut input = BufReader::with_capacity(64 << 10, input);
        let mut connection = Connection { server: Arc::new(server), session: None, calls: JoinSet::new() };
        while let Ok(Some(line)) = line(&mut input, LONGEST).await {
            connection.take(&line, &outlet).await;
        }
        if let Some(session) = &connection.session {
            session.end();
        }
        while connection.calls.join_next().await.is_some() {}
        if connection.server.fixture.policy.transport.outlives_input {
            std::future::pending::<()>().await;
        }
    };
    tokio::join!(speaking, writing);
}

struct Connection {
    server: Arc<Server>,
    /// The session. In the stateless lifecycle it only contains the calls that can be cancelled.
    session: Option<Arc<Session>>,
    calls: JoinSet<()>,
}

impl Connection {
    async fn take(&mut self, line: &[u8], outlet: &Outlet) {
        if line.len() > LONGEST {
            return send(outlet, self.server.refusal(&Value::Null, Fault::invalid_request("the message is too long")));
        }
        match self.server.read(line) {
            Ok(Message::Request(request)) => self.answer(request, outlet).await,
            Ok(Message::Notification { method, params }) => {
                if let Some(session) = &self.session {
                    self.server.notice(session, &method, params.as_ref());
                }
                let reply = self.server.fixture.policy.transport.notification_reply;
                if let Some(reply) = reply.filter(|_| method != "notifications/initialized") {
                    _ = outlet.send(Outgoing::Message(reply.to_owned()));
                }
            }
            Ok(Message::Response { id, outcome }) => {
                if let Some(session) = &self.session {
                    session.take(&id, outcome);
                }
            }
            Err(unread) => {
                let (id, fault) = *unread;
                send(outlet, self.server.refusal(&id, fault));
            }
        }
    }

    async fn answer(&mut self, request: Request, outlet: &Outlet) {
        let is_stateless = self.server.fixture.revision.is_stateless();
        if is_stateless && self.session.is_none() {
            self.session = Some(Arc::new(Session::default()));
        }
        let Some(session) = self.session.clone() else { return self.open(&request, outlet) };
        let (server, outlet, is_call) = (self.server.clone(), outlet.clone(), request.method == "tools/call");
        let work = async move {
            let work = async {
                if is_stateless {
                    server.answer(&request, &outlet).await
                } else {
                    server.answer_in(&session, &request, &outlet).await
                }
            };
            let outcome = session.unless_cancelled(&request.id, work).await;
            let late = || server.fixture.policy.transport.answers_cancelled.then(|| Err(Fault::params("cancelled")));
            if let Some(outcome) = outcome.or_else(late) {
                let (status, text) = server.reply(&request, &outcome);
                let is_crossed = server.fixture.policy.transport.calls_at_once == Some(AtOnce::Crossed);
                let text = if is_crossed { server.met(&request, text, &outlet).await } else { text };
                send(&outlet, (status, text));
            }
        };
        if is_call {
            self.calls.spawn(work);
        } else {
            work.await;
        }
    }

    /// Processes the first request of a stateful connection.
    fn open(&mut self, request: &Request, outlet: &Outlet) {
        let outcome = match request.method.as_str() {
            "initialize" if self.server.recalls(Event::Probed) => {
                Err(Fault::invalid_request("an earlier request was no handshake"))
            }
            "initialize" => self.server.initialize(request).map(|(session, result)| {
                self.session = Some(Arc::new(session));
                result
            }),
            "ping" => Ok(success(&json!({}))),
            _ => {
                self.server.note(Event::Probed);
                Err(Fault::invalid_request("the connection is not initialized"))
            }
        };
        send(outlet, self.server.reply(request, &outcome));
    }
}

fn send(outlet: &Outlet, (status, text): (u16, String)) {
    let _writer_gone = outlet.send(Outgoing::Reply(status, text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn too_long_line_is_cut_and_the_next_one_is_complete() {
        let mut input = &b"abcdef\ngh\n\nij"[..];
        let mut lines = Vec::new();
        while let Some(line) = line(&mut input, 4).await.expect("memory can be read") {
            lines.push(String::from_utf8(line).expect("UTF-8"));
        }
        assert_eq!(lines, ["abcde", "gh", "", "ij"]);
    }
}
