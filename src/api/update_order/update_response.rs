//! The responses of the order update, in the JSON format that OFBiz's clients read.

use hyper::StatusCode;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::api::negotiate::Media;
use crate::http::response::{HttpResponse, json_response};
use crate::orders::outcome::Note;
use crate::orders::update_request::UpdateRequest;
use crate::orders::update_row::BoxRow;

/// The text of success, which clients compare.
const MESSAGE: &str = "_EVENT_MESSAGE_";
/// Effects of an update beside its rows.
const MESSAGES: &str = "_EVENT_MESSAGE_LIST_";

/// The response to an applied update.
pub(crate) fn applied(request: &UpdateRequest, notes: &[Note]) -> HttpResponse {
    json_response(StatusCode::OK, Media::Json.content_type(), &AppliedBody { request, notes })
}

/// The parameters of the request, the message of success, and the notes for the client.
struct AppliedBody<'a> {
    request: &'a UpdateRequest,
    notes: &'a [Note],
}

impl Serialize for AppliedBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        // A parameter with a name of the response's own would be there twice.
        for (name, value) in self.request.echo.iter().filter(|(name, _)| ![MESSAGE, MESSAGES].contains(&name.as_str()))
        {
            map.serialize_entry(name, value)?;
        }
        for note in self.notes {
            if let Note::NewBox { row, shipment_id } = note {
                map.serialize_entry(&format!("add_newShipmentId_{row}"), shipment_id)?;
            }
        }
        map.serialize_entry(MESSAGE, "Order updated successfully")?;
        let overriding = self.request.overriding_boxes().into_iter().map(|row| {
            let BoxRow { index, shipment_id, box_type_id } = row;
            format!("row {index} of box: of the box types for the shipment {shipment_id} that of this row counts: {box_type_id}")
        });
        let messages: Vec<String> = overriding.chain(self.notes.iter().map(ToString::to_string)).collect();
        if !messages.is_empty() {
            map.serialize_entry(MESSAGES, &messages)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::response::ResponseBody;
    use crate::orders::update_form::UpdateForm;

    fn request() -> UpdateRequest {
        let form = "facilityId=S&box_shipmentId_0=10&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=B&rej_shipmentId_0=10\
                    &rej_shipmentItemSeqId_0=00001&0_rej_rowSubmit_=0&rej_rejectionReason_0=MISMATCH&ids=1&ids=2";
        let form = UpdateForm::new(form_urlencoded::parse(form.as_bytes()).into_owned().collect());
        UpdateRequest::parse(&form).unwrap()
    }

    #[test]
    fn an_applied_update_echoes_its_parameters_in_order() {
        let response = applied(&request(), &[]);
        let ResponseBody::Whole(body) = response.body() else { panic!("it is sent whole") };
        assert_eq!(response.status(), 200);
        assert_eq!(
            str::from_utf8(body).unwrap(),
            r#"{"facilityId":"S","box_shipmentId_0":"10","0_box_rowSubmit":0,"box_shipmentBoxTypeId_0":"B","rej_shipmentId_0":"10","rej_shipmentItemSeqId_0":"00001","0_rej_rowSubmit_":0,"rej_rejectionReason_0":"MISMATCH","ids":["1","2"],"_EVENT_MESSAGE_":"Order updated successfully"}"#
        );
    }
}
