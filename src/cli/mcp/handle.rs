//! The place where a list goes on: a request, its limits, and a checksum, as a text that an agent sends back. The program keeps nothing. A
//! handle gives no rights: its request is sent as the caller who sends the handle.

use std::hash::Hasher;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use fnv::FnvHasher;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::query::{Request, Variables};

/// A request for a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Handle {
    #[serde(rename = "q")]
    pub(super) query: String,
    #[serde(rename = "v", default, skip_serializing_if = "Variables::is_empty")]
    pub(super) variables: Variables,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub(super) max_cost: Option<u64>,
    #[serde(rename = "b")]
    pub(super) max_bytes: usize,
}

/// The text is no handle.
#[derive(Debug, Error)]
#[error("this handle was changed or cut; send it as it was returned, or run the query again")]
pub(super) struct HandleError;

impl Handle {
    pub(super) fn request(self) -> Request {
        Request { query: self.query, variables: self.variables, operation_name: None }
    }

    pub(super) fn encode(&self) -> String {
        // Texts and JSON values can be written.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.extend(checksum(&bytes));
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    pub(super) fn decode(text: &str) -> Result<Self, HandleError> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text.trim()).map_err(|_| HandleError)?;
        let (json, sum) = bytes.split_last_chunk::<8>().ok_or(HandleError)?;
        if checksum(json) != *sum {
            return Err(HandleError);
        }
        serde_json::from_slice(json).map_err(|_| HandleError)
    }
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish().to_be_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_handle_survives_and_a_changed_one_is_none() {
        let variables = Variables::from_iter([("a".to_owned(), json!([1, "é"]))]);
        let handle = Handle { query: "{ a }".into(), variables, max_cost: Some(5), max_bytes: 7 };
        let text = handle.encode();
        assert_eq!(Handle::decode(&format!(" {text}\n")).unwrap(), handle);
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(Handle::decode(&String::from_utf8(changed).unwrap()).is_err(), "{at}");
            assert!(Handle::decode(&text[..at]).is_err(), "{at}");
        }
        assert!(Handle::decode("é").is_err());
    }
}
