//! The tables that a sample fills, and their columns: the columns of every OFBiz, and the columns that orderql's migrations add.
//! Other columns stay null.

#![allow(clippy::struct_field_names, reason = "fields have the names of the columns")]

use std::borrow::Cow;

use rust_decimal::Decimal;

use crate::sample::copy_value::{ColumnValue, CopyValue};
use crate::sample::ids::{FacilityId, Id, SeqId};
use crate::sample::table_definition::{SampleColumn, SampleRow, SampleTable};
use crate::sample::timestamp::SampleTime;

/// Declares a struct for each table, with a field for each column, and the list of all tables.
macro_rules! tables {
    ($($row:ident in $table:ident { $($column:ident: $type:ty,)* })*) => {
        /// All tables, in the order of declaration.
        pub(in crate::sample) const TABLES: &[SampleTable] =
            &[$(SampleTable { name: stringify!($table), columns: <$row as SampleRow>::COLUMNS }),*];

        enum TableIndex { $($row),* }

        $(
            pub(in crate::sample) struct $row { $(pub(in crate::sample) $column: $type),* }

            impl SampleRow for $row {
                const TABLE: usize = TableIndex::$row as usize;
                const COLUMNS: &'static [SampleColumn] =
                    &[$(SampleColumn { name: stringify!($column), data_type: <$type as ColumnValue>::TYPE }),*];

                fn append_to(self, values: &mut Vec<CopyValue>) {
                    values.extend([$(self.$column.into()),*]);
                }
            }
        )*
    };
}

