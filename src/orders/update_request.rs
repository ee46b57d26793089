//! An order update's form, parsed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use serde::Serialize;

use crate::orders::error::{MAX_ROWS, ParameterError};
use crate::orders::field_value::{self, parse_days, parse_flag};
use crate::orders::param_name::{
    BOX_TYPE, CASCADE, COMMENTS, EXCLUSION, FACILITY, ITEM, LOWERS_QOH, MAY_SPLIT, NEW_SHIPMENT, ParamName, REASON,
    ROW_SUBMIT, SHIPMENT, fields, name_of,
};
use crate::orders::update_form::UpdateForm;
use crate::orders::update_row::{BoxRow, MoveRow, RejectionOptions, RejectionRow, RemovalRow, RowId, UpdateRowKind};

/// A valid order update.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UpdateRequest {
    /// The facility at which all shipments start.
    pub(crate) facility_id: String,
    /// Box types to set, by index; at least one, or a new or removed box. Of several rows of a shipment the last one counts.
    pub(crate) boxes: Vec<BoxRow>,
    /// Boxes to add.
    pub(crate) new_boxes: Vec<BoxRow>,
    /// Items to reject.
    pub(crate) rejections: Vec<RejectionRow>,
    /// Items to move to another shipment.
    pub(crate) moves: Vec<MoveRow>,
    /// Empty boxes to remove.
    pub(crate) removals: Vec<RemovalRow>,
    /// The parameters that the response repeats, by name, in the order in which they were sent. Includes unknown ones.
    pub(crate) echo: Vec<(String, EchoValue)>,
    /// The set of all parameters in one encoding, for comparing repeated requests.
    pub(crate) canonical: String,
    /// The facility and the fields of the rows in one encoding, for the audit. A client decides how many other parameters it
    /// sends.
    pub(crate) audited: String,
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
        let boxes = parser.rows_of(UpdateRowKind::Box, box_row);
        let new_boxes = parser.rows_of(UpdateRowKind::NewBox, box_row);
        let box_kinds = [UpdateRowKind::Box, UpdateRowKind::NewBox, UpdateRowKind::Removal];
        if !parser.rows.keys().any(|id| box_kinds.contains(&id.kind)) {
            parser.errors.push(ParameterError::NoBoxRow);
        }
        let rejections = parser.rows_of(UpdateRowKind::Rejection, |index, row| {
            let (shipment_id, item_seq_id) = (row.take(SHIPMENT)?, row.take(ITEM));
            let options = RejectionOptions {
                may_split: row.take_flag(MAY_SPLIT),
                cascades: row.take_flag(CASCADE).unwrap_or(false),
                lowers_quantity_on_hand: row.take_flag(LOWERS_QOH),
                exclusion_days: row.take(EXCLUSION).as_deref().and_then(parse_days),
                comment: row.take(COMMENTS),
            };
            Some(RejectionRow { index, shipment_id, item_seq_id, reason: row.take(REASON)?, options })
        });
        let moves = parser.rows_of(UpdateRowKind::Move, |index, row| {
            let (shipment_id, item_seq_id) = (row.take(SHIPMENT)?, row.take(ITEM));
            Some(MoveRow { index, shipment_id, item_seq_id, new_shipment_id: row.take(NEW_SHIPMENT)? })
        });
        let removals = parser
            .rows_of(UpdateRowKind::Removal, |index, row| Some(RemovalRow { index, shipment_id: row.take(SHIPMENT)? }));
        if !parser.facility.0.contains_key(FACILITY) || parser.facility.is_empty(FACILITY) {
            parser.errors.insert(0, ParameterError::Missing(FACILITY.to_owned()));
        }
        match parser.facility.take(FACILITY) {
            Some(facility_id) if parser.errors.is_empty() => {
                let rows = parser.audited.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                let audited = encoded(iter::once((FACILITY, facility_id.as_str())).chain(rows));
                let canonical = encoded(form.iter().collect::<BTreeSet<_>>().into_iter());
                Ok(Self { facility_id, boxes, new_boxes, rejections, moves, removals, echo, canonical, audited })
            }
            _ => Err(parser.errors),
        }
    }

    /// The shipments that the rows name.
    pub(crate) fn shipment_ids(&self) -> BTreeSet<String> {
        let boxes = self.boxes.iter().chain(&self.new_boxes).map(|row| &row.shipment_id);
        let moves = self.moves.iter().flat_map(|row| [&row.shipment_id, &row.new_shipment_id]);
        let removals = self.removals.iter().map(|row| &row.shipment_id);
        let rejections = self.rejections.iter().map(|row| &row.shipment_id);
        boxes.chain(rejections).chain(moves).chain(removals).cloned().collect()
    }

    /// The first row that rejects by product.
    pub(crate) fn first_cascade(&self) -> Option<&RejectionRow> {
        self.rejections.iter().find(|row| row.options.cascades)
    }

    /// The last box row of each shipment.
    pub(crate) fn last_boxes(&self) -> BTreeMap<&str, &BoxRow> {
        self.boxes.iter().map(|row| (row.shipment_id.as_str(), row)).collect()
    }

    /// The last box row of each shipment whose box rows have different types. A client that has a type for each package sends several rows
    /// for a shipment, and its rows do not name the package.
    pub(crate) fn overriding_boxes(&self) -> Vec<&BoxRow> {
        let mut last_boxes = self.last_boxes();
        last_boxes.retain(|shipment_id, last| {
            let mut rows = self.boxes.iter().filter(|row| row.shipment_id == *shipment_id);
            rows.any(|row| row.box_type_id != last.box_type_id)
        });
        last_boxes.into_values().collect()
    }
}

