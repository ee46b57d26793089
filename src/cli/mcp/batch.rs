//! Batches of JSON-RPC messages, which revisions of the protocol before 2025-06-18 have: an array of messages, answered by an array of
//! their responses. The protocol's library knows single messages alone, so that each message of a batch is given to it by itself.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The revisions that have batches.
const REVISIONS: [&str; 2] = ["2024-11-05", "2025-03-26"];

/// The revision of a client over HTTP that names none, as the protocol says.
pub(super) const UNNAMED_REVISION: &str = "2025-03-26";

/// The most messages of a batch.
const MAX_MESSAGES: usize = 32;

/// Bytes of a batch's responses after which no further message is answered: all of them are in memory at a time.
pub(super) const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// JSON-RPC's codes.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// The messages that a client sends at a time.
#[derive(Debug)]
pub(super) enum Sent {
    /// No batch.
    Message,
    Batch(Vec<BatchMessage>),
    /// A batch that is not answered, with the response that says why.
    Rejected(Value),
}

/// A message of a batch.
#[derive(Debug)]
pub(super) enum BatchMessage {
    /// A request, by its id.
    Request(Value, Box<RawValue>),
    /// It gets no response.
    Notification(Box<RawValue>),
    /// No message of a batch, with the response that says why.
    Rejected(Value),
}

impl Sent {
    /// Reads what a client sends who speaks that revision; `None` before it is known.
    pub(super) fn read(text: &[u8], revision: Option<&str>) -> Self {
        if !text.trim_ascii_start().starts_with(b"[") {
            return Self::Message;
        }
        let reject = |code, reason: &str| Self::Rejected(error(&Value::Null, code, reason));
        match revision {
            None => return reject(INVALID_REQUEST, "a batch cannot come before the response to `initialize`"),
            Some(revision) if !REVISIONS.contains(&revision) => {
                let reason = format!("revision {revision} of the protocol has no batches: send each message by itself");
                return reject(INVALID_REQUEST, &reason);
            }
            Some(_) => {}
        }
        let Ok(messages) = serde_json::from_slice::<Vec<Box<RawValue>>>(text) else {
            return reject(PARSE_ERROR, "the batch is not JSON");
        };
        match messages.len() {
            0 => reject(INVALID_REQUEST, "the batch is empty"),
            1..=MAX_MESSAGES => Self::Batch(messages.into_iter().map(BatchMessage::read).collect()),
            _ => reject(INVALID_REQUEST, &format!("a batch has {MAX_MESSAGES} messages at most")),
        }
    }
}

impl BatchMessage {
    fn read(text: Box<RawValue>) -> Self {
        #[derive(Deserialize)]
        struct Head {
            id: Option<Value>,
            method: Option<String>,
        }
        match serde_json::from_str(text.get()) {
            Ok(Head { id: Some(id), method: Some(method) }) if method == "initialize" => {
                Self::Rejected(error(&id, INVALID_REQUEST, "`initialize` cannot be in a batch"))
            }
            Ok(Head { id: Some(id), method: Some(_) }) => Self::Request(id, text),
            Ok(Head { id: None, method: Some(_) } | Head { id: Some(_), method: None }) => Self::Notification(text),
            Ok(Head { id: None, method: None }) | Err(_) => {
                Self::Rejected(error(&Value::Null, INVALID_REQUEST, "the batch has a value that is no message"))
            }
        }
    }
}

/// The response to a request that cannot be answered.
pub(super) fn failed(id: &Value) -> Value {
    error(id, INVALID_REQUEST, "the request is none of the protocol")
}

