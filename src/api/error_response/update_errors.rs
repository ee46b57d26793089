//! Errors of the order update, in the JSON format that OFBiz's clients read: all messages in one text, and as a list.

use std::fmt;

use serde::Serialize;

use crate::orders::error::messages;

/// The body of an error response.
#[derive(Debug, Serialize)]
pub(crate) struct UpdateErrors {
    #[serde(rename = "_ERROR_MESSAGE_")]
    text: String,
    #[serde(rename = "_ERROR_MESSAGE_LIST_")]
    messages: Vec<String>,
}

impl UpdateErrors {
    /// The body for these errors.
    pub(crate) fn new<E: fmt::Display>(errors: &[E]) -> Self {
        let messages = messages(errors);
        Self { text: messages.join("\n"), messages }
    }
}
