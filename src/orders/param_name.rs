//! The names of an order update's parameters.
//!
//! A name contains its row's kind and index: `box_shipmentId_0`, `0_box_rowSubmit`. Rows of different kinds are numbered
//! independently, because clients count packages and items separately.

use crate::orders::update_row::{RowId, UpdateRowKind};

pub(super) const FACILITY: &str = "facilityId";
pub(super) const SHIPMENT: &str = "shipmentId";
pub(super) const BOX_TYPE: &str = "shipmentBoxTypeId";
pub(super) const ITEM: &str = "shipmentItemSeqId";
pub(super) const NEW_SHIPMENT: &str = "newShipmentId";
pub(super) const REASON: &str = "rejectionReason";
pub(super) const MAY_SPLIT: &str = "maySplit";
pub(super) const CASCADE: &str = "cascadeRejectByProduct";
pub(super) const LOWERS_QOH: &str = "updateQOH";
pub(super) const EXCLUSION: &str = "excludeOrderFacilityDuration";
pub(super) const COMMENTS: &str = "comments";
pub(super) const ROW_SUBMIT: &str = "rowSubmit";

/// A field of rejections in the store's app, which these rows do not have.
const KIT_COMPONENTS: &str = "kitComponents";

/// A parsed name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParamName {
    Facility,
    /// A field of a row.
    Field(RowId, &'static str),
    /// A field of a row whose index is not a number.
    BadIndex,
    /// Named like a field of a row, which rows of the kind do not have.
    Unknown(UpdateRowKind),
    /// The components of a kit, which are not rejected one by one.
    KitComponents,
    /// Belongs to no row.
    Other,
}

impl ParamName {
    pub(super) fn parse(name: &str) -> Self {
        if name == FACILITY {
            return Self::Facility;
        }
        UpdateRowKind::ALL.into_iter().find_map(|kind| Self::of_kind(kind, name)).unwrap_or(Self::Other)
    }

    /// `None` if the name is not a parameter of a row of the kind.
    fn of_kind(kind: UpdateRowKind, name: &str) -> Option<Self> {
        let prefix = kind.prefix();
        if let Some(rest) = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')) {
            let named =
                fields(kind).iter().find_map(|(field, _)| Some((*field, rest.strip_prefix(field)?.strip_prefix('_')?)));
            let is_kit = kind == UpdateRowKind::Rejection && rest.starts_with(KIT_COMPONENTS);
            let unknown = if is_kit { Self::KitComponents } else { Self::Unknown(kind) };
            return Some(named.map_or(unknown, |(field, index)| Self::field(kind, field, index)));
        }
        // Some clients append an underscore.
        let submit = name.strip_suffix('_').unwrap_or(name).strip_suffix(ROW_SUBMIT);
        if let Some(index) = submit.and_then(|rest| rest.strip_suffix('_')?.strip_suffix(prefix)?.strip_suffix('_')) {
            return Some(Self::field(kind, ROW_SUBMIT, index));
        }
        let (index, rest) = name.split_once('_')?;
        let is_row = parse_number(index).is_some() && rest.strip_prefix(prefix)?.starts_with('_');
        is_row.then_some(Self::Unknown(kind))
    }

    fn field(kind: UpdateRowKind, field: &'static str, index: &str) -> Self {
        parse_number(index).map_or(Self::BadIndex, |index| Self::Field(RowId { kind, index }, field))
    }
}

/// The name of a row's field.
pub(super) fn name_of(RowId { kind, index }: RowId, field: &str) -> String {
    if field == ROW_SUBMIT { format!("{index}_{kind}_{field}") } else { format!("{kind}_{field}_{index}") }
}

/// The fields of a kind of rows, and whether each is required.
pub(super) const fn fields(kind: UpdateRowKind) -> &'static [(&'static str, bool)] {
    match kind {
        UpdateRowKind::Box => &[(SHIPMENT, true), (BOX_TYPE, true), (ROW_SUBMIT, true)],
        UpdateRowKind::NewBox => &[(SHIPMENT, true), (BOX_TYPE, true), (ROW_SUBMIT, false)],
        UpdateRowKind::Rejection => &[
            (SHIPMENT, true),
            (ITEM, false),
            (REASON, true),
            (MAY_SPLIT, false),
            (CASCADE, false),
            (LOWERS_QOH, false),
            (EXCLUSION, false),
            (COMMENTS, false),
            (ROW_SUBMIT, false),
        ],
        UpdateRowKind::Move => {
            &[(SHIPMENT, true), (ITEM, false), (NEW_SHIPMENT, true), (REASON, false), (ROW_SUBMIT, false)]
        }
        UpdateRowKind::Removal => &[(SHIPMENT, true), (ROW_SUBMIT, false)],
    }
}

/// Parses digits without a sign.
pub(super) fn parse_number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_row_submits_with_and_without_a_trailing_underscore() {
        for (name, kind, index) in [
            ("0_box_rowSubmit", UpdateRowKind::Box, 0),
            ("12_rej_rowSubmit_", UpdateRowKind::Rejection, 12),
            ("3_rtp_rowSubmit", UpdateRowKind::Move, 3),
        ] {
            assert_eq!(ParamName::parse(name), ParamName::Field(RowId { kind, index }, ROW_SUBMIT));
            assert_eq!(name_of(RowId { kind, index }, ROW_SUBMIT), name.trim_end_matches('_'));
        }
        assert_eq!(ParamName::parse("x_box_rowSubmit"), ParamName::BadIndex);
    }

    #[test]
    fn names_like_those_of_rows_are_unknown_and_others_belong_to_no_row() {
        for (name, kind) in [
            ("rej_quantity_0", UpdateRowKind::Rejection),
            ("rej_shipmentId", UpdateRowKind::Rejection),
            ("box_rowSubmit", UpdateRowKind::Box),
            ("rtp_shipmentid_0", UpdateRowKind::Move),
            ("rtp_shipmentBoxTypeId_0", UpdateRowKind::Move),
            ("0_rej_quantity", UpdateRowKind::Rejection),
            ("0_box_rowSubmit__", UpdateRowKind::Box),
            ("add_", UpdateRowKind::NewBox),
            ("rem_shipmentBoxTypeId_0", UpdateRowKind::Removal),
        ] {
            assert_eq!(ParamName::parse(name), ParamName::Unknown(kind), "{name}");
        }
        assert_eq!(ParamName::parse("rej_kitComponents_0"), ParamName::KitComponents);
        for name in [
            "orderId",
            "shipmentIds",
            "0_foo_rowSubmit",
            "rowSubmit",
            "0__rowSubmit",
            "box",
            "my_box_note",
            "_rowSubmit_o_0",
        ] {
            assert_eq!(ParamName::parse(name), ParamName::Other, "{name}");
        }
    }
}
