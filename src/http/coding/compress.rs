//! Compresses responses with the coding that `coding` has chosen: small ones at once, large ones part by part.
//!
//! The length of a compressed response can leak its content to an attacker who makes a victim's browser send requests and
//! watches the network (BREACH). This does not apply here: browsers do not attach the token to requests by themselves.

use std::io::{self, Write};
use std::{iter, mem};

use brotli::enc::BrotliEncoderParams;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::{StreamExt, stream};
use hyper::header::{self, HeaderValue};

use crate::http::coding::{Choice, Coding};
use crate::http::response::{BoxError, ChunkStream, Chunks, HttpResponse, ResponseBody};
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// A response with fewer bytes fits into one packet or nearly so, and is not compressed.
pub(crate) const MIN_BYTES: usize = 1024;

/// Levels at which compressing takes less time than sending the bytes that it saves.
const GZIP_LEVEL: u32 = 5;
const BROTLI_LEVEL: i32 = 4;
const ZSTD_LEVEL: i32 = 3;

/// The window of brotli and zstd, as a power of two: 256 KiB. A larger one costs memory for each response in flight, and
/// finds little more, because rows resemble their neighbours.
const WINDOW: u8 = 18;

/// Bytes of memory that an encoder takes at most, about. It lasts as long as a response that is sent in chunks.
pub(crate) const ENCODER_MEMORY: usize = 3 << 19;

/// The size of brotli's output buffer, in bytes.
const BUFFER: usize = 4096;

/// Bytes that are encoded at once. They take a thread about a millisecond; then other requests have their turn.
const PIECE: usize = 32 << 10;

/// A whole response with more bytes is encoded in pieces.
const MAX_AT_ONCE: usize = 2 * PIECE;

/// Whether an encoder lasts as long as the response with this body. It takes [`ENCODER_MEMORY`].
pub(crate) fn keeps_encoder(body: &ResponseBody) -> bool {
    match body {
        ResponseBody::Whole(bytes) => bytes.len() > MAX_AT_ONCE,
        ResponseBody::Chunks(_) | ResponseBody::Stream(_) => true,
    }
}

/// Compresses the response, unless it is too small for the choice. A response that cannot be compressed stays as it is,
/// and the error is logged.
pub(crate) fn compress(mut response: HttpResponse, choice: Choice, request_id: &str) -> HttpResponse {
    let (coding, always) = match choice {
        Choice::Identity => return response,
        Choice::Preferred(coding) => (coding, false),
        Choice::Only(coding) => (coding, true),
    };
    let content = match mem::replace(response.body_mut(), ResponseBody::Whole(Bytes::new())) {
        ResponseBody::Whole(bytes) if bytes.len() > MAX_AT_ONCE => {
            ResponseBody::Chunks(Box::new(iter::once(Ok(bytes))))
        }
        content => content,
    };
    let compressed = match content {
        ResponseBody::Whole(bytes) if bytes.is_empty() || (bytes.len() < MIN_BYTES && !always) => {
            *response.body_mut() = ResponseBody::Whole(bytes);
            return response;
        }
        ResponseBody::Whole(bytes) => {
            encode(&bytes, coding).map(ResponseBody::Whole).map_err(|error| (ResponseBody::Whole(bytes), error))
        }
        ResponseBody::Chunks(parts) => match CodingEncoder::new(coding, None) {
            Ok(encoder) => Ok(ResponseBody::Chunks(Box::new(Compressed::new(parts, encoder)))),
            Err(error) => Err((ResponseBody::Chunks(parts), error)),
        },
        ResponseBody::Stream(parts) => match CodingEncoder::new(coding, None) {
            Ok(encoder) => {
                let state = Compressed::new(parts, encoder);
                Ok(ResponseBody::Stream(Box::pin(stream::unfold(state, next_compressed))))
            }
            Err(error) => Err((ResponseBody::Stream(parts), error)),
        },
    };
    match compressed {
        Ok(content) => {
            *response.body_mut() = content;
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        Err((content, error)) => {
            emit(&Event::InternalError { request_id, error: &error });
            *response.body_mut() = content;
        }
    }
    response
}

/// The bytes in the coding.
pub(crate) fn encode(bytes: &[u8], coding: Coding) -> io::Result<Bytes> {
    let mut encoder = CodingEncoder::new(coding, Some(bytes.len()))?;
    encoder.write(bytes)?;
    Ok(encoder.finish()?.into())
}

/// A large response that is compressed as the client reads it, a piece at a time.
struct Compressed<P> {
    parts: P,
    /// The rest of the last part, still to be encoded.
    rest: Bytes,
    /// `None` after the last part.
    encoder: Option<CodingEncoder>,
}

impl Iterator for Compressed<Chunks> {
    type Item = Result<Bytes, BoxError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.needs_part()? {
            let part = self.parts.next();
            return self.encode(part);
        }
        self.encode_piece()
    }
}

