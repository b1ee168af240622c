//! The content encoding of a reply that passes by, decoded so that its record can be read.
//!
//! Takes the encoded bytes as they arrive, gives the decoded ones in parts of bounded length. Must not know their
//! meaning.

use std::io::Write;

use flate2::write::{GzDecoder, ZlibDecoder};

/// The number of encoded bytes that are decoded at once. They become at most about a thousand times as many.
const PART: usize = 4 << 10;

/// The content encoding of a body.
#[derive(Debug)]
pub(super) enum Encoding {
    /// The bytes are as they are.
    None,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
    /// An encoding that casebook does not decode, or a body that is not encoded as its header says.
    Unknown,
}

impl Encoding {
    /// The encoding that a header names.
    pub(super) fn of(header: &[u8]) -> Self {
        match header.trim_ascii().to_ascii_lowercase().as_slice() {
            b"identity" | b"" => Self::None,
            b"gzip" | b"x-gzip" => Self::Gzip(Box::new(GzDecoder::new(Vec::new()))),
            b"deflate" => Self::Deflate(Box::new(ZlibDecoder::new(Vec::new()))),
            _ => Self::Unknown,
        }
    }

    /// Returns whether the bytes cannot be decoded.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Decodes the next bytes, and passes on all that they make readable.
    pub(super) fn decode(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        for part in bytes.chunks(PART) {
            let decoded = match self {
                Self::None | Self::Unknown => {
                    take(part);
                    continue;
                }
                Self::Gzip(decoder) => {
                    let written = decoder.write_all(part).and_then(|()| decoder.flush());
                    written.map(|()| std::mem::take(decoder.get_mut()))
                }
                Self::Deflate(decoder) => {
                    let written = decoder.write_all(part).and_then(|()| decoder.flush());
                    written.map(|()| std::mem::take(decoder.get_mut()))
                }
            };
            match decoded {
                Ok(decoded) => take(&decoded),
                Err(_) => *self = Self::Unknown,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    fn decoded(name: &str, parts: &[&[u8]]) -> (Vec<u8>, bool) {
        let (mut encoding, mut all) = (Encoding::of(name.as_bytes()), Vec::new());
        for part in parts {
            encoding.decode(part, |bytes| all.extend_from_slice(bytes));
        }
        (all, encoding.is_unknown())
    }

    #[test]
    fn encoded_bytes_are_readable_as_soon_as_they_arrive() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(b"data: 1\n\n").and_then(|()| gzip.flush()).expect("encoded");
        let first = std::mem::take(gzip.get_mut());
        assert_eq!(decoded("gzip", &[&first]), (b"data: 1\n\n".to_vec(), false));
        gzip.write_all(b"data: 2\n\n").expect("encoded");
        let rest = gzip.finish().expect("encoded");
        assert_eq!(decoded("GZIP", &[&first, &rest]).0, b"data: 1\n\ndata: 2\n\n");
        let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(b"{}").expect("encoded");
        assert_eq!(decoded("deflate", &[&deflate.finish().expect("encoded")]), (b"{}".to_vec(), false));
    }

    #[test]
    fn bytes_that_cannot_be_decoded_are_marked() {
        assert_eq!(decoded("identity", &[b"{}"]), (b"{}".to_vec(), false));
        for name in ["br", "zstd", "gzip, br", "gzip", "deflate"] {
            assert!(decoded(name, &[b"{\"id\":1,\"result\":{}}"]).1, "{name}");
        }
    }
}
