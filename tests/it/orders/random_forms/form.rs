//! Forms as a store's apps send them: the rows, and how each app writes them.

use std::fmt::Write as _;

use crate::support::random::Random;
use crate::support::store::{MULTIPART, URLENCODED, multipart};

/// A form. The rows of each kind are in the order of their indexes, which are their positions.
#[derive(Debug, Default)]
pub struct Form {
    pub facility: Option<String>,
    pub boxes: Vec<BoxRow>,
    pub rejections: Vec<RejectionRow>,
    pub moves: Vec<MoveRow>,
}

#[derive(Debug)]
pub struct BoxRow {
    pub shipment: String,
    pub box_type: Option<String>,
}

#[derive(Debug)]
pub struct RejectionRow {
    pub shipment: String,
    /// `None` means all items.
    pub item: Option<String>,
    pub reason: Option<String>,
}

#[derive(Debug)]
pub struct MoveRow {
    pub shipment: String,
    /// `None` means all items.
    pub item: Option<String>,
    pub to: Option<String>,
}

impl Form {
    /// The header and the body. The apps differ in the encoding, in the names of the row-submits, and in what else they send.
    pub fn write(&self, random: &mut Random) -> (&'static str, String) {
        let underscore = if random.chance(50) { "_" } else { "" };
        let mut rows: Vec<String> = Vec::new();
        for (index, row) in self.boxes.iter().enumerate() {
            let mut text =
                format!("&box_shipmentId_{index}={}&{index}_box_rowSubmit{underscore}={index}", row.shipment);
            add(&mut text, "box_shipmentBoxTypeId", index, row.box_type.as_deref());
            rows.push(text);
        }
        for (index, row) in self.rejections.iter().enumerate() {
            let mut text = format!("&rej_shipmentId_{index}={}&{index}_rej_rowSubmit_={index}", row.shipment);
            add(&mut text, "rej_shipmentItemSeqId", index, row.item.as_deref());
            add(&mut text, "rej_rejectionReason", index, row.reason.as_deref());
            rows.push(text);
        }
        for (index, row) in self.moves.iter().enumerate() {
            let mut text =
                format!("&rtp_shipmentId_{index}={}&{index}_rtp_rowSubmit{underscore}={index}", row.shipment);
            add(&mut text, "rtp_shipmentItemSeqId", index, row.item.as_deref());
            add(&mut text, "rtp_newShipmentId", index, row.to.as_deref());
            rows.push(text);
        }
        for last in (1..rows.len()).rev() {
            rows.swap(last, random.below(last + 1));
        }
        let facility = self.facility.as_ref().map(|facility| format!("&facilityId={facility}")).unwrap_or_default();
        let rest = *random.pick(&["", "&picklistBinId=undefined", "&orderId=X&shipmentIds=1&shipmentIds=2"]);
        let text = format!("{}{facility}{rest}", rows.concat());
        let text = text.trim_start_matches('&');
        if random.chance(50) { (URLENCODED, text.to_owned()) } else { (MULTIPART, multipart(text)) }
    }
}

fn add(text: &mut String, name: &str, index: usize, value: Option<&str>) {
    if let Some(value) = value {
        let _ = write!(text, "&{name}_{index}={value}");
    }
}
