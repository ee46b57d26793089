//! An order update's form, parsed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::orders::error::{MAX_ID_BYTES, MAX_ROWS, ParameterError};
use crate::orders::param_name::{
    BOX_TYPE, FACILITY, ITEM, NEW_SHIPMENT, ParamName, REASON, ROW_SUBMIT, SHIPMENT, fields, parse_number,
};
use crate::orders::update_form::UpdateForm;
use crate::orders::update_row::{BoxRow, MoveRow, RejectionRow, RowId, RowKind};

/// A valid order update.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UpdateRequest {
    /// The facility at which all shipments start.
    pub(crate) facility_id: String,
    /// Box types to set, by index; at least one. Of several rows of a shipment the last one counts.
    pub(crate) boxes: Vec<BoxRow>,
    /// Items to reject.
    pub(crate) rejections: Vec<RejectionRow>,
    /// Items to move to another shipment.
    pub(crate) moves: Vec<MoveRow>,
    /// The parameters that the response repeats, by name, in the order in which they were sent. Includes unknown ones.
    pub(crate) echo: Vec<(String, EchoValue)>,
    /// The parameters in one encoding, for comparing repeated requests and for the audit.
    pub(crate) canonical: String,
}

/// The value of a parameter in the response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum EchoValue {
    /// The value of a row-submit.
    Number(u32),
    /// The value of another parameter.
    Text(String),
    /// The values of a parameter that was sent with several.
    List(Vec<String>),
}

impl UpdateRequest {
    /// Parses a form. Returns all errors.
    pub(crate) fn parse(form: &UpdateForm) -> Result<Self, Vec<ParameterError>> {
        let mut parser = RowParser::default();
        let mut echo = Vec::new();
        for (name, values) in form.grouped() {
            let param = ParamName::parse(name);
            parser.add(name, param, &values);
            echo.push((name.to_owned(), EchoValue::new(param, &values)));
        }
        let (boxes, rejections, moves) = (parser.boxes(), parser.rejections(), parser.moves());
        let facility_id = parser.facility_id.take().filter(|id| !id.is_empty());
        if facility_id.is_none() && !parser.is_invalid(FACILITY) {
            parser.errors.insert(0, ParameterError::Missing(FACILITY.to_owned()));
        }
        match facility_id {
            Some(facility_id) if parser.errors.is_empty() => {
                Ok(Self { facility_id, boxes, rejections, moves, echo, canonical: canonical(form) })
            }
            _ => Err(parser.errors),
        }
    }

    /// The last box row of each shipment.
    pub(crate) fn last_boxes(&self) -> BTreeMap<&str, &BoxRow> {
        self.boxes.iter().map(|row| (row.shipment_id.as_str(), row)).collect()
    }

    /// The last box rows of those shipments whose other rows have other box types. A client that has a type for each package
    /// sends several for a shipment, and its rows do not name the package.
    pub(crate) fn overriding_boxes(&self) -> Vec<&BoxRow> {
        let mut last_boxes = self.last_boxes();
        last_boxes.retain(|shipment_id, last| {
            let mut rows = self.boxes.iter().filter(|row| row.shipment_id == *shipment_id);
            rows.any(|row| row.box_type_id != last.box_type_id)
        });
        last_boxes.into_values().collect()
    }
}

impl EchoValue {
    fn new(param: Option<ParamName>, values: &[&str]) -> Self {
        match values {
            [value] => match param {
                Some(ParamName { field: ROW_SUBMIT, index: Some(_), .. }) => {
                    value.parse().map_or_else(|_| Self::Text((*value).to_owned()), Self::Number)
                }
                Some(_) | None => Self::Text((*value).to_owned()),
            },
            values => Self::List(values.iter().map(|value| (*value).to_owned()).collect()),
        }
    }
}

fn canonical(form: &UpdateForm) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(form.iter()).finish()
}

/// The fields of a row by name.
type Fields = BTreeMap<&'static str, String>;

/// Collects parameters into rows, and errors.
#[derive(Default)]
struct RowParser {
    facility_id: Option<String>,
    rows: BTreeMap<RowId, Fields>,
    errors: Vec<ParameterError>,
}

