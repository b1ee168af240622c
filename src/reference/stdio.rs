//! MCP over stdin and stdout: one message a line.
//!
//! Takes lines, gives lines. Tool calls run side by side; everything else is answered in order.

use std::io::{self, BufRead, Read as _, Write as _};
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::distort;
use super::message::{Fault, Message, Request, Success, success};
use super::server::Server;
use super::session::{Outgoing, Outlet, Session};

/// The longest line that is read.
pub(super) const LONGEST: usize = 16 << 20;

/// Lines of stdin, as they come; one that is too long is cut.
pub(super) fn lines(longest: usize) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(16);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = line(&mut input, longest)
            && sender.blocking_send(line).is_ok()
        {}
    });
    receiver
}

fn line(input: &mut impl BufRead, longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let limit = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > longest {
        input.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

/// Speaks until stdin ends.
pub(super) async fn serve(server: Server) {
    let (outlet, mut outgoing) = mpsc::unbounded_channel();
    let mutant = server.fixture.mutant;
    let writer = thread::spawn(move || {
        let mut output = io::stdout().lock();
        while let Some(Outgoing::Message(text) | Outgoing::Reply(_, text)) = outgoing.blocking_recv() {
            if writeln!(output, "{}", distort::written(text, mutant)).and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    });
    let mut connection = Connection { server: Arc::new(server), session: None, calls: JoinSet::new() };
    let mut lines = lines(LONGEST);
    while let Some(line) = lines.recv().await {
        connection.take(&line, &outlet).await;
    }
    if let Some(session) = &connection.session {
        session.end();
    }
    while connection.calls.join_next().await.is_some() {}
    drop(outlet);
    let _wrote_all = tokio::task::spawn_blocking(|| writer.join()).await;
}

struct Connection {
    server: Arc<Server>,
    /// What is remembered; in the stateless lifecycle only which calls can still be cancelled.
    session: Option<Arc<Session>>,
    calls: JoinSet<()>,
}

impl Connection {
    async fn take(&mut self, line: &[u8], outlet: &Outlet) {
        if line.len() > LONGEST {
            return self.send(outlet, &Value::Null, &Err(Fault::invalid_request("the message is too long")));
        }
        match self.server.read(line) {
            Ok(Message::Request(request)) => self.answer(request, outlet).await,
            Ok(Message::Notification { method, params }) => {
                if let Some(session) = &self.session {
                    session.notice(&method, params.as_ref());
                }
            }
            Ok(Message::Response { id, outcome }) => {
                if let Some(session) = &self.session {
                    session.take(&id, outcome);
                }
            }
            Err(unread) => {
                let (id, fault) = *unread;
                self.send(outlet, &id, &Err(fault));
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
                    server.answer(&request).await
                } else {
                    server.answer_in(&session, &request, &outlet).await
                }
            };
            if let Some(outcome) = session.unless_cancelled(&request.id, work).await {
                send(&server, &outlet, &request.id, &outcome);
            }
        };
        if is_call {
            self.calls.spawn(work);
        } else {
            work.await;
        }
    }

    /// The first request of a stateful connection.
    fn open(&mut self, request: &Request, outlet: &Outlet) {
        let outcome = match request.method.as_str() {
            "initialize" => self.server.initialize(request).map(|(session, result)| {
                self.session = Some(Arc::new(session));
                result
            }),
            "ping" => Ok(success(&json!({}))),
            _ => Err(Fault::invalid_request("the connection is not initialized")),
        };
        self.send(outlet, &request.id, &outcome);
    }

    fn send(&self, outlet: &Outlet, id: &Value, outcome: &Result<Success, Fault>) {
        send(&self.server, outlet, id, outcome);
    }
}

fn send(server: &Server, outlet: &Outlet, id: &Value, outcome: &Result<Success, Fault>) {
    let status = outcome.as_ref().err().map_or(200, |fault| fault.status);
    let _writer_gone = outlet.send(Outgoing::Reply(status, server.reply(id, outcome)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_cut_and_the_next_one_is_whole() {
        let mut input = &b"abcdef\ngh\n\nij"[..];
        let mut next = || line(&mut input, 4).expect("memory can be read");
        assert_eq!(next(), Some(b"abcde".to_vec()));
        assert_eq!(next(), Some(b"gh".to_vec()));
        assert_eq!(next(), Some(b"".to_vec()));
        assert_eq!(next(), Some(b"ij".to_vec()));
        assert_eq!(next(), None);
    }
}
