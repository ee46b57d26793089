//! The parameters of an order update as typed rows.
//!
//! A row is found by its index, which stands in the names of its parameters: `box_shipmentId_0`, `0_box_rowSubmit`. The
//! indexes of different kinds of rows have nothing to do with each other, because clients number packages and items apart.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::orders::update_form::UpdateForm;

/// The most rows of one request.
const MOST_ROWS: usize = 500;

/// What a form asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Update {
    /// Where the shipments start.
    pub facility_id: String,
    /// Box types of shipments; at least one.
    pub boxes: Vec<BoxRow>,
    /// Items to reject.
    pub rejections: Vec<Rejection>,
    /// Items to move to another shipment.
    pub moves: Vec<Move>,
}

/// The box type of a shipment's packages.
#[derive(Debug, PartialEq, Eq)]
pub struct BoxRow {
    /// The row's index.
    pub index: u32,
    /// The shipment.
    pub shipment_id: String,
    /// Its box type.
    pub box_type_id: String,
}

/// An item to reject, or all of a shipment's.
#[derive(Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The row's index.
    pub index: u32,
    /// The shipment.
    pub shipment_id: String,
    /// The item; every item where it is left out.
    pub item_seq_id: Option<String>,
    /// Why.
    pub reason: String,
}

/// An item to move to another shipment, or all of a shipment's.
#[derive(Debug, PartialEq, Eq)]
pub struct Move {
    /// The row's index.
    pub index: u32,
    /// The shipment that it is in.
    pub shipment_id: String,
    /// The item; every item where it is left out.
    pub item_seq_id: Option<String>,
    /// The shipment that it goes to.
    pub new_shipment_id: String,
}

/// The kinds of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `box`
    Box,
    /// `rej`
    Rejection,
    /// `rtp`, ready to pack
    Move,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Box, Self::Rejection, Self::Move];

    const fn prefix(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Rejection => "rej",
            Self::Move => "rtp",
        }
    }

    /// Its parameters beside the row-submit: their names, and whether they are required.
    const fn parts(self) -> &'static [(&'static str, bool)] {
        match self {
            Self::Box => &[(SHIPMENT, true), (BOX_TYPE, true)],
            Self::Rejection => &[(SHIPMENT, true), (ITEM, false), (REASON, true)],
            Self::Move => &[(SHIPMENT, true), (ITEM, false), (NEW_SHIPMENT, true), (REASON, false)],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix())
    }
}

const FACILITY: &str = "facilityId";
const SHIPMENT: &str = "shipmentId";
const BOX_TYPE: &str = "shipmentBoxTypeId";
const ITEM: &str = "shipmentItemSeqId";
const NEW_SHIPMENT: &str = "newShipmentId";
const REASON: &str = "rejectionReason";
const ROW_SUBMIT: &str = "rowSubmit";

/// A parameter that is missing or cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadParameter {
    /// It is required.
    #[error("the parameter {0} is missing")]
    Missing(String),
    /// An item that is empty rather than left out, which would mean all items.
    #[error("the parameter {0} is empty; leave it out to mean every item of the shipment")]
    EmptyItem(String),
    /// No row that says what box a shipment is in.
    #[error("at least one row with box_shipmentId_<n>, box_shipmentBoxTypeId_<n> and <n>_box_rowSubmit is required")]
    NoBoxRow,
    /// Its index is no number.
    #[error("the parameter {0} has an index that is no whole number up to {max}", max = u32::MAX)]
    BadIndex(String),
    /// A row-submit's value is no number.
    #[error("the parameter {0} is no whole number up to {max}", max = u32::MAX)]
    NotANumber(String),
    /// It was sent twice.
    #[error("the parameter {0} was sent with different values")]
    Contradictory(String),
    /// Two rows give one shipment different boxes.
    #[error("the rows {first} and {second} give the shipment {shipment_id} different box types")]
    TwoBoxTypes {
        /// One row's index.
        first: u32,
        /// The other's.
        second: u32,
        /// The shipment.
        shipment_id: String,
    },
    /// More rows than are taken.
    #[error("the form has more than {MOST_ROWS} rows")]
    TooManyRows,
}

/// Reads a form. Everything that is wrong with it is reported.
pub fn read(form: &UpdateForm) -> Result<Update, Vec<BadParameter>> {
    let mut reader = Reader::default();
    for (name, values) in form.grouped() {
        reader.add(name, &values);
    }
    let (boxes, rejections, moves) = (reader.boxes(), reader.rejections(), reader.moves());
    let facility_id = reader.facility_id.take().filter(|id| !id.is_empty());
    if facility_id.is_none() && !reader.is_faulty(FACILITY) {
        reader.faults.insert(0, BadParameter::Missing(FACILITY.to_owned()));
    }
    match facility_id {
        Some(facility_id) if reader.faults.is_empty() => Ok(Update { facility_id, boxes, rejections, moves }),
        _ => Err(reader.faults),
    }
}