impl RowParser {
    fn add(&mut self, name: &str, param: Option<ParamName>, values: &[&str]) {
        if param.is_none() && name != FACILITY {
            return; // an unknown parameter, which is only echoed
        }
        let [value] = values else { return self.errors.push(ParameterError::Contradictory(name.to_owned())) };
        if value.len() > MAX_ID_BYTES {
            return self.errors.push(ParameterError::TooLong(name.to_owned()));
        }
        let Some(ParamName { kind, field, index }) = param else {
            self.facility_id = Some((*value).to_owned());
            return;
        };
        let Some(index) = index else { return self.errors.push(ParameterError::BadIndex(name.to_owned())) };
        if field == ROW_SUBMIT && parse_number(value).is_none() {
            return self.errors.push(ParameterError::NotANumber(name.to_owned()));
        }
        let id = RowId { kind, index };
        if self.rows.len() == MAX_ROWS && !self.rows.contains_key(&id) {
            if self.errors.last() != Some(&ParameterError::TooManyRows) {
                self.errors.push(ParameterError::TooManyRows);
            }
            return;
        }
        match self.rows.entry(id).or_default().insert(field, (*value).to_owned()) {
            Some(other) if other != *value => self.errors.push(ParameterError::Contradictory(name.to_owned())),
            Some(_) | None => {}
        }
    }

    /// The rows of a kind by index, without empty fields. Adds errors for missing fields.
    fn rows_of(&mut self, kind: RowKind) -> Vec<(u32, Fields)> {
        let range = RowId { kind, index: 0 }..=RowId { kind, index: u32::MAX };
        let mut rows: Vec<_> = self.rows.range(range).map(|(id, row)| (id.index, row.clone())).collect();
        for (index, row) in &mut rows {
            if row.get(ITEM).is_some_and(String::is_empty) {
                self.errors.push(ParameterError::EmptyItem(format!("{kind}_{ITEM}_{index}")));
            }
            row.retain(|_, value| !value.is_empty());
            for (field, is_required) in fields(kind) {
                let name = format!("{kind}_{field}_{index}");
                if *is_required && !row.contains_key(field) && !self.is_invalid(&name) {
                    self.errors.push(ParameterError::Missing(name));
                }
            }
        }
        rows
    }

    fn boxes(&mut self) -> Vec<BoxRow> {
        let rows = self.rows_of(RowKind::Box);
        if rows.is_empty() {
            self.errors.push(ParameterError::NoBoxRow);
        }
        let mut boxes: Vec<BoxRow> = Vec::new();
        for (index, mut row) in rows {
            if !row.contains_key(ROW_SUBMIT) && !self.is_invalid(&format!("{index}_box_{ROW_SUBMIT}")) {
                self.errors.push(ParameterError::Missing(format!("{index}_box_{ROW_SUBMIT}")));
            }
            let (Some(shipment_id), Some(box_type_id)) = (row.remove(SHIPMENT), row.remove(BOX_TYPE)) else { continue };
            boxes.push(BoxRow { index, shipment_id, box_type_id });
        }
        boxes
    }

    fn rejections(&mut self) -> Vec<RejectionRow> {
        let row = |(index, mut row): (u32, Fields)| {
            let (shipment_id, reason) = (row.remove(SHIPMENT)?, row.remove(REASON)?);
            Some(RejectionRow { index, shipment_id, item_seq_id: row.remove(ITEM), reason })
        };
        self.rows_of(RowKind::Rejection).into_iter().filter_map(row).collect()
    }

    fn moves(&mut self) -> Vec<MoveRow> {
        let row = |(index, mut row): (u32, Fields)| {
            let (shipment_id, new_shipment_id) = (row.remove(SHIPMENT)?, row.remove(NEW_SHIPMENT)?);
            Some(MoveRow { index, shipment_id, item_seq_id: row.remove(ITEM), new_shipment_id })
        };
        self.rows_of(RowKind::Move).into_iter().filter_map(row).collect()
    }

