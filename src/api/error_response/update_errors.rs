//! Errors of the order update, in the JSON format that OFBiz's clients read: all messages in one text, and as a list.

use serde::Serialize;

use crate::api::errors::api_error::ApiError;

/// The body of an error response.
#[derive(Debug, Serialize)]
pub(crate) struct UpdateErrors {
    #[serde(rename = "_ERROR_MESSAGE_")]
    text: String,
    #[serde(rename = "_ERROR_MESSAGE_LIST_")]
    messages: Vec<String>,
}

impl From<&ApiError> for UpdateErrors {
    fn from(error: &ApiError) -> Self {
        let messages = error.messages();
        Self { text: messages.join("\n"), messages }
    }
}