/// Whether a parameter is a row-submit, whose value is a number.
pub fn is_row_submit(name: &str) -> bool {
    matches!(place(name), Some(ParamName { part: ROW_SUBMIT, index: Ok(_), .. }))
}

/// Where a parameter belongs.
struct ParamName<'a> {
    kind: Kind,
    part: &'static str,
    index: Result<u32, &'a str>,
}

fn place(name: &str) -> Option<ParamName<'_>> {
    Kind::ALL.into_iter().find_map(|kind| {
        let part = kind.parts().iter().find_map(|(part, _)| {
            let index = name.strip_prefix(kind.prefix())?.strip_prefix('_')?.strip_prefix(part)?.strip_prefix('_')?;
            Some(ParamName { kind, part, index: number(index).ok_or(index) })
        });
        part.or_else(|| {
            // Clients end it with an underscore, or don't.
            let rest = name.strip_suffix('_').unwrap_or(name);
            let index = rest.strip_suffix(ROW_SUBMIT)?.strip_suffix('_')?.strip_suffix(kind.prefix())?;
            let index = index.strip_suffix('_')?;
            Some(ParamName { kind, part: ROW_SUBMIT, index: number(index).ok_or(index) })
        })
    })
}

fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[derive(Default)]
struct Reader {
    facility_id: Option<String>,
    rows: BTreeMap<(Kind, u32), BTreeMap<&'static str, String>>,
    faults: Vec<BadParameter>,
}

impl Reader {
    fn add(&mut self, name: &str, values: &[&str]) {
        let place = place(name);
        if place.is_none() && name != FACILITY {
            return; // not ours; it is echoed
        }
        let [value] = values else { return self.faults.push(BadParameter::Contradictory(name.to_owned())) };
        let Some(ParamName { kind, part, index }) = place else {
            self.facility_id = Some((*value).to_owned());
            return;
        };
        let Ok(index) = index else { return self.faults.push(BadParameter::BadIndex(name.to_owned())) };
        if part == ROW_SUBMIT && number(value).is_none() {
            return self.faults.push(BadParameter::NotANumber(name.to_owned()));
        }
        if self.rows.len() == MOST_ROWS && !self.rows.contains_key(&(kind, index)) {
            if self.faults.last() != Some(&BadParameter::TooManyRows) {
                self.faults.push(BadParameter::TooManyRows);
            }
            return;
        }
        let row = self.rows.entry((kind, index)).or_default();
        match row.insert(part, (*value).to_owned()) {
            Some(other) if other != *value => self.faults.push(BadParameter::Contradictory(name.to_owned())),
            _ => {}
        }
    }

    /// The rows of a kind by index, each with its parameters; what is missing in one is a fault.
    fn rows(&mut self, kind: Kind) -> Vec<(u32, BTreeMap<&'static str, String>)> {
        let range = (kind, 0)..=(kind, u32::MAX);
        let mut rows: Vec<_> = self.rows.range(range).map(|((_, index), row)| (*index, row.clone())).collect();
        for (index, row) in &mut rows {
            if row.get(ITEM).is_some_and(String::is_empty) {
                self.faults.push(BadParameter::EmptyItem(format!("{kind}_{ITEM}_{index}")));
            }
            row.retain(|_, value| !value.is_empty());
            for (part, required) in kind.parts() {
                let name = format!("{kind}_{part}_{index}");
                if *required && !row.contains_key(part) && !self.is_faulty(&name) {
                    self.faults.push(BadParameter::Missing(name));
                }
            }
        }
        rows
    }

    fn boxes(&mut self) -> Vec<BoxRow> {
        let rows = self.rows(Kind::Box);
        if rows.is_empty() {
            self.faults.push(BadParameter::NoBoxRow);
        }
        let mut boxes: Vec<BoxRow> = Vec::new();
        for (index, mut row) in rows {
            if !row.contains_key(ROW_SUBMIT) && !self.is_faulty(&format!("{index}_box_{ROW_SUBMIT}")) {
                self.faults.push(BadParameter::Missing(format!("{index}_box_{ROW_SUBMIT}")));
            }
            let (Some(shipment_id), Some(box_type_id)) = (row.remove(SHIPMENT), row.remove(BOX_TYPE)) else { continue };
            let other = boxes.iter().find(|other| other.shipment_id == shipment_id);
            if let Some(other) = other.filter(|other| other.box_type_id != box_type_id) {
                let first = other.index;
                self.faults.push(BadParameter::TwoBoxTypes { first, second: index, shipment_id: shipment_id.clone() });
            }
            boxes.push(BoxRow { index, shipment_id, box_type_id });
        }
        boxes
    }