fn box_row(index: u32, row: &mut RowFields) -> Option<BoxRow> {
    Some(BoxRow { index, shipment_id: row.take(SHIPMENT)?, box_type_id: row.take(BOX_TYPE)? })
}

impl EchoValue {
    fn new(param: ParamName, values: &[&str]) -> Self {
        match (param, values) {
            (ParamName::Field(_, ROW_SUBMIT), [value]) => {
                value.parse().map_or_else(|_| Self::Text((*value).to_owned()), Self::Number)
            }
            (_, [value]) => Self::Text((*value).to_owned()),
            (_, values) => Self::List(values.iter().map(|value| (*value).to_owned()).collect()),
        }
    }
}

fn encoded<'a>(parameters: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish()
}

/// The fields of a row by name. `None` is a value with an error, which was reported.
#[derive(Default)]
struct RowFields(BTreeMap<&'static str, Option<String>>);

impl RowFields {
    /// Takes a value that is not empty.
    fn take(&mut self, field: &str) -> Option<String> {
        self.0.remove(field).flatten().filter(|value| !value.is_empty())
    }

    fn take_flag(&mut self, field: &str) -> Option<bool> {
        parse_flag(&self.take(field)?)
    }

    fn is_empty(&self, field: &str) -> bool {
        self.0.get(field).is_some_and(|value| value.as_deref() == Some(""))
    }
}

/// Collects parameters into rows, and errors.
#[derive(Default)]
struct RowParser {
    /// The facility alone.
    facility: RowFields,
    rows: BTreeMap<RowId, RowFields>,
    errors: Vec<ParameterError>,
    audited: Vec<(String, String)>,
}

impl RowParser {
    fn add(&mut self, name: &str, param: ParamName, values: &[&str]) {
        let field = match param {
            ParamName::Facility => None,
            ParamName::Field(id, field) => Some((id, field)),
            ParamName::BadIndex => return self.errors.push(ParameterError::BadIndex(name.to_owned())),
            ParamName::Unknown(kind) => {
                return self.errors.push(ParameterError::Unknown { name: name.to_owned(), kind });
            }
            ParamName::KitComponents => return self.errors.push(ParameterError::KitComponents(name.to_owned())),
            ParamName::Other => return,
        };
        let value = match values {
            [value] => field_value::check(name, field.map(|(_, field)| field), value).map(|()| (*value).to_owned()),
            _ => Err(ParameterError::Contradictory(name.to_owned())),
        };
        let value = value.map_err(|error| self.errors.push(error)).ok();
        let Some((id, field)) = field else {
            self.facility.0.insert(FACILITY, value);
            return;
        };
        if self.rows.len() == MAX_ROWS && !self.rows.contains_key(&id) {
            if self.errors.last() != Some(&ParameterError::TooManyRows) {
                self.errors.push(ParameterError::TooManyRows);
            }
            return;
        }
        match self.rows.entry(id).or_default().0.entry(field) {
            Entry::Vacant(entry) => _ = entry.insert(value),
            // The row with its index written in another way.
            Entry::Occupied(entry) if value.is_some() && *entry.get() != value => {
                self.errors.push(ParameterError::Contradictory(name.to_owned()));
            }
            Entry::Occupied(_) => {}
        }
    }

    /// Makes the rows of a kind, by index. Adds errors for missing fields.
    fn rows_of<T>(&mut self, kind: UpdateRowKind, make: impl Fn(u32, &mut RowFields) -> Option<T>) -> Vec<T> {
        let mut made = Vec::new();
        for (id, row) in self.rows.range_mut(RowId { kind, index: 0 }..=RowId { kind, index: u32::MAX }) {
            if row.is_empty(ITEM) {
                self.errors.push(ParameterError::EmptyItem(name_of(*id, ITEM)));
            }
            for (field, is_required) in fields(kind) {
                let name = || name_of(*id, field);
                match row.0.get(field) {
                    // A row-submit says nothing that its row does not say.
                    Some(Some(_)) if *field == ROW_SUBMIT => {}
                    Some(Some(value)) if !value.is_empty() => self.audited.push((name(), value.clone())),
                    Some(None) => {}
                    None | Some(Some(_)) if !is_required => {}
                    None | Some(Some(_)) => self.errors.push(ParameterError::Missing(name())),
                }
            }
            made.extend(make(id.index, row));
        }
        made
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
        let rejection = RejectionRow {
            index: 3,
            shipment_id: "10".into(),
            item_seq_id: Some("00001".into()),
            reason: "R".into(),
            options: RejectionOptions::default(),
        };
        assert_eq!(request.rejections, [rejection]);
        let moved = MoveRow { index: 0, shipment_id: "10".into(), item_seq_id: None, new_shipment_id: "11".into() };
        assert_eq!(request.moves, [moved]);
    }

    #[test]
    fn a_rejection_has_options_and_a_box_can_be_removed() {
        let form = "facilityId=S&rem_shipmentId_4=11&rej_shipmentId_0=10&rej_rejectionReason_0=R&rej_maySplit_0=N\
                    &rej_cascadeRejectByProduct_0=true&rej_updateQOH_0=false&rej_excludeOrderFacilityDuration_0=007\
                    &rej_comments_0=Torn";
        let request = parse(form).unwrap();
        let options = RejectionOptions {
            may_split: Some(false),
            cascades: true,
            lowers_quantity_on_hand: Some(false),
            exclusion_days: Some(7),
            comment: Some("Torn".into()),
        };
        assert_eq!(request.rejections[0].options, options);
        assert_eq!(request.removals, [RemovalRow { index: 4, shipment_id: "11".into() }]);
        assert_eq!(request.shipment_ids(), ["10".to_owned(), "11".to_owned()].into());
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
    fn the_audit_has_the_facility_and_the_rows_alone() {
        let form =
            "notes=1&rtp_shipmentId_07=10&rtp_newShipmentId_7=11&rtp_rejectionReason_7=R&7_rtp_rowSubmit_=007&notes=2";
        assert_eq!(
            parse(&format!("{form}&{BOX}")).unwrap().audited,
            "facilityId=S&box_shipmentId_0=10&box_shipmentBoxTypeId_0=B&rtp_shipmentId_7=10&rtp_newShipmentId_7=11\
             &rtp_rejectionReason_7=R"
        );
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
        assert_eq!(
            errors(&format!("{BOX}&rej_quantity_0=1")),
            ["there is no parameter rej_quantity_0; the rej rows have rej_shipmentId_<n>, rej_shipmentItemSeqId_<n>, \
              rej_rejectionReason_<n>, rej_maySplit_<n>, rej_cascadeRejectByProduct_<n>, rej_updateQOH_<n>, \
              rej_excludeOrderFacilityDuration_<n>, rej_comments_<n>, <n>_rej_rowSubmit"]
        );
        assert_eq!(
            errors(&format!("{BOX}&rej_kitComponents_0=A")),
            [
                "the parameter rej_kitComponents_0 is not supported: an order item is rejected as a whole, and not the components of \
              a kit one by one"
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
        // The row with its index written in two ways.
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
