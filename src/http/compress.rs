//! Makes answers smaller in the coding that `coding` has chosen: whole ones at once, large ones part by part.
//!
//! The length of a compressed answer can betray what it holds to somebody who makes others ask and listens to the wire.
//! Here nobody can be made to ask: the token goes with a request only where its owner's own program puts it.

use std::io::{self, Write};
use std::mem;

use brotli::enc::BrotliEncoderParams;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{self, HeaderValue};

use crate::http::access_log::AccessLogEntry;
use crate::http::coding::{Choice, Coding};
use crate::http::response::{Answer, BoxError, Content};
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// Bytes below which an answer fits into a packet or nearly so, and is sent as it is.
pub const SMALLEST: usize = 1024;

/// Levels at which compressing takes less time than sending what it saves.
const GZIP_LEVEL: u32 = 5;
const BROTLI_LEVEL: i32 = 4;
const ZSTD_LEVEL: i32 = 3;

/// How far brotli and zstd look back, as a power of two: 256 KiB. More of it costs memory for each answer under way and
/// finds little more in rows that resemble their neighbours.
const WINDOW: u8 = 18;

/// brotli's buffer between what it writes and where it goes.
const BUFFER: usize = 4096;

/// The answer in the chosen coding, where that is worth it.
pub fn compress(mut answer: Answer, choice: Choice, record: &AccessLogEntry) -> Answer {
    let (coding, always) = match choice {
        Choice::Plain => return answer,
        Choice::Preferred(coding) => (coding, false),
        Choice::Only(coding) => (coding, true),
    };
    let content = mem::replace(answer.body_mut(), Content::Whole(Bytes::new()));
    let compressed = match content {
        Content::Whole(bytes) if bytes.is_empty() || (bytes.len() < SMALLEST && !always) => {
            *answer.body_mut() = Content::Whole(bytes);
            return answer;
        }
        Content::Whole(bytes) => {
            whole(&bytes, coding).map(Content::Whole).map_err(|error| (Content::Whole(bytes), error))
        }
        Content::Parts(parts) => match Encoder::new(coding, None) {
            Ok(encoder) => Ok(Content::Parts(Box::new(Compressed { parts, encoder: Some(encoder) }))),
            Err(error) => Err((Content::Parts(parts), error)),
        },
    };
    match compressed {
        Ok(content) => {
            *answer.body_mut() = content;
            answer.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        // The client can read it all the same.
        Err((content, error)) => {
            emit(&Event::InternalError { request_id: &record.id, error: &error });
            *answer.body_mut() = content;
        }
    }
    answer
}

/// The bytes in the coding.
pub fn whole(bytes: &[u8], coding: Coding) -> io::Result<Bytes> {
    let mut encoder = Encoder::new(coding, Some(bytes.len()))?;
    encoder.write(bytes)?;
    Ok(encoder.finish()?.into())
}

/// A large answer that is compressed as the client reads it.
struct Compressed {
    parts: Box<dyn Iterator<Item = Result<Bytes, BoxError>> + Send>,
    /// `None` after the last part.
    encoder: Option<Encoder>,
}

impl Iterator for Compressed {
    type Item = Result<Bytes, BoxError>;

    fn next(&mut self) -> Option<Self::Item> {
        let encoder = self.encoder.as_mut()?;
        let part = match self.parts.next() {
            // An end of its own must not follow a part that failed: what is broken off must not look whole.
            Some(Err(error)) => {
                self.encoder = None;
                return Some(Err(error));
            }
            Some(Ok(part)) => encoder.part(&part),
            None => self.encoder.take()?.finish(),
        };
        Some(part.map(Bytes::from).map_err(BoxError::from))
    }
}

/// The three libraries behind one face.
enum Encoder {
    Zstd(zstd::Encoder<'static, Vec<u8>>),
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
    Gzip(GzEncoder<Vec<u8>>),
}

impl Encoder {
    /// An encoder for so many bytes, where their number is known.
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

    /// Takes a part and gives out all that it has come to, so that the client can read up to its end.
    fn part(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.write(bytes)?;
        let written = match self {
            Self::Zstd(encoder) => {
                encoder.flush()?;
                encoder.get_mut()
            }
            Self::Brotli(encoder) => {
                encoder.flush()?;
                encoder.get_mut()
            }
            Self::Gzip(encoder) => {
                encoder.flush()?;
                encoder.get_mut()
            }
        };
        Ok(mem::take(written))
    }

    /// What is left, and the end.
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
    use std::sync::Arc;

    use hyper::Method;

    use super::*;

    fn record() -> AccessLogEntry {
        AccessLogEntry::new(Arc::from("0"), &Method::GET)
    }

    /// As much as can be read of what may not have ended yet.
    fn read(bytes: &[u8], coding: Coding) -> (Vec<u8>, bool) {
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
    fn a_whole_answer_comes_back_as_it_was() {
        for coding in Coding::ALL {
            let compressed = compress(Answer::new(part(9).into()), Choice::Preferred(coding), &record());
            assert_eq!(compressed.headers()[header::CONTENT_ENCODING], coding.name());
            let Content::Whole(bytes) = compressed.body() else { panic!("it was whole") };
            assert!(bytes.len() < part(9).len() / 4, "{coding:?}: {}", bytes.len());
            assert_eq!(read(bytes, coding), (part(9).to_vec(), true), "{coding:?}");
        }
    }

    #[test]
    fn every_part_can_be_read_before_the_next_one_is_asked_for() {
        for coding in Coding::ALL {
            let parts = (1..5).map(|number| Ok(part(number)));
            let answer = Answer::new(Content::Parts(Box::new(parts)));
            let Content::Parts(parts) = compress(answer, Choice::Preferred(coding), &record()).into_body() else {
                panic!("it came in parts")
            };
            let (mut sent, mut expected) = (Vec::new(), Vec::new());
            for (number, compressed) in (1..6).zip(parts) {
                sent.extend_from_slice(&compressed.unwrap());
                if number < 5 {
                    expected.extend_from_slice(&part(number));
                }
                assert_eq!(read(&sent, coding), (expected.clone(), number == 5), "{coding:?} {number}");
            }
        }
    }

    #[test]
    fn what_is_broken_off_does_not_look_whole() {
        for coding in Coding::ALL {
            let parts = [Ok(part(3)), Err(BoxError::from("broken")), Ok(part(3))];
            let answer = Answer::new(Content::Parts(Box::new(parts.into_iter())));
            let Content::Parts(mut parts) = compress(answer, Choice::Preferred(coding), &record()).into_body() else {
                panic!("it came in parts")
            };
            let sent = parts.next().unwrap().unwrap();
            assert!(parts.next().unwrap().is_err());
            assert!(parts.next().is_none());
            assert_eq!(read(&sent, coding), (part(3).to_vec(), false), "{coding:?}");
        }
    }

    #[test]
    fn small_answers_stay_as_they_are_unless_that_is_excluded() {
        let small = Bytes::from_static(b"{\"data\":null}");
        for (choice, name) in
            [(Choice::Plain, None), (Choice::Preferred(Coding::Gzip), None), (Choice::Only(Coding::Gzip), Some("gzip"))]
        {
            let answer = compress(Answer::new(small.clone().into()), choice, &record());
            let coding = answer.headers().get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap());
            assert_eq!(coding, name);
            let Content::Whole(bytes) = answer.body() else { panic!("it was whole") };
            assert_eq!(coding.is_none(), bytes == &small);
        }
        let empty = compress(Answer::new(Bytes::new().into()), Choice::Only(Coding::Gzip), &record());
        assert!(!empty.headers().contains_key(header::CONTENT_ENCODING));
    }
}
