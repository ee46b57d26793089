//! The responses of the order update, in the JSON format that OFBiz's clients read.

use std::fmt;

use hyper::StatusCode;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::http::update_errors::UpdateErrors;
use crate::orders::outcome::{RejectionCause, StoredResponse, UpdateOutcome};
use crate::orders::update_request::UpdateRequest;

/// The response to an outcome. A replayed outcome has its stored response.
pub(crate) fn of_outcome(request: &UpdateRequest, outcome: &UpdateOutcome) -> StoredResponse {
    match outcome {
        UpdateOutcome::Applied => with_body(StatusCode::OK, &AppliedBody(request)),
        UpdateOutcome::Replayed(response) => response.clone(),
        UpdateOutcome::KeyReused => {
            of_errors(StatusCode::UNPROCESSABLE_ENTITY, &["this Idempotency-Key was used with other parameters"])
        }
        UpdateOutcome::Rejected { cause: RejectionCause::NotFound, violations } => {
            of_errors(StatusCode::NOT_FOUND, violations)
        }
        UpdateOutcome::Rejected { cause: RejectionCause::Conflict, violations } => {
            of_errors(StatusCode::CONFLICT, violations)
        }
    }
}

/// The response to errors.
pub(crate) fn of_errors<E: fmt::Display>(status: StatusCode, errors: &[E]) -> StoredResponse {
    with_body(status, &UpdateErrors::new(errors))
}

/// The parameters of the request, and the message of success.
struct AppliedBody<'a>(&'a UpdateRequest);

impl Serialize for AppliedBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.0.echo {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("_EVENT_MESSAGE_", "Order updated successfully")?;
        map.end()
    }
}

fn with_body(status: StatusCode, body: &impl Serialize) -> StoredResponse {
    // Writing to memory cannot fail, and the keys of all bodies are strings.
    StoredResponse { status: status.as_u16(), body: serde_json::to_string(body).unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::update_form::UpdateForm;
    use crate::orders::update_row::{RowId, RowKind};
    use crate::orders::violation::{Violation, ViolationCause};

    fn request() -> UpdateRequest {
        let form = "facilityId=S&box_shipmentId_0=10&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=B&rej_shipmentId_0=10\
                    &rej_shipmentItemSeqId_0=00001&0_rej_rowSubmit_=0&rej_rejectionReason_0=MISMATCH&ids=1&ids=2";
        let form = UpdateForm::new(form_urlencoded::parse(form.as_bytes()).into_owned().collect());
        UpdateRequest::parse(&form).unwrap()
    }

    #[test]
    fn an_applied_update_echoes_its_parameters_in_order() {
        let response = of_outcome(&request(), &UpdateOutcome::Applied);
        assert_eq!(response.status, 200);
        assert_eq!(
            response.body,
            r#"{"facilityId":"S","box_shipmentId_0":"10","0_box_rowSubmit":0,"box_shipmentBoxTypeId_0":"B","rej_shipmentId_0":"10","rej_shipmentItemSeqId_0":"00001","0_rej_rowSubmit_":0,"rej_rejectionReason_0":"MISMATCH","ids":["1","2"],"_EVENT_MESSAGE_":"Order updated successfully"}"#
        );
    }

    #[test]
    fn a_rejected_update_lists_its_violations() {
        let row = RowId { kind: RowKind::Box, index: 0 };
        let violations = ["A", "B"].map(|id| Violation { row, cause: ViolationCause::UnknownShipment(id.into()) });
        let rejected =
            UpdateOutcome::Rejected { cause: RejectionCause::NotFound, violations: violations.into_iter().collect() };
        let response = of_outcome(&request(), &rejected);
        assert_eq!(response.status, 404);
        assert_eq!(
            response.body,
            r#"{"_ERROR_MESSAGE_":"row 0 of box: there is no shipment A\nrow 0 of box: there is no shipment B","_ERROR_MESSAGE_LIST_":["row 0 of box: there is no shipment A","row 0 of box: there is no shipment B"]}"#
        );
    }

    #[test]
    fn a_replayed_update_has_its_stored_response() {
        let stored = StoredResponse { status: 409, body: "{}".to_owned() };
        assert_eq!(of_outcome(&request(), &UpdateOutcome::Replayed(stored.clone())), stored);
        assert_eq!(of_outcome(&request(), &UpdateOutcome::KeyReused).status, 422);
    }
}
