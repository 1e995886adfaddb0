//! Bodies of HTTP/1.1 as they come in pieces: RFC 9112, sections 6 and 7.

use std::io;

/// Trailers may be so long.
const MAX_TRAILER_BYTES: usize = 64 << 10;
/// A chunk's size and its extensions.
const MAX_SIZE_LINE_BYTES: usize = 1 << 10;

/// Where a body ends, and what of it is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyReader {
    /// So many bytes.
    Length(u64),
    /// Chunks, the next of which begins with its size.
    Chunks,
    /// Bytes of a chunk.
    Chunk(u64),
    /// The end of a chunk's line.
    ChunkEnd,
    /// Lines behind the last chunk.
    Trailers,
    /// Its end is that of the connection.
    UntilEnd,
}

impl BodyReader {
    /// Takes what of `bytes` belongs to the body, and calls `each` with its pieces. How many bytes were taken: fewer than all where
    /// the body has ended, or where the next piece is not whole.
    ///
    /// # Errors
    /// If chunks are not as they have to be.
    pub(super) fn take(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<usize> {
        let mut taken = 0;
        while !self.is_whole() {
            let rest = &bytes[taken..];
            match *self {
                Self::Length(left) | Self::Chunk(left) => {
                    let length = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    each(&rest[..length]);
                    taken += length;
                    let left = left - length as u64;
                    *self = match *self {
                        Self::Length(_) => Self::Length(left),
                        _ if left == 0 => Self::ChunkEnd,
                        _ => Self::Chunk(left),
                    };
                    if left > 0 {
                        break;
                    }
                }
                Self::ChunkEnd => match rest {
                    [b'\r', b'\n', ..] => {
                        taken += 2;
                        *self = Self::Chunks;
                    }
                    [] | [b'\r'] => break,
                    _ => return Err(wrong("a chunk without its end")),
                },
                Self::Chunks => match httparse::parse_chunk_size(rest) {
                    Ok(httparse::Status::Complete((length, size))) => {
                        taken += length;
                        *self = if size == 0 { Self::Trailers } else { Self::Chunk(size) };
                    }
                    Ok(httparse::Status::Partial) if rest.len() < MAX_SIZE_LINE_BYTES => break,
                    _ => return Err(wrong("a chunk without its size")),
                },
                Self::Trailers => match rest.windows(2).position(|two| two == b"\r\n") {
                    Some(end) => {
                        taken += end + 2;
                        *self = if end == 0 { Self::Length(0) } else { Self::Trailers };
                    }
                    None if rest.len() > MAX_TRAILER_BYTES => return Err(wrong("trailers without end")),
                    None => break,
                },
                Self::UntilEnd => {
                    each(rest);
                    return Ok(bytes.len());
                }
            }
        }
        Ok(taken)
    }

    /// Returns true if nothing more is to come.
    pub(super) fn is_whole(&self) -> bool {
        *self == Self::Length(0)
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body that bytes begin with, and what follows it.
    fn read(mut reader: BodyReader, bytes: &[u8], piece: usize) -> (Vec<u8>, Vec<u8>) {
        let (mut body, mut waiting) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(piece) {
            waiting.extend_from_slice(piece);
            let taken = reader.take(&waiting, |bytes| body.extend_from_slice(bytes)).unwrap();
            waiting.drain(..taken);
        }
        assert!(reader.is_whole());
        (body, waiting)
    }

    #[test]
    fn bodies_end_where_they_say_however_they_are_cut() {
        let chunked = b"5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nX: y\r\n\r\nnext";
        for piece in 1..=chunked.len() {
            assert_eq!(read(BodyReader::Chunks, chunked, piece), (b"helloabc".to_vec(), b"next".to_vec()));
            assert_eq!(read(BodyReader::Length(3), b"abcnext", piece), (b"abc".to_vec(), b"next".to_vec()));
        }
        for wrong in [&b"x\r\n"[..], b"2\r\nabc\r\n", b"ffffffffffffffffffff\r\n"] {
            assert!(BodyReader::Chunks.take(wrong, |_| {}).is_err(), "{wrong:?}");
        }
    }
}