/// The next piece of a response whose parts may have to be waited for.
async fn next_compressed(
    mut response: Compressed<ChunkStream>,
) -> Option<(Result<Bytes, BoxError>, Compressed<ChunkStream>)> {
    let piece = if response.needs_part()? {
        let part = response.parts.next().await;
        response.encode(part)?
    } else {
        response.encode_piece()?
    };
    Some((piece, response))
}

impl<P> Compressed<P> {
    fn new(parts: P, encoder: CodingEncoder) -> Self {
        Self { parts, rest: Bytes::new(), encoder: Some(encoder) }
    }

    /// Whether the last part is encoded; `None` if it was the response's last.
    fn needs_part(&self) -> Option<bool> {
        self.encoder.as_ref().map(|_| self.rest.is_empty())
    }

    /// The first piece of a part in the coding, or the coding's end.
    fn encode(&mut self, part: Option<Result<Bytes, BoxError>>) -> Option<Result<Bytes, BoxError>> {
        match part {
            // The coding must not be finished after a part that failed, so that a truncated body never looks complete.
            Some(Err(error)) => {
                self.encoder = None;
                Some(Err(error))
            }
            Some(Ok(part)) => {
                self.rest = part;
                self.encode_piece()
            }
            None => Some(self.encoder.take()?.finish().map(Bytes::from).map_err(BoxError::from)),
        }
    }

    /// A piece in the coding, which may be empty: the client can decode the part to its end after its last piece.
    fn encode_piece(&mut self) -> Option<Result<Bytes, BoxError>> {
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        let encoded = self.encoder.as_mut()?.encode_piece(&piece, self.rest.is_empty());
        Some(encoded.map(Bytes::from).map_err(BoxError::from))
    }
}

/// An encoder of any coding.
enum CodingEncoder {
    Zstd(zstd::Encoder<'static, Vec<u8>>),
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
    Gzip(GzEncoder<Vec<u8>>),
}

impl CodingEncoder {
    /// An encoder, for this many bytes if their number is known.
    fn new(coding: Coding, size: Option<usize>) -> io::Result<Self> {
        Ok(match coding {
            Coding::Zstd => {
                let mut encoder = zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.window_log(WINDOW.into())?;
                encoder.set_pledged_src_size(size.map(|size| size as u64))?;
                Self::Zstd(encoder)
            }
            Coding::Brotli => {
                let params = BrotliEncoderParams {
                    quality: BROTLI_LEVEL,
                    lgwin: WINDOW.into(),
                    size_hint: size.unwrap_or(0),
                    ..BrotliEncoderParams::default()
                };
                Self::Brotli(Box::new(brotli::CompressorWriter::with_params(Vec::new(), BUFFER, &params)))
            }
            Coding::Gzip => Self::Gzip(GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL))),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Zstd(encoder) => encoder.write_all(bytes),
            Self::Brotli(encoder) => encoder.write_all(bytes),
            Self::Gzip(encoder) => encoder.write_all(bytes),
        }
    }