    /// Whether an error about the parameter's value was reported. `name` has no trailing underscore.
    fn is_invalid(&self, name: &str) -> bool {
        self.errors.iter().any(|error| match error {
            ParameterError::NotANumber(invalid)
            | ParameterError::TooLong(invalid)
            | ParameterError::Contradictory(invalid) => invalid.strip_suffix('_').unwrap_or(invalid) == name,
            ParameterError::Missing(_)
            | ParameterError::EmptyItem(_)
            | ParameterError::NoBoxRow
            | ParameterError::BadIndex(_)
            | ParameterError::TooManyRows => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: &str = "facilityId=S&box_shipmentId_0=10&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=B";

    fn parse(text: &str) -> Result<UpdateRequest, Vec<ParameterError>> {
        UpdateRequest::parse(&UpdateForm::new(form_urlencoded::parse(text.as_bytes()).into_owned().collect()))
    }

    fn errors(text: &str) -> Vec<String> {
        parse(text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn parses_rows_of_all_kinds_by_their_indexes() {
        let request = parse(&format!(
            "{BOX}&rej_shipmentId_3=10&rej_shipmentItemSeqId_3=00001&rej_rejectionReason_3=R&3_rej_rowSubmit_=3\
             &rtp_shipmentId_0=10&rtp_newShipmentId_0=11&orderId=X&shipmentIds=1&shipmentIds=2"
        ))
        .unwrap();
        assert_eq!(request.facility_id, "S");
        assert_eq!(request.boxes, [BoxRow { index: 0, shipment_id: "10".into(), box_type_id: "B".into() }]);
        let rejection =
            RejectionRow { index: 3, shipment_id: "10".into(), item_seq_id: Some("00001".into()), reason: "R".into() };
        assert_eq!(request.rejections, [rejection]);
        let moved = MoveRow { index: 0, shipment_id: "10".into(), item_seq_id: None, new_shipment_id: "11".into() };
        assert_eq!(request.moves, [moved]);
    }

    #[test]
    fn echoes_all_parameters_and_row_submits_as_numbers() {
        let request =
            parse(&format!("{BOX}&3_rej_rowSubmit_=007&rej_shipmentId_3=10&rej_rejectionReason_3=R&ids=1&ids=2"));
        let echo = request.unwrap().echo;
        let value = |name: &str| echo.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        assert_eq!(value("facilityId"), Some(EchoValue::Text("S".into())));
        assert_eq!(value("0_box_rowSubmit"), Some(EchoValue::Number(0)));
        assert_eq!(value("3_rej_rowSubmit_"), Some(EchoValue::Number(7)));
        assert_eq!(value("ids"), Some(EchoValue::List(vec!["1".into(), "2".into()])));
        assert_eq!(echo.len(), 8);
    }

    #[test]
    fn reports_all_errors_together() {
        assert_eq!(
            errors(
                "box_shipmentId_x=1&0_box_rowSubmit=zero&box_shipmentId_0=1&rej_shipmentId_1=&rtp_shipmentItemSeqId_2=1"
            ),
            [
                "the parameter facilityId is missing",
                "the parameter box_shipmentId_x has an index that is no whole number up to 4294967295",
                "the parameter 0_box_rowSubmit is no whole number up to 4294967295",
                "the parameter box_shipmentBoxTypeId_0 is missing",
                "the parameter rej_shipmentId_1 is missing",
                "the parameter rej_rejectionReason_1 is missing",
                "the parameter rtp_shipmentId_2 is missing",
                "the parameter rtp_newShipmentId_2 is missing",
            ]
        );
        assert_eq!(errors("facilityId=S").len(), 1);
        assert_eq!(
            errors(&format!("{BOX}&rej_shipmentId_0=10&rej_rejectionReason_0=R&rej_shipmentItemSeqId_0=")),
            ["the parameter rej_shipmentItemSeqId_0 is empty; leave it out to mean every item of the shipment"]
        );
        assert_eq!(errors(&BOX.replace("0_box_rowSubmit=0&", "")), ["the parameter 0_box_rowSubmit is missing"]);
    }

    #[test]
    fn rejects_parameters_with_several_values() {
        assert!(parse(&format!("{BOX}&box_shipmentId_0=10")).is_ok());
        let expected = ["the parameter box_shipmentId_0 was sent with different values"];
        assert_eq!(errors(&format!("{BOX}&box_shipmentId_0=11")), expected);
        assert_eq!(errors(&format!("{BOX}&facilityId=T")), ["the parameter facilityId was sent with different values"]);
        // The same row with its index written in two ways.
        assert_eq!(
            errors(&format!("{BOX}&box_shipmentId_00=11"))[0],
            "the parameter box_shipmentId_00 was sent with different values"
        );
    }

    #[test]
    fn the_last_of_several_box_types_of_a_shipment_counts() {
        let row = |index: u32, shipment: &str, box_type: &str| {
            format!(
                "&box_shipmentId_{index}={shipment}&{index}_box_rowSubmit={index}&box_shipmentBoxTypeId_{index}={box_type}"
            )
        };
        let rows = [row(2, "10", "D"), row(1, "10", "C"), row(3, "11", "E"), row(4, "11", "E")];
        let request = parse(&format!("{BOX}{}", rows.concat())).unwrap();
        let indexes = |rows: Vec<&BoxRow>| rows.into_iter().map(|row| row.index).collect::<Vec<_>>();
        assert_eq!(indexes(request.last_boxes().into_values().collect()), [2, 4]);
        assert_eq!(indexes(request.overriding_boxes()), [2]);
    }

    #[test]
    fn rejects_too_many_rows() {
        let rows: Vec<_> = (0..=MAX_ROWS)
            .map(|n| format!("&box_shipmentId_{n}={n}&{n}_box_rowSubmit={n}&box_shipmentBoxTypeId_{n}=B"))
            .collect();
        assert_eq!(errors(&format!("facilityId=S{}", rows.concat())), ["the form has more than 500 rows"]);
    }
}
