//! Acceptance of connections: only from this user and root, with a limit, and not from silent peers.
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
use crate::peer::{self, Peer};

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

/// The way in which peers learn of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By a secret that only this user can read.
    Private,
    /// By a secret that may be on the command line of a process, where other users can read it.
    Public,
}

impl Way {
    /// Returns whether a peer is admitted.
    fn admits(self, peer: Peer) -> bool {
        match peer {
            Peer::Own | Peer::Untold => true,
            Peer::Foreign => false,
            // The peer has closed the connection, so its user is unknown. Its data can still be read, and may be from
            // another user who knows the secret.
            Peer::Closed => self == Self::Private,
        }
    }
}

/// Accepts connections forever, regardless of errors.
pub(crate) async fn accept<F>(listener: TcpListener, way: Way, serve: impl FnMut(TcpStream, Asked) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    accept_or_tell(listener, way, serve, |_| {}).await;
}

/// Does the same as [`accept`], and passes to `tell` each error that is due to missing resources of this machine.
pub(crate) async fn accept_or_tell<F>(
    listener: TcpListener,
    way: Way,
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
                // This check comes before any counting, so that connections of another user have no effect.
                if !way.admits(peer::of(&stream)) {
                    continue;
                }
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
        fault::spawn(accept(listener, Way::Public, |mut stream, asked| async move {
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

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn connection_closed_early_is_read_on_private_listener_only() {
        for (way, read) in [(Way::Private, vec![7]), (Way::Public, vec![9])] {
            let listener = listen().expect("a port");
            let address = listener.local_addr().expect("an address");
            let mut closed = TcpStream::connect(address).await.expect("a listener");
            closed.write_u8(7).await.expect("there is room");
            drop(closed);
            let mut open = TcpStream::connect(address).await.expect("a listener");
            open.write_u8(9).await.expect("there is room");
            let (sender, mut bytes) = tokio::sync::mpsc::unbounded_channel();
            fault::spawn(accept(listener, way, move |mut stream, _| {
                let sender = sender.clone();
                async move { sender.send(stream.read_u8().await.expect("a byte")).expect("a receiver") }
            }));
            for byte in read {
                assert_eq!(timeout(LIMIT, bytes.recv()).await.expect("in time"), Some(byte), "{way:?}");
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn connection_of_other_user_is_dropped_and_not_counted() {
        use std::io::Write as _;
        if !nix::unistd::geteuid().is_root() {
            // Written to standard error directly, so that the test runner does not capture it.
            _ = writeln!(std::io::stderr(), "SKIPPED: only root can connect as another user");
            return;
        }
        let address = echo();
        let script = format!(
            "for i in $(seq {}); do exec {{fd}}<>/dev/tcp/127.0.0.1/{} || exit 3; done
            printf x >&$fd; read -r -n 1 answer <&$fd; [ -z \"$answer\" ] && echo dropped; read -r stay",
            3 * MAX_CONNECTIONS,
            address.port()
        );
        let mut stranger = tokio::process::Command::new("bash");
        stranger.args(["-c", &script]).uid(65534).stdin(std::process::Stdio::piped());
        stranger.stdout(std::process::Stdio::piped()).kill_on_drop(true);
        let mut stranger = stranger.spawn().expect("bash");
        let mut output = [0; 7];
        let out = stranger.stdout.as_mut().expect("it is piped");
        timeout(LIMIT, out.read_exact(&mut output)).await.expect("in time").expect("it was dropped");
        assert_eq!(&output, b"dropped");
        assert!(answers(&mut TcpStream::connect(address).await.expect("a listener")).await);
    }
}
