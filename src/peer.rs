//! Finds the user at the other end of a connection on this machine.
//!
//! Takes a connection, gives a [`Peer`]. Must not know the messages on it.

use tokio::net::TcpStream;

/// The user at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux knows the user"))]
pub(crate) enum Peer {
    /// This user, or root.
    Own,
    /// Another user.
    Foreign,
    /// Unknown, because the other end was closed before casebook asked the system.
    Closed,
    /// Unknown on this system.
    Untold,
}

/// Returns the user at the other end of a connection.
#[cfg(target_os = "linux")]
pub(crate) fn of(stream: &TcpStream) -> Peer {
    diag::peer(stream).unwrap_or(Peer::Untold)
}

/// Returns [`Peer::Untold`], because this system does not provide the user.
#[cfg(not(target_os = "linux"))]
pub(crate) fn of(_: &TcpStream) -> Peer {
    Peer::Untold
}

/// Looks up one socket by its addresses with `sock_diag(7)`. `/proc/net/tcp` has the same data, but it lists all sockets
/// of the machine, which can take longer than a test.
#[cfg(target_os = "linux")]
mod diag {
    use std::io::Read as _;
    use std::net::{SocketAddr, SocketAddrV4};

    use socket2::{Domain, Protocol, Socket, Type};
    use tokio::net::TcpStream;

    use super::Peer;

    const NETLINK: i32 = nix::libc::AF_NETLINK;
    const SOCK_DIAG: i32 = nix::libc::NETLINK_SOCK_DIAG;
    /// `SOCK_DIAG_BY_FAMILY`: the type of the request, and of an answer without an error.
    const BY_FAMILY: u16 = 20;
    const REQUEST: u16 = 1;
    /// `struct nlmsghdr`.
    const HEADER: usize = 16;
    /// `struct inet_diag_req_v2`.
    const QUESTION: usize = 56;
    /// The offsets of the user and the inode in `struct inet_diag_msg`.
    const USER: usize = HEADER + 64;
    const INODE: usize = HEADER + 68;

    /// Returns the user who opened the other end; `None` if the system does not find the socket.
    pub(super) fn peer(stream: &TcpStream) -> Option<Peer> {
        let (SocketAddr::V4(own), SocketAddr::V4(peer)) = (stream.local_addr().ok()?, stream.peer_addr().ok()?) else {
            return None;
        };
        // If the system finds only this end, the other end was closed.
        owner(peer, own).or_else(|| owner(own, peer).map(|_| Peer::Closed))
    }

    /// Returns the user of the socket that is bound to `own` and connected to `other`; `None` if the system finds none.
    fn owner(own: SocketAddrV4, other: SocketAddrV4) -> Option<Peer> {
        let socket = Socket::new(Domain::from(NETLINK), Type::DGRAM, Some(Protocol::from(SOCK_DIAG))).ok()?;
        socket.set_nonblocking(true).ok()?;
        socket.send(&question(own, other)).ok()?;
        let mut answer = [0; 1 << 10];
        // The answer of the kernel is there when `send` returns.
        let length = (&socket).read(&mut answer).ok()?;
        read(&answer[..length])
    }

    /// Builds the request for the socket that is bound to `own` and connected to `other`. Numbers have the byte order of the
    /// machine, addresses that of the network.
    fn question(own: SocketAddrV4, other: SocketAddrV4) -> Vec<u8> {
        let length = u32::try_from(HEADER + QUESTION).expect("it is short");
        let mut bytes = Vec::with_capacity(HEADER + QUESTION);
        bytes.extend(length.to_ne_bytes());
        bytes.extend([BY_FAMILY, REQUEST].map(u16::to_ne_bytes).concat());
        bytes.extend([0; 8]);
        let family = u8::try_from(nix::libc::AF_INET).expect("a family is a byte");
        let protocol = u8::try_from(nix::libc::IPPROTO_TCP).expect("a protocol is a byte");
        bytes.extend([family, protocol, 0, 0]);
        // All states.
        bytes.extend(u32::MAX.to_ne_bytes());
        bytes.extend([own.port(), other.port()].map(u16::to_be_bytes).concat());
        for address in [own, other] {
            bytes.extend(address.ip().octets());
            bytes.extend([0; 12]);
        }
        // Any interface and any cookie.
        bytes.extend([0; 4]);
        bytes.extend([0xff; 8]);
        bytes
    }

    fn read(answer: &[u8]) -> Option<Peer> {
        let number = |place: usize| Some(u32::from_ne_bytes(answer.get(place..place + 4)?.try_into().ok()?));
        if u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?) != BY_FAMILY {
            return None;
        }
        let (user, inode) = (number(USER)?, number(INODE)?);
        let is_ours = user == 0 || user == nix::unistd::geteuid().as_raw();
        // A socket without an inode was closed; the kernel reports root as its user.
        Some(match inode {
            0 => Peer::Closed,
            _ if is_ours => Peer::Own,
            _ => Peer::Foreign,
        })
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn user_of_an_open_connection_is_known() {
        use tokio::net::{TcpListener, TcpStream};
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let accepted = accepted.expect("a connection").0;
        assert_eq!(super::of(&accepted), super::Peer::Own);
        drop(client);
        assert_eq!(super::of(&accepted), super::Peer::Closed, "the kernel reports root");
    }
}
