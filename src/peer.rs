//! The user at the other end of a connection on this machine, as far as the system tells.
//!
//! Takes a connection, gives whose it is. Must not know what is said on it.

use tokio::net::TcpStream;

/// The user at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "other systems don't tell"))]
pub(crate) enum Peer {
    /// This user, or root.
    Own,
    /// Another user.
    Foreign,
    /// Closed its end before the system was asked, and so could be anybody.
    Closed,
    /// Not told by the system.
    Untold,
}

/// The user at the other end of a connection.
#[cfg(target_os = "linux")]
pub(crate) fn of(stream: &TcpStream) -> Peer {
    diag::peer(stream).unwrap_or(Peer::Untold)
}

/// The system doesn't tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn of(_: &TcpStream) -> Peer {
    Peer::Untold
}

/// `sock_diag(7)`: one socket by its addresses. `/proc/net/tcp` has the same, but lists all sockets of the machine, which
/// can take longer than a whole test.
#[cfg(target_os = "linux")]
mod diag {
    use std::io::Read as _;
    use std::net::{SocketAddr, SocketAddrV4};

    use socket2::{Domain, Protocol, Socket, Type};
    use tokio::net::TcpStream;

    use super::Peer;

    const NETLINK: i32 = nix::libc::AF_NETLINK;
    const SOCK_DIAG: i32 = nix::libc::NETLINK_SOCK_DIAG;
    /// `SOCK_DIAG_BY_FAMILY`: the type of the request, and of an answer that is no error.
    const BY_FAMILY: u16 = 20;
    const REQUEST: u16 = 1;
    /// `struct nlmsghdr`.
    const HEADER: usize = 16;
    /// `struct inet_diag_req_v2`.
    const QUESTION: usize = 56;
    /// The places of the user and the inode in `struct inet_diag_msg`.
    const USER: usize = HEADER + 64;
    const INODE: usize = HEADER + 68;

    /// The user who opened the other end; `None` where the system doesn't tell.
    pub(super) fn peer(stream: &TcpStream) -> Option<Peer> {
        let (SocketAddr::V4(own), SocketAddr::V4(peer)) = (stream.local_addr().ok()?, stream.peer_addr().ok()?) else {
            return None;
        };
        // Where this end is found, and the other one isn't, that one is gone for good.
        owner(peer, own).or_else(|| owner(own, peer).map(|_| Peer::Closed))
    }

    /// The user of the socket that is bound to `own` and connected to `other`; `None` where the system finds none.
    fn owner(own: SocketAddrV4, other: SocketAddrV4) -> Option<Peer> {
        let socket = Socket::new(Domain::from(NETLINK), Type::DGRAM, Some(Protocol::from(SOCK_DIAG))).ok()?;
        socket.set_nonblocking(true).ok()?;
        socket.send(&question(own, other)).ok()?;
        let mut answer = [0; 1 << 10];
        // The kernel has answered before `send` returns.
        let length = (&socket).read(&mut answer).ok()?;
        read(&answer[..length])
    }

    /// Asks for the socket that is bound to `own` and connected to `other`. Numbers are as the machine has them,
    /// addresses
    /// as the network has them.
    fn question(own: SocketAddrV4, other: SocketAddrV4) -> Vec<u8> {
        let length = u32::try_from(HEADER + QUESTION).expect("it is short");
        let mut bytes = Vec::with_capacity(HEADER + QUESTION);
        bytes.extend(length.to_ne_bytes());
        bytes.extend([BY_FAMILY, REQUEST].map(u16::to_ne_bytes).concat());
        bytes.extend([0; 8]);
        let family = u8::try_from(nix::libc::AF_INET).expect("a family is a byte");
        let protocol = u8::try_from(nix::libc::IPPROTO_TCP).expect("a protocol is a byte");
        bytes.extend([family, protocol, 0, 0]);
        // In whichever state it is.
        bytes.extend(u32::MAX.to_ne_bytes());
        bytes.extend([own.port(), other.port()].map(u16::to_be_bytes).concat());
        for address in [own, other] {
            bytes.extend(address.ip().octets());
            bytes.extend([0; 12]);
        }
        // On any interface, with any cookie.
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
        // What has no inode was closed, and its user is told as root.
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
    async fn the_user_of_an_open_connection_is_known() {
        use tokio::net::{TcpListener, TcpStream};
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let accepted = accepted.expect("a connection").0;
        assert_eq!(super::of(&accepted), super::Peer::Own);
        drop(client);
        assert_eq!(super::of(&accepted), super::Peer::Closed, "the system tells it as root's");
    }
}
