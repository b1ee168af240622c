//! Acceptance of connections, with a limit on their number, and on their age without a request.
//!
//! Takes a listener, passes its connections to a function. Must not know the protocol of the connections.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;

use crate::drive::fault;

/// The number of open connections of a listener. Further ones wait, unless a silent one can be closed instead.
const MAX_CONNECTIONS: usize = 64;
/// Connections that may wait to be accepted. The system drops further ones, and their clients try again a second later.
const WAITING: u32 = 1024;
/// The longest time from a connection to its first request.
const SILENT: Duration = Duration::from_secs(30);
/// The pause after an error that is due to missing descriptors or memory.
const PAUSE: Duration = Duration::from_millis(50);

/// The mark of a connection on which a request arrived. A connection without it is closed after a while, or when there
/// are too many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked(Arc<AtomicBool>);

impl Asked {
    /// Records that a request arrived.
    pub(crate) fn mark(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_marked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns after [`SILENT`], unless a request arrives before.
    async fn stays_silent(&self) {
        sleep(SILENT).await;
        if self.is_marked() {
            std::future::pending::<()>().await;
        }
    }
}

/// Opens a listener that only this machine can reach.
pub(crate) fn listen() -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(WAITING)
}

/// Accepts connections forever, regardless of errors.
pub(crate) async fn accept<F>(listener: TcpListener, serve: impl FnMut(TcpStream, Asked) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    accept_or_tell(listener, serve, |_| {}).await;
}

/// Does the same as [`accept`], and passes to `tell` each error that is due to missing resources of this machine.
pub(crate) async fn accept_or_tell<F>(
    listener: TcpListener,
    mut serve: impl FnMut(TcpStream, Asked) -> F,
    mut tell: impl FnMut(Error),
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    // The connections without a request, the oldest first.
    let mut silent: VecDeque<(AbortHandle, Asked)> = VecDeque::new();
    loop {
        silent.retain(|(connection, asked)| !connection.is_finished() && !asked.is_marked());
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS || !silent.is_empty() => {
                let stream = match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) if is_of_one_connection(&error) => continue,
                    Err(error) => {
                        tell(error);
                        sleep(PAUSE).await;
                        continue;
                    }
                };
                if connections.len() >= MAX_CONNECTIONS
                    && let Some((oldest, _)) = silent.pop_front()
                {
                    oldest.abort();
                }
                _ = stream.set_nodelay(true);
                let asked = Asked::default();
                let serving = serve(stream, asked.clone());
                let watched = asked.clone();
                let connection = connections.spawn(fault::reporting_panics(async move {
                    tokio::select! {
                        () = serving => {}
                        () = watched.stays_silent() => {}
                    }
                }));
                silent.push_back((connection, asked));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Returns whether an error concerns the next connection, and not the listener.
fn is_of_one_connection(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::timeout;

    use super::*;

    /// The time limit of an answer.
    const LIMIT: Duration = Duration::from_secs(20);

    /// Starts a listener that sends each byte back.
    fn echo() -> std::net::SocketAddr {
        let listener = listen().expect("a port");
        let address = listener.local_addr().expect("an address");
        fault::spawn(accept(listener, |mut stream, asked| async move {
            while let Ok(byte) = stream.read_u8().await {
                asked.mark();
                _ = stream.write_u8(byte).await;
            }
        }));
        address
    }

    async fn answers(stream: &mut TcpStream) -> bool {
        let asking = async {
            stream.write_u8(7).await?;
            stream.read_u8().await
        };
        timeout(LIMIT, asking).await.expect("an answer, or an end").is_ok()
    }

    #[tokio::test]
    async fn silent_connections_make_room_for_active_ones() {
        let address = echo();
        let mut asking = TcpStream::connect(address).await.expect("a listener");
        assert!(answers(&mut asking).await);
        let mut silent = Vec::new();
        for _ in 0..3 * MAX_CONNECTIONS {
            silent.push(TcpStream::connect(address).await.expect("a listener"));
        }
        let mut another = TcpStream::connect(address).await.expect("a listener");
        assert!(answers(&mut another).await && answers(&mut asking).await);
        assert!(!answers(&mut silent[0]).await, "the oldest that was silent is closed");
    }

    #[tokio::test(start_paused = true)]
    async fn connection_without_request_is_closed_after_limit() {
        let address = echo();
        let mut silent = TcpStream::connect(address).await.expect("a listener");
        assert_eq!(silent.read(&mut [0]).await.expect("an end"), 0);
    }
}
