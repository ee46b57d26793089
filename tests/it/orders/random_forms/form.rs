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
    /// The shipments to remove.
    pub removals: Vec<String>,
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
    pub options: Options,
}

/// What a row says about its rejection, as it is sent.
#[derive(Debug, Default, Clone)]
pub struct Options {
    pub may_split: Option<&'static str>,
    pub cascades: Option<&'static str>,
    pub lowers_on_hand: Option<&'static str>,
    pub days: Option<&'static str>,
    pub comments: Option<String>,
}

impl Options {
    /// Mostly none. Now and then one is no value of its parameter, if it `may_be_wrong`.
    pub fn random(random: &mut Random, may_be_wrong: bool) -> Self {
        let flag = |random: &mut Random| match random.below(100) {
            0..=14 => Some(*random.pick(&["Y", "true"])),
            15..=24 => Some(*random.pick(&["N", "false"])),
            25 if may_be_wrong => Some(*random.pick(&["", "yes", "y"])),
            _ => None,
        };
        Self {
            may_split: flag(random),
            cascades: flag(random),
            lowers_on_hand: flag(random),
            days: random.chance(15).then(|| *random.pick(&["0", "1", "14", "3650", "007", "2"])),
            comments: random.chance(15).then(|| (*random.pick(&["", "Torn, at the seam", "Gerissen"])).to_owned()),
        }
    }

    pub fn may_split(&self) -> Option<bool> {
        self.may_split.map(is_yes)
    }

    pub fn cascades(&self) -> bool {
        self.cascades.is_some_and(is_yes)
    }

    pub fn lowers_on_hand(&self) -> Option<bool> {
        self.lowers_on_hand.map(is_yes)
    }

    pub fn days(&self) -> Option<u32> {
        self.days.map(|days| days.parse().unwrap())
    }

    /// The names of the flags, with their values.
    fn flags(&self) -> [(&'static str, Option<&'static str>); 3] {
        [
            ("rej_maySplit", self.may_split),
            ("rej_cascadeRejectByProduct", self.cascades),
            ("rej_updateQOH", self.lowers_on_hand),
        ]
    }

    /// The faults of its values.
    pub fn faults(&self, index: usize) -> Vec<String> {
        let is_flag = |value: &str| ["Y", "N", "true", "false"].contains(&value);
        let faulty = self.flags().into_iter().filter(|(_, value)| value.is_some_and(|value| !is_flag(value)));
        faulty.map(|(name, _)| format!("the parameter {name}_{index} is neither Y nor N (nor true or false)")).collect()
    }
}

fn is_yes(flag: &str) -> bool {
    flag == "Y" || flag == "true"
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
            for (name, value) in row.options.flags() {
                add(&mut text, name, index, value);
            }
            add(&mut text, "rej_excludeOrderFacilityDuration", index, row.options.days);
            add(&mut text, "rej_comments", index, row.options.comments.as_deref());
            rows.push(text);
        }
        for (index, row) in self.moves.iter().enumerate() {
            let mut text =
                format!("&rtp_shipmentId_{index}={}&{index}_rtp_rowSubmit{underscore}={index}", row.shipment);
            add(&mut text, "rtp_shipmentItemSeqId", index, row.item.as_deref());
            add(&mut text, "rtp_newShipmentId", index, row.to.as_deref());
            rows.push(text);
        }
        for (index, shipment) in self.removals.iter().enumerate() {
            rows.push(format!("&rem_shipmentId_{index}={shipment}&{index}_rem_rowSubmit{underscore}={index}"));
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
