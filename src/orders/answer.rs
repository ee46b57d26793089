//! What the client of an order update sees: its parameters again with a message, or what was wrong.

use std::fmt::{self, Write};

use serde_json::json;

use crate::orders::apply::Violation;
use crate::orders::command::is_row_submit;
use crate::orders::update_form::UpdateForm;

/// An answer: an HTTP status and a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The JSON.
    pub body: String,
}

/// The parameters in the order in which they came, row-submits as numbers, and the message of success.
pub fn applied(form: &UpdateForm) -> Answer {
    let mut body = String::from("{");
    for (name, values) in form.grouped() {
        let value = match values.as_slice() {
            // A known row-submit is a whole number, as the command has it.
            [value] if is_row_submit(name) => {
                value.parse::<u32>().map_or_else(|_| json!(value), |number| json!(number))
            }
            [value] => json!(value),
            several => json!(several),
        };
        // Writing to a string cannot fail.
        let _ = write!(body, "{}:{value},", json!(name));
    }
    body.push_str(r#""_EVENT_MESSAGE_":"Order updated successfully"}"#);
    Answer { status: 200, body }
}

/// What the rules refused: 404 where something does not exist, 409 where it stands in the way.
pub fn refused(violations: &[Violation]) -> Answer {
    let status = if violations.iter().all(Violation::is_absence) { 404 } else { 409 };
    failed(status, violations)
}

/// Messages of what is wrong, as OFBiz's clients read them: all in one, and as a list.
pub fn failed<M: fmt::Display>(status: u16, messages: &[M]) -> Answer {
    let messages: Vec<String> = messages.iter().map(ToString::to_string).collect();
    let body = json!({ "_ERROR_MESSAGE_": messages.join("\n"), "_ERROR_MESSAGE_LIST_": messages });
    Answer { status, body: body.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_echoes_the_form() {
        let form = |text: &str| UpdateForm::new(form_urlencoded::parse(text.as_bytes()).into_owned().collect());
        let rejection = form(
            "facilityId=S&box_shipmentId_0=10&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=B&rej_shipmentId_0=10\
             &rej_shipmentItemSeqId_0=00001&0_rej_rowSubmit_=0&rej_rejectionReason_0=MISMATCH&ids=1&ids=2",
        );
        assert_eq!(
            applied(&rejection).body,
            r#"{"facilityId":"S","box_shipmentId_0":"10","0_box_rowSubmit":0,"box_shipmentBoxTypeId_0":"B","rej_shipmentId_0":"10","rej_shipmentItemSeqId_0":"00001","0_rej_rowSubmit_":0,"rej_rejectionReason_0":"MISMATCH","ids":["1","2"],"_EVENT_MESSAGE_":"Order updated successfully"}"#
        );
    }
}
