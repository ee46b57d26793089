//! The names of an order update's parameters.
//!
//! A name contains its row's kind and index: `box_shipmentId_0`, `0_box_rowSubmit`. Rows of different kinds are numbered
//! independently, because clients count packages and items separately.

use crate::orders::update_row::RowKind;

pub(super) const FACILITY: &str = "facilityId";
pub(super) const SHIPMENT: &str = "shipmentId";
pub(super) const BOX_TYPE: &str = "shipmentBoxTypeId";
pub(super) const ITEM: &str = "shipmentItemSeqId";
pub(super) const NEW_SHIPMENT: &str = "newShipmentId";
pub(super) const REASON: &str = "rejectionReason";
pub(super) const ROW_SUBMIT: &str = "rowSubmit";

/// A parsed name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ParamName {
    pub(super) kind: RowKind,
    pub(super) field: &'static str,
    /// The row's index; `None` if it is not a number.
    pub(super) index: Option<u32>,
}

impl ParamName {
    /// Parses a name. `None` for parameters that belong to no row.
    pub(super) fn parse(name: &str) -> Option<Self> {
        RowKind::ALL.into_iter().find_map(|kind| {
            let field = fields(kind).iter().find_map(|(field, _)| {
                let index =
                    name.strip_prefix(kind.prefix())?.strip_prefix('_')?.strip_prefix(field)?.strip_prefix('_')?;
                Some(Self { kind, field, index: parse_number(index) })
            });
            field.or_else(|| {
                // Some clients append an underscore.
                let rest = name.strip_suffix('_').unwrap_or(name);
                let index = rest.strip_suffix(ROW_SUBMIT)?.strip_suffix('_')?.strip_suffix(kind.prefix())?;
                let index = index.strip_suffix('_')?;
                Some(Self { kind, field: ROW_SUBMIT, index: parse_number(index) })
            })
        })
    }
}

/// The fields of a kind of rows, without the row-submit, and whether each is required.
pub(super) const fn fields(kind: RowKind) -> &'static [(&'static str, bool)] {
    match kind {
        RowKind::Box => &[(SHIPMENT, true), (BOX_TYPE, true)],
        RowKind::Rejection => &[(SHIPMENT, true), (ITEM, false), (REASON, true)],
        RowKind::Move => &[(SHIPMENT, true), (ITEM, false), (NEW_SHIPMENT, true), (REASON, false)],
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
            ("0_box_rowSubmit", RowKind::Box, 0),
            ("12_rej_rowSubmit_", RowKind::Rejection, 12),
            ("3_rtp_rowSubmit", RowKind::Move, 3),
        ] {
            assert_eq!(ParamName::parse(name), Some(ParamName { kind, field: ROW_SUBMIT, index: Some(index) }));
        }
        assert_eq!(ParamName::parse("x_box_rowSubmit").unwrap().index, None);
        for name in ["box_rowSubmit", "0_foo_rowSubmit", "rowSubmit", "0__rowSubmit"] {
            assert_eq!(ParamName::parse(name), None, "{name}");
        }
    }
}
