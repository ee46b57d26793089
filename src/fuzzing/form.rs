//! Bodies of order updates: parameters, the request that they make, and its canonical text.

use crate::orders::update_form::{UpdateForm, parse_body};
use crate::orders::update_request::UpdateRequest;

/// A parsed form.
#[derive(Debug, PartialEq, Eq)]
pub struct Form(UpdateForm);

/// A valid order update.
#[derive(Debug, PartialEq, Eq)]
pub struct Request(UpdateRequest);

/// Parses a body as its content type says. Fails with the message that the client gets.
pub fn parse(content_type: &str, body: &[u8]) -> Result<Form, String> {
    parse_body(content_type, body.to_vec().into()).map(Form).map_err(|error| error.to_string())
}

impl Form {
    /// The parameters, in the order in which they were sent.
    pub fn parameters(&self) -> Vec<(&str, &str)> {
        self.0.iter().collect()
    }

    /// The request that the parameters make. Fails with all errors, as the client gets them.
    pub fn request(&self) -> Result<Request, Vec<String>> {
        UpdateRequest::parse(&self.0).map(Request).map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }
}

impl Request {
    /// Whether both change the same, whatever order their parameters have.
    pub fn changes_as(&self, other: &Self) -> bool {
        fn of(request: &UpdateRequest) -> impl PartialEq + '_ {
            let UpdateRequest {
                facility_id,
                boxes,
                new_boxes,
                rejections,
                moves,
                removals,
                audited,
                canonical,
                echo: _,
            } = request;
            (facility_id, boxes, new_boxes, rejections, moves, removals, audited, canonical)
        }
        of(&self.0) == of(&other.0)
    }

    /// The set of the parameters in one encoding.
    pub fn canonical(&self) -> &str {
        &self.0.canonical
    }

    /// How many boxes with the new and removed ones, rejections and moves it has.
    pub fn rows(&self) -> (usize, usize, usize) {
        let boxes = self.0.boxes.len() + self.0.new_boxes.len() + self.0.removals.len();
        (boxes, self.0.rejections.len(), self.0.moves.len())
    }
}