/// The response to a request that comes after more than [`MAX_RESPONSE_BYTES`] of responses.
pub(super) fn too_late(id: &Value) -> Value {
    error(id, INVALID_REQUEST, "the responses before it are too large for one batch: send this message by itself")
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// The batches whose responses have not all come, of a client at standard input.
#[derive(Debug, Default)]
pub(super) struct PendingBatches(VecDeque<Pending>);

#[derive(Debug)]
struct Pending {
    /// The ids of requests without a response.
    ids: Vec<Value>,
    responses: Vec<Value>,
}

impl PendingBatches {
    /// Begins a batch. Returns the messages to pass on, and its responses if all of them are known.
    pub(super) fn begin(&mut self, batch: Vec<BatchMessage>) -> (Vec<Box<RawValue>>, Option<Value>) {
        let (mut pending, mut messages) = (Pending { ids: Vec::new(), responses: Vec::new() }, Vec::new());
        for message in batch {
            match message {
                BatchMessage::Request(id, text) => {
                    pending.ids.push(id);
                    messages.push(text);
                }
                BatchMessage::Notification(text) => messages.push(text),
                BatchMessage::Rejected(response) => pending.responses.push(response),
            }
        }
        if !pending.ids.is_empty() {
            self.0.push_back(pending);
            return (messages, None);
        }
        (messages, (!pending.responses.is_empty()).then_some(Value::Array(pending.responses)))
    }

    /// Takes a response. Returns the message to send: the response itself if it is of no batch, and all of a batch with its last response.
    pub(super) fn add(&mut self, response: Value) -> Option<Value> {
        let is_of = |pending: &Pending| pending.ids.contains(&response["id"]);
        let Some(index) = self.0.iter().position(is_of) else { return Some(response) };
        let pending = &mut self.0[index];
        let answered = pending.ids.iter().position(|id| *id == response["id"])?;
        pending.ids.remove(answered);
        pending.responses.push(response);
        let is_complete = pending.ids.is_empty();
        is_complete.then(|| self.0.remove(index).map(|pending| Value::Array(pending.responses)))?
    }

    /// Whether every response is of no batch.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, revision: Option<&str>) -> Sent {
        Sent::read(text.as_bytes(), revision)
    }

    #[test]
    fn a_batch_is_one_of_the_revisions_that_have_batches() {
        let batch = r#" [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]"#;
        for revision in REVISIONS {
            assert!(matches!(read(batch, Some(revision)), Sent::Batch(messages) if messages.len() == 2));
        }
        for (revision, expected) in [
            (Some("2025-06-18"), "revision 2025-06-18 of the protocol has no batches"),
            (Some("2025-11-25"), "has no batches"),
            (None, "before the response to `initialize`"),
        ] {
            let Sent::Rejected(response) = read(batch, revision) else { panic!("{revision:?}") };
            assert!(response["error"]["message"].as_str().unwrap().contains(expected), "{response}");
        }
        assert!(matches!(read("{}", None), Sent::Message));
        let long = format!("[{}]", vec!["{}"; MAX_MESSAGES + 1].join(","));
        for (text, code) in [("[]", INVALID_REQUEST), ("[{]", PARSE_ERROR), (&long, INVALID_REQUEST)] {
            let Sent::Rejected(response) = read(text, Some(UNNAMED_REVISION)) else { panic!("{text}") };
            assert_eq!(response["error"]["code"], code, "{text}");
        }
    }

    #[test]
    fn the_responses_of_a_batch_are_sent_with_the_last_one() {
        let mut pending = PendingBatches::default();
        let batch =
            r#"[{"id":1,"method":"a"},{"method":"b"},7,{"id":"x","method":"c"},{"id":3,"method":"initialize"}]"#;
        let Sent::Batch(batch) = read(batch, Some(UNNAMED_REVISION)) else { panic!("no batch") };
        let (messages, responses) = pending.begin(batch);
        assert_eq!((messages.len(), responses), (3, None));
        assert_eq!(pending.add(json!({ "id": 9 })), Some(json!({ "id": 9 })));
        assert_eq!(pending.add(json!({ "id": "x" })), None);
        let all = pending.add(json!({ "id": 1 })).unwrap();
        let ids: Vec<_> = all.as_array().unwrap().iter().map(|response| response["id"].clone()).collect();
        assert_eq!(ids, [Value::Null, json!(3), json!("x"), json!(1)]);
        assert!(pending.is_empty());
        let Sent::Batch(batch) = read(r#"[{"method":"b"}]"#, Some(UNNAMED_REVISION)) else { panic!("no batch") };
        assert_eq!(pending.begin(batch).1, None);
    }
}