    /// Encodes a piece. Flushes after the last one of a part.
    fn encode_piece(&mut self, bytes: &[u8], is_last: bool) -> io::Result<Vec<u8>> {
        self.write(bytes)?;
        if is_last {
            self.flush()?;
        }
        Ok(mem::take(match self {
            Self::Zstd(encoder) => encoder.get_mut(),
            Self::Brotli(encoder) => encoder.get_mut(),
            Self::Gzip(encoder) => encoder.get_mut(),
        }))
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Zstd(encoder) => encoder.flush(),
            Self::Brotli(encoder) => encoder.flush(),
            Self::Gzip(encoder) => encoder.flush(),
        }
    }

    /// The last bytes of the coding.
    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Zstd(encoder) => encoder.finish(),
            Self::Brotli(encoder) => Ok(encoder.into_inner()),
            Self::Gzip(encoder) => encoder.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// The text as far as the bytes can be decoded, and whether it is complete.
    fn decode(bytes: &[u8], coding: Coding) -> (Vec<u8>, bool) {
        let mut reader: Box<dyn Read> = match coding {
            Coding::Zstd => Box::new(zstd::Decoder::new(bytes).unwrap()),
            Coding::Brotli => Box::new(brotli::Decompressor::new(bytes, BUFFER)),
            Coding::Gzip => Box::new(flate2::read::GzDecoder::new(bytes)),
        };
        let (mut text, mut buffer) = (Vec::new(), [0; 1000]);
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return (text, true),
                Ok(count) => text.extend_from_slice(&buffer[..count]),
                Err(_) => return (text, false),
            }
        }
    }

    fn part(number: usize) -> Bytes {
        format!("{{\"orderId\":\"{number}\"}},").repeat(number * 40).into()
    }

    #[test]
    fn compresses_a_whole_response() {
        for coding in Coding::ALL {
            let compressed = compress(HttpResponse::new(part(9).into()), Choice::Preferred(coding), "0");
            assert_eq!(compressed.headers()[header::CONTENT_ENCODING], coding.name());
            let ResponseBody::Whole(bytes) = compressed.body() else { panic!("it was whole") };
            assert!(bytes.len() < part(9).len() / 4, "{coding:?}: {}", bytes.len());
            assert_eq!(decode(bytes, coding), (part(9).to_vec(), true), "{coding:?}");
        }
    }

    #[test]
    fn each_part_can_be_decoded_before_the_next_one_is_produced() {
        for coding in Coding::ALL {
            let parts = (1..5).map(|number| Ok(part(number)));
            let response = HttpResponse::new(ResponseBody::Chunks(Box::new(parts)));
            let ResponseBody::Chunks(parts) = compress(response, Choice::Preferred(coding), "0").into_body() else {
                panic!("it came in parts")
            };
            let (mut sent, mut expected) = (Vec::new(), Vec::new());
            for (number, compressed) in (1..6).zip(parts) {
                sent.extend_from_slice(&compressed.unwrap());
                if number < 5 {
                    expected.extend_from_slice(&part(number));
                }
                assert_eq!(decode(&sent, coding), (expected.clone(), number == 5), "{coding:?} {number}");
            }
        }
    }

    #[test]
    fn a_large_part_is_encoded_in_pieces() {
        let large = part(100).repeat(9);
        let pieces = large.len().div_ceil(PIECE);
        for coding in Coding::ALL {
            for body in [
                ResponseBody::Whole(large.clone().into()),
                ResponseBody::Chunks(Box::new(iter::once(Ok(large.clone().into())))),
            ] {
                assert!(keeps_encoder(&body));
                let compressed = compress(HttpResponse::new(body), Choice::Preferred(coding), "0");
                let ResponseBody::Chunks(parts) = compressed.into_body() else { panic!("it is large") };
                let parts: Vec<_> = parts.map(Result::unwrap).collect();
                assert_eq!(parts.len(), pieces + 1, "{coding:?}");
                assert_eq!(decode(&parts[..pieces].concat(), coding), (large.clone(), false), "{coding:?}");
                assert_eq!(decode(&parts.concat(), coding), (large.clone(), true), "{coding:?}");
            }
        }
    }

    #[test]
    fn a_truncated_response_does_not_look_complete() {
        for coding in Coding::ALL {
            let parts = [Ok(part(3)), Err(BoxError::from("broken")), Ok(part(3))];
            let response = HttpResponse::new(ResponseBody::Chunks(Box::new(parts.into_iter())));
            let ResponseBody::Chunks(mut parts) = compress(response, Choice::Preferred(coding), "0").into_body() else {
                panic!("it came in parts")
            };
            let sent = parts.next().unwrap().unwrap();
            assert!(parts.next().unwrap().is_err());
            assert!(parts.next().is_none());
            assert_eq!(decode(&sent, coding), (part(3).to_vec(), false), "{coding:?}");
        }
    }

    #[test]
    fn does_not_compress_small_responses_unless_the_client_excludes_identity() {
        let small = Bytes::from_static(b"{\"data\":null}");
        for (choice, name) in [
            (Choice::Identity, None),
            (Choice::Preferred(Coding::Gzip), None),
            (Choice::Only(Coding::Gzip), Some("gzip")),
        ] {
            let response = compress(HttpResponse::new(small.clone().into()), choice, "0");
            let coding = response.headers().get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap());
            assert_eq!(coding, name);
            let ResponseBody::Whole(bytes) = response.body() else { panic!("it was whole") };
            assert_eq!(coding.is_none(), bytes == &small);
        }
        let empty = compress(HttpResponse::new(Bytes::new().into()), Choice::Only(Coding::Gzip), "0");
        assert!(!empty.headers().contains_key(header::CONTENT_ENCODING));
    }
}
