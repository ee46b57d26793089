//! The responses of the order update, in the JSON format that OFBiz's clients read.

use std::fmt::{self, Write as _};

use hyper::StatusCode;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::api::error_response::update_errors::UpdateErrors;
use crate::api::negotiate::Media;
use crate::http::response::{HttpResponse, json_response};
use crate::orders::outcome::{RejectionCause, UpdateOutcome};
use crate::orders::update_request::UpdateRequest;

/// The response to an outcome. `max_keys` is the number of idempotency keys that the caller may have stored.
pub(crate) fn of_outcome(request: &UpdateRequest, outcome: &UpdateOutcome, max_keys: u32) -> HttpResponse {
    match outcome {
        UpdateOutcome::Applied => json_response(StatusCode::OK, Media::Json.content_type(), &AppliedBody(request)),
        UpdateOutcome::KeyReused => {
            of_errors(StatusCode::UNPROCESSABLE_ENTITY, &["this Idempotency-Key was used with other parameters"])
        }
        UpdateOutcome::TooManyKeys => of_errors(
            StatusCode::TOO_MANY_REQUESTS,
            &[format!(
                "{max_keys} Idempotency-Keys are stored for you, and no more may be; each is deleted a day after its request"
            )],
        ),
        UpdateOutcome::Rejected { cause: RejectionCause::NotFound, errors } => of_errors(StatusCode::NOT_FOUND, errors),
        UpdateOutcome::Rejected { cause: RejectionCause::Conflict, errors } => of_errors(StatusCode::CONFLICT, errors),
    }
}

/// The response to errors.
pub(crate) fn of_errors<E: fmt::Display>(status: StatusCode, errors: &[E]) -> HttpResponse {
    json_response(status, Media::Json.content_type(), &UpdateErrors::new(errors))
}

/// The parameters of the request, and the message of success.
struct AppliedBody<'a>(&'a UpdateRequest);

impl Serialize for AppliedBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.0.echo {
            map.serialize_entry(name, value)?;
        }
        let mut message = "Order updated successfully".to_owned();
        for row in self.0.overriding_boxes() {
            // Writing to a string cannot fail.
            let _ = write!(
                message,
                "; of the box types for the shipment {} that of the last row counts: {}",
                row.shipment_id, row.box_type_id
            );
        }
        map.serialize_entry("_EVENT_MESSAGE_", &message)?;
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

    fn parts(outcome: &UpdateOutcome) -> (u16, String) {
        let response = of_outcome(&request(), outcome, 7);
        let ResponseBody::Whole(body) = response.body() else { panic!("it is sent whole") };
        (response.status().as_u16(), str::from_utf8(body).unwrap().to_owned())
    }

    #[test]
    fn an_applied_update_echoes_its_parameters_in_order() {
        let (status, body) = parts(&UpdateOutcome::Applied);
        assert_eq!(status, 200);
        assert_eq!(
            body,
            r#"{"facilityId":"S","box_shipmentId_0":"10","0_box_rowSubmit":0,"box_shipmentBoxTypeId_0":"B","rej_shipmentId_0":"10","rej_shipmentItemSeqId_0":"00001","0_rej_rowSubmit_":0,"rej_rejectionReason_0":"MISMATCH","ids":["1","2"],"_EVENT_MESSAGE_":"Order updated successfully"}"#
        );
    }

    #[test]
    fn a_rejected_update_lists_its_violations() {
        let errors = ["A", "B"].map(|id| format!("row 0 of box: there is no shipment {id}")).into();
        let (status, body) = parts(&UpdateOutcome::Rejected { cause: RejectionCause::NotFound, errors });
        assert_eq!(status, 404);
        assert_eq!(
            body,
            r#"{"_ERROR_MESSAGE_":"row 0 of box: there is no shipment A\nrow 0 of box: there is no shipment B","_ERROR_MESSAGE_LIST_":["row 0 of box: there is no shipment A","row 0 of box: there is no shipment B"]}"#
        );
    }

    #[test]
    fn a_rejected_key_has_a_status_of_its_own_and_many_errors_are_counted() {
        assert_eq!(parts(&UpdateOutcome::KeyReused).0, 422);
        assert_eq!(parts(&UpdateOutcome::TooManyKeys).0, 429);
        let response = of_errors(StatusCode::BAD_REQUEST, &["e"; 60]);
        let ResponseBody::Whole(body) = response.body() else { panic!("it is sent whole") };
        assert!(body.ends_with(br#""e","e","and 10 more errors"]}"#), "{body:?}");
    }
}