    fn rejections(&mut self) -> Vec<Rejection> {
        let row = |(index, mut row): (u32, BTreeMap<_, _>)| {
            let (shipment_id, reason) = (row.remove(SHIPMENT)?, row.remove(REASON)?);
            Some(Rejection { index, shipment_id, item_seq_id: row.remove(ITEM), reason })
        };
        self.rows(Kind::Rejection).into_iter().filter_map(row).collect()
    }

    fn moves(&mut self) -> Vec<Move> {
        let row = |(index, mut row): (u32, BTreeMap<_, _>)| {
            let (shipment_id, new_shipment_id) = (row.remove(SHIPMENT)?, row.remove(NEW_SHIPMENT)?);
            Some(Move { index, shipment_id, item_seq_id: row.remove(ITEM), new_shipment_id })
        };
        self.rows(Kind::Move).into_iter().filter_map(row).collect()
    }

    /// Whether a parameter was sent, with or without a trailing underscore, and cannot be used.
    fn is_faulty(&self, name: &str) -> bool {
        self.faults.iter().any(|fault| match fault {
            BadParameter::NotANumber(bad) | BadParameter::Contradictory(bad) => {
                bad.strip_suffix('_').unwrap_or(bad) == name
            }
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> UpdateForm {
        UpdateForm::new(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    fn faults(text: &str) -> Vec<String> {
        read(&form(text)).unwrap_err().iter().map(ToString::to_string).collect()
    }

    const BOX: &str = "facilityId=S&box_shipmentId_0=10&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=B";

    #[test]
    fn rows_of_all_kinds_are_found_by_their_indexes() {
        let update = read(&form(&format!(
            "{BOX}&rej_shipmentId_3=10&rej_shipmentItemSeqId_3=00001&rej_rejectionReason_3=R&3_rej_rowSubmit_=3\
             &rtp_shipmentId_0=10&rtp_newShipmentId_0=11&orderId=X&shipmentIds=1&shipmentIds=2"
        )));
        let expected = Update {
            facility_id: "S".into(),
            boxes: vec![BoxRow { index: 0, shipment_id: "10".into(), box_type_id: "B".into() }],
            rejections: vec![Rejection {
                index: 3,
                shipment_id: "10".into(),
                item_seq_id: Some("00001".into()),
                reason: "R".into(),
            }],
            moves: vec![Move { index: 0, shipment_id: "10".into(), item_seq_id: None, new_shipment_id: "11".into() }],
        };
        assert_eq!(update, Ok(expected));
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        assert_eq!(
            faults(
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
        assert_eq!(faults("facilityId=S").len(), 1);
        assert_eq!(
            faults(&format!("{BOX}&rej_shipmentId_0=10&rej_rejectionReason_0=R&rej_shipmentItemSeqId_0=")),
            ["the parameter rej_shipmentItemSeqId_0 is empty; leave it out to mean every item of the shipment"]
        );
        assert_eq!(faults(&BOX.replace("0_box_rowSubmit=0&", "")), ["the parameter 0_box_rowSubmit is missing"]);
    }

    #[test]
    fn a_parameter_has_one_value() {
        assert!(read(&form(&format!("{BOX}&box_shipmentId_0=10"))).is_ok());
        let told = ["the parameter box_shipmentId_0 was sent with different values"];
        assert_eq!(faults(&format!("{BOX}&box_shipmentId_0=11")), told);
        assert_eq!(faults(&format!("{BOX}&facilityId=T")), ["the parameter facilityId was sent with different values"]);
        // One row, its index written in two ways.
        assert_eq!(
            faults(&format!("{BOX}&box_shipmentId_00=11"))[0],
            "the parameter box_shipmentId_00 was sent with different values"
        );
        assert_eq!(
            faults(&format!("{BOX}&box_shipmentId_1=10&1_box_rowSubmit=1&box_shipmentBoxTypeId_1=C")),
            ["the rows 0 and 1 give the shipment 10 different box types"]
        );
    }

    #[test]
    fn row_submits_are_known_with_and_without_a_trailing_underscore() {
        for name in ["0_box_rowSubmit", "12_rej_rowSubmit_", "3_rtp_rowSubmit"] {
            assert!(is_row_submit(name), "{name}");
        }
        for name in ["box_rowSubmit", "x_box_rowSubmit", "0_foo_rowSubmit", "rowSubmit", "0__rowSubmit"] {
            assert!(!is_row_submit(name), "{name}");
        }
    }

    #[test]
    fn rows_are_bounded() {
        let rows: Vec<_> = (0..=MOST_ROWS)
            .map(|n| format!("&box_shipmentId_{n}={n}&{n}_box_rowSubmit={n}&box_shipmentBoxTypeId_{n}=B"))
            .collect();
        assert_eq!(faults(&format!("facilityId=S{}", rows.concat())), ["the form has more than 500 rows"]);
    }
}