tables! {
    Party in party {
        party_id: Id,
        party_type_id: &'static str,
        external_id: Option<Id>,
        status_id: &'static str,
        created_date: Option<SampleTime>,
    }
    Person in person {
        party_id: Id,
        first_name: Option<&'static str>,
        last_name: Option<Cow<'static, str>>,
    }
    PartyGroup in party_group {
        party_id: Id,
        group_name: Cow<'static, str>,
    }
    PartyRole in party_role {
        party_id: Id,
        role_type_id: &'static str,
    }
    ContactMech in contact_mech {
        contact_mech_id: Id,
        contact_mech_type_id: &'static str,
        info_string: Option<Cow<'static, str>>,
    }
    PostalAddress in postal_address {
        contact_mech_id: Id,
        to_name: Option<Cow<'static, str>>,
        attn_name: Option<&'static str>,
        address1: Cow<'static, str>,
        address2: Option<Cow<'static, str>>,
        city: &'static str,
        postal_code: Id,
        country_geo_id: &'static str,
        state_province_geo_id: &'static str,
        geo_point_id: Option<Id>,
    }
    TelecomNumber in telecom_number {
        contact_mech_id: Id,
        country_code: &'static str,
        area_code: Id,
        contact_number: Id,
    }
    PartyContactMech in party_contact_mech {
        party_id: Id,
        contact_mech_id: Id,
        from_date: SampleTime,
        thru_date: Option<SampleTime>,
    }
    PartyContactMechPurpose in party_contact_mech_purpose {
        party_id: Id,
        contact_mech_id: Id,
        contact_mech_purpose_type_id: &'static str,
        from_date: SampleTime,
    }
    NoteData in note_data {
        note_id: Id,
        note_info: &'static str,
        note_date_time: SampleTime,
        note_party: Option<Id>,
    }
    GeoPoint in geo_point {
        geo_point_id: Id,
        latitude: Decimal,
        longitude: Decimal,
    }
    Facility in facility {
        facility_id: Id,
        facility_type_id: &'static str,
        parent_facility_id: Option<Id>,
        owner_party_id: &'static str,
        facility_name: Option<Cow<'static, str>>,
        geo_point_id: Option<Id>,
        external_id: Option<Id>,
        opened_date: Option<SampleTime>,
    }
    FacilityContactMech in facility_contact_mech {
        facility_id: Id,
        contact_mech_id: Id,
        from_date: SampleTime,
        thru_date: Option<SampleTime>,
    }
    FacilityContactMechPurpose in facility_contact_mech_purpose {
        facility_id: Id,
        contact_mech_id: Id,
        contact_mech_purpose_type_id: &'static str,
        from_date: SampleTime,
        thru_date: Option<SampleTime>,
    }
    ProductStore in product_store {
        product_store_id: Id,
        store_name: Option<&'static str>,
        company_name: &'static str,
        pay_to_party_id: &'static str,
        inventory_facility_id: Option<Id>,
        default_currency_uom_id: &'static str,
        default_locale_string: &'static str,
        default_time_zone_string: &'static str,
        default_sales_channel_enum_id: Option<&'static str>,
        explode_order_items: Option<bool>,
        auto_approve_order: Option<bool>,
        allow_split: Option<bool>,
    }
    ProductStoreFacility in product_store_facility {
        product_store_id: Id,
        facility_id: Id,
        from_date: SampleTime,
    }
    ProductCategory in product_category {
        product_category_id: Id,
        category_name: &'static str,
    }
    Product in product {
        product_id: Id,
        product_type_id: &'static str,
        primary_product_category_id: Option<Id>,
        internal_name: Option<Cow<'static, str>>,
        product_name: Option<Cow<'static, str>>,
        brand_name: Option<&'static str>,
        is_virtual: bool,
        is_variant: bool,
        returnable: Option<bool>,
        taxable: Option<bool>,
        created_date: Option<SampleTime>,
        last_modified_date: Option<SampleTime>,
        sales_discontinuation_date: Option<SampleTime>,
    }
    GoodIdentification in good_identification {
        good_identification_type_id: &'static str,
        product_id: Id,
        id_value: Option<Id>,
        from_date: SampleTime,
        thru_date: Option<SampleTime>,
    }
    ProductFeature in product_feature {
        product_feature_id: Id,
        product_feature_type_id: &'static str,
        description: &'static str,
        abbrev: Option<&'static str>,
    }
    ProductFeatureAppl in product_feature_appl {
        product_id: Id,
        product_feature_id: Id,
        product_feature_appl_type_id: &'static str,
        from_date: SampleTime,
        thru_date: Option<SampleTime>,
        sequence_num: Option<Decimal>,
    }
    ProductPrice in product_price {
        product_id: Id,
        product_price_type_id: &'static str,
        product_price_purpose_id: &'static str,
        currency_uom_id: &'static str,
        product_store_group_id: &'static str,
        from_date: SampleTime,
        thru_date: Option<SampleTime>,
        price: Decimal,
    }
    ProductAttribute in product_attribute {
        product_id: Id,
        attr_name: &'static str,
        attr_value: &'static str,
        attr_type: Option<&'static str>,
    }
    ProductKeyword in product_keyword_new {
        product_id: Id,
        keyword: Cow<'static, str>,
        keyword_type_id: &'static str,
        relevancy_weight: Option<Decimal>,
        status_id: Option<&'static str>,
    }
    ProductFacility in product_facility {
        product_id: Id,
        facility_id: Id,
        minimum_stock: Option<Decimal>,
        reorder_quantity: Option<Decimal>,
        days_to_ship: Option<Decimal>,
        last_inventory_count: Option<Decimal>,
        inventory_item_id: Option<Id>,
    }
    InventoryItem in inventory_item {
        inventory_item_id: Id,
        inventory_item_type_id: &'static str,
        product_id: Id,
        facility_id: Id,
        owner_party_id: &'static str,
        status_id: Option<&'static str>,
        datetime_received: Option<SampleTime>,
        expire_date: Option<SampleTime>,
        serial_number: Option<Id>,
        quantity_on_hand_total: Decimal,
        available_to_promise_total: Decimal,
        accounting_quantity_total: Decimal,
        unit_cost: Option<Decimal>,
        currency_uom_id: &'static str,
    }
    InventoryItemDetail in inventory_item_detail {
        inventory_item_id: Id,
        inventory_item_detail_seq_id: Id,
        effective_date: SampleTime,
        quantity_on_hand_diff: Decimal,
        available_to_promise_diff: Decimal,
        accounting_quantity_diff: Decimal,
        order_id: Option<Id>,
        order_item_seq_id: Option<SeqId>,
        ship_group_seq_id: Option<SeqId>,
        shipment_id: Option<Id>,
        return_id: Option<Id>,
        return_item_seq_id: Option<SeqId>,
        item_issuance_id: Option<Id>,
        receipt_id: Option<Id>,
        description: Option<&'static str>,
    }
    OrderHeader in order_header {
        order_id: Id,
        order_type_id: &'static str,
        order_name: Option<Cow<'static, str>>,
        external_id: Option<Id>,
        sales_channel_enum_id: Option<&'static str>,
        order_date: Option<SampleTime>,
        priority: Option<&'static str>,
        entry_date: SampleTime,
        status_id: &'static str,
        created_by: Option<&'static str>,
        currency_uom: &'static str,
        origin_facility_id: Option<Id>,
        product_store_id: Option<Id>,
        remaining_sub_total: Option<Decimal>,
        grand_total: Option<Decimal>,
        last_updated_stamp: SampleTime,
        created_stamp: SampleTime,
    }
    OrderItem in order_item {
        order_id: Id,
        order_item_seq_id: SeqId,
        external_id: Option<Id>,
        order_item_type_id: &'static str,
        product_id: Option<Id>,
        quantity: Decimal,
        cancel_quantity: Option<Decimal>,
        unit_price: Decimal,
        unit_list_price: Option<Decimal>,
        item_description: Option<&'static str>,
        status_id: Option<&'static str>,
        estimated_ship_date: Option<SampleTime>,
        estimated_delivery_date: Option<SampleTime>,
        auto_cancel_date: Option<SampleTime>,
        ship_group_seq_id: SeqId,
        shipment_id: Option<Id>,
    }
    OrderItemShipGroup in order_item_ship_group {
        order_id: Id,
        ship_group_seq_id: SeqId,
        shipment_method_type_id: &'static str,
        carrier_party_id: &'static str,
        carrier_role_type_id: &'static str,
        facility_id: Option<FacilityId>,
        contact_mech_id: Option<Id>,
        telecom_contact_mech_id: Option<Id>,
        tracking_number: Option<Id>,
        may_split: bool,
        gift_message: Option<&'static str>,
        is_gift: bool,
        ship_after_date: Option<SampleTime>,
        ship_by_date: Option<SampleTime>,
        estimated_ship_date: Option<SampleTime>,
        estimated_delivery_date: Option<SampleTime>,
    }
    OrderItemShipGroupAssoc in order_item_ship_group_assoc {
        order_id: Id,
        order_item_seq_id: SeqId,
        ship_group_seq_id: SeqId,
        quantity: Decimal,
        cancel_quantity: Option<Decimal>,
    }
    OrderItemShipGrpInvRes in order_item_ship_grp_inv_res {
        order_id: Id,
        ship_group_seq_id: SeqId,
        order_item_seq_id: SeqId,
        inventory_item_id: Id,
        quantity: Decimal,
        quantity_not_available: Option<Decimal>,
        reserved_datetime: SampleTime,
        created_datetime: SampleTime,
        promised_datetime: Option<SampleTime>,
        shipment_id: Option<Id>,
    }
    OrderRole in order_role {
        order_id: Id,
        party_id: Id,
        role_type_id: &'static str,
        from_date: SampleTime,
    }
    OrderStatus in order_status {
        order_status_id: Id,
        status_id: &'static str,
        order_id: Id,
        order_item_seq_id: Option<SeqId>,
        order_payment_preference_id: Option<Id>,
        status_datetime: SampleTime,
        status_user_login: Option<&'static str>,
        change_reason: Option<&'static str>,
    }
    OrderAdjustment in order_adjustment {
        order_adjustment_id: Id,
        order_adjustment_type_id: &'static str,
        order_id: Id,
        order_item_seq_id: Option<SeqId>,
        ship_group_seq_id: Option<SeqId>,
        comments: Option<&'static str>,
        description: Option<&'static str>,
        amount: Decimal,
        created_date: SampleTime,
    }
    OrderPaymentPreference in order_payment_preference {
        order_payment_preference_id: Id,
        order_id: Id,
        payment_method_type_id: &'static str,
        max_amount: Decimal,
        status_id: &'static str,
        created_date: SampleTime,
    }
    Payment in payment {
        payment_id: Id,
        payment_type_id: &'static str,
        payment_method_type_id: &'static str,
        payment_preference_id: Id,
        party_id_from: Id,
        party_id_to: &'static str,
        status_id: &'static str,
        effective_date: Option<SampleTime>,
        amount: Decimal,
        currency_uom_id: &'static str,
    }
    OrderContactMech in order_contact_mech {
        order_id: Id,
        contact_mech_purpose_type_id: &'static str,
        contact_mech_id: Id,
    }
    OrderHeaderNote in order_header_note {
        order_id: Id,
        note_id: Id,
        internal_note: bool,
    }
    OrderIdentification in order_identification {
        order_identification_type_id: &'static str,
        order_id: Id,
        id_value: Id,
        from_date: SampleTime,
        thru_date: Option<SampleTime>,
    }
    OrderFacilityChange in order_facility_change {
        order_facility_change_id: Id,
        order_id: Id,
        order_item_seq_id: SeqId,
        shipment_method_type_id: &'static str,
        ship_group_seq_id: SeqId,
        facility_id: FacilityId,
        from_facility_id: Option<FacilityId>,
        change_datetime: SampleTime,
        change_user_login: Option<&'static str>,
        change_reason_enum_id: &'static str,
        comments: Option<&'static str>,
    }
    OrderShipment in order_shipment {
        order_id: Id,
        order_item_seq_id: SeqId,
        ship_group_seq_id: SeqId,
        shipment_id: Id,
        shipment_item_seq_id: SeqId,
        quantity: Decimal,
    }
    Shipment in shipment {
        shipment_id: Id,
        shipment_type_id: &'static str,
        status_id: Option<&'static str>,
        primary_order_id: Option<Id>,
        primary_return_id: Option<Id>,
        primary_ship_group_seq_id: Option<SeqId>,
        estimated_ship_date: Option<SampleTime>,
        estimated_arrival_date: Option<SampleTime>,
        estimated_ship_cost: Option<Decimal>,
        origin_facility_id: Option<Id>,
        destination_facility_id: Option<Id>,
        origin_contact_mech_id: Option<Id>,
        destination_contact_mech_id: Option<Id>,
        party_id_to: Option<Id>,
        party_id_from: Option<Id>,
        created_date: SampleTime,
        external_id: Option<Id>,
        carrier_party_id: Option<&'static str>,
        shipment_method_type_id: Option<&'static str>,
    }
    Picklist in picklist {
        picklist_id: Id,
        facility_id: Id,
        shipment_method_type_id: &'static str,
        status_id: &'static str,
        picklist_date: Option<SampleTime>,
        created_date: SampleTime,
    }
    PicklistBin in picklist_bin {
        picklist_bin_id: Id,
        picklist_id: Id,
        bin_location_number: Decimal,
        primary_order_id: Id,
        primary_ship_group_seq_id: SeqId,
    }
    PicklistItem in picklist_item {
        picklist_bin_id: Id,
        order_id: Id,
        order_item_seq_id: SeqId,
        ship_group_seq_id: SeqId,
        inventory_item_id: Id,
        item_status_id: &'static str,
        quantity: Decimal,
        picked: Option<Decimal>,
    }
    ShipmentItem in shipment_item {
        shipment_id: Id,
        shipment_item_seq_id: SeqId,
        product_id: Option<Id>,
        quantity: Decimal,
    }
    ShipmentPackage in shipment_package {
        shipment_id: Id,
        shipment_package_seq_id: SeqId,
        shipment_box_type_id: Option<&'static str>,
        date_created: SampleTime,
        weight: Option<Decimal>,
        weight_uom_id: Option<&'static str>,
        package_name: &'static str,
    }
    ShipmentPackageContent in shipment_package_content {
        shipment_id: Id,
        shipment_package_seq_id: SeqId,
        shipment_item_seq_id: SeqId,
        quantity: Decimal,
    }
    ShipmentRouteSegment in shipment_route_segment {
        shipment_id: Id,
        shipment_route_segment_id: SeqId,
        origin_facility_id: Option<Id>,
        origin_contact_mech_id: Option<Id>,
        dest_contact_mech_id: Option<Id>,
        carrier_party_id: Option<&'static str>,
        shipment_method_type_id: Option<&'static str>,
        carrier_service_status_id: Option<&'static str>,
        actual_start_date: Option<SampleTime>,
        actual_arrival_date: Option<SampleTime>,
        tracking_id_number: Option<Id>,
    }
    ShipmentPackageRouteSeg in shipment_package_route_seg {
        shipment_id: Id,
        shipment_package_seq_id: SeqId,
        shipment_route_segment_id: SeqId,
        tracking_code: Option<Id>,
        label_image_url: Option<Cow<'static, str>>,
    }
    ShipmentStatus in shipment_status {
        shipment_status_id: Cow<'static, str>,
        status_id: &'static str,
        shipment_id: Id,
        status_date: SampleTime,
    }
    ItemIssuance in item_issuance {
        item_issuance_id: Id,
        order_id: Id,
        order_item_seq_id: SeqId,
        ship_group_seq_id: SeqId,
        inventory_item_id: Id,
        shipment_id: Option<Id>,
        shipment_item_seq_id: Option<SeqId>,
        issued_date_time: SampleTime,
        quantity: Decimal,
    }
    ShipmentReceipt in shipment_receipt {
        receipt_id: Id,
        inventory_item_id: Id,
        product_id: Id,
        shipment_id: Option<Id>,
        shipment_item_seq_id: Option<SeqId>,
        order_id: Option<Id>,
        order_item_seq_id: Option<SeqId>,
        return_id: Option<Id>,
        return_item_seq_id: Option<SeqId>,
        datetime_received: SampleTime,
        quantity_accepted: Decimal,
        quantity_rejected: Decimal,
    }
    ReturnHeader in return_header {
        return_id: Id,
        return_header_type_id: &'static str,
        status_id: Option<&'static str>,
        from_party_id: Option<Id>,
        to_party_id: &'static str,
        entry_date: Option<SampleTime>,
        return_date: Option<SampleTime>,
        origin_contact_mech_id: Option<Id>,
        destination_facility_id: Option<Id>,
        needs_inventory_receive: bool,
        currency_uom_id: &'static str,
        external_id: Option<Id>,
    }
    ReturnItem in return_item {
        return_id: Id,
        return_item_seq_id: SeqId,
        return_reason_id: &'static str,
        return_type_id: &'static str,
        return_item_type_id: &'static str,
        product_id: Option<Id>,
        description: Option<&'static str>,
        order_id: Option<Id>,
        order_item_seq_id: Option<SeqId>,
        status_id: &'static str,
        return_quantity: Decimal,
        received_quantity: Option<Decimal>,
        return_price: Decimal,
    }
    ReturnStatus in return_status {
        return_status_id: Id,
        status_id: &'static str,
        return_id: Id,
        return_item_seq_id: Option<SeqId>,
        status_datetime: SampleTime,
    }
    ReturnIdentification in return_identification {
        return_identification_type_id: &'static str,
        return_id: Id,
        id_value: Id,
        from_date: SampleTime,
        thru_date: Option<SampleTime>,
    }
    ReturnAdjustment in return_adjustment {
        return_adjustment_id: Id,
        return_adjustment_type_id: &'static str,
        return_id: Id,
        return_item_seq_id: Option<SeqId>,
        order_id: Option<Id>,
        description: Option<&'static str>,
        amount: Decimal,
    }
}
