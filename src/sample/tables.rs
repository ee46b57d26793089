//! The tables that a sample fills, with the columns it fills in them: those that OFBiz has everywhere and those that
//! orderql's migrations add. What is not named here stays null.

#![allow(clippy::struct_field_names, reason = "fields are called what the columns are")]

use std::borrow::Cow;

use crate::sample::batch::{Column, Row, Table};
use crate::sample::field::{Decimal, Field, Id, Key, Seq, Time};

/// Makes of each table a struct with a field for each column, and of all of them the list of tables.
macro_rules! tables {
    ($($row:ident $(<$life:lifetime>)? in $table:ident { $($column:ident: $type:ty,)* })*) => {
        /// In the order in which they are listed here.
        pub(in crate::sample) const TABLES: &[Table] =
            &[$(Table { name: stringify!($table), columns: <$row as Row>::COLUMNS }),*];

        enum Place { $($row),* }

        $(
            pub(in crate::sample) struct $row $(<$life>)? { $(pub(in crate::sample) $column: $type),* }

            impl $(<$life>)? Row for $row $(<$life>)? {
                const TABLE: usize = Place::$row as usize;
                const COLUMNS: &'static [Column] =
                    &[$(Column { name: stringify!($column), holds: <$type as Field>::TYPE }),*];

                fn write(&self, out: &mut Vec<u8>) {
                    $(self.$column.write(out);)*
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
        created_date: Option<Time>,
    }
    Person<'a> in person {
        party_id: Id,
        first_name: Option<&'a str>,
        last_name: Option<Cow<'a, str>>,
    }
    PartyGroup<'a> in party_group {
        party_id: Id,
        group_name: Cow<'a, str>,
    }
    PartyRole in party_role {
        party_id: Id,
        role_type_id: &'static str,
    }
    ContactMech<'a> in contact_mech {
        contact_mech_id: Id,
        contact_mech_type_id: &'static str,
        info_string: Option<Cow<'a, str>>,
    }
    PostalAddress<'a> in postal_address {
        contact_mech_id: Id,
        to_name: Option<Cow<'a, str>>,
        attn_name: Option<&'a str>,
        address1: Cow<'a, str>,
        address2: Option<Cow<'a, str>>,
        city: &'a str,
        postal_code: Id,
        country_geo_id: &'static str,
        state_province_geo_id: &'a str,
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
        from_date: Time,
        thru_date: Option<Time>,
    }
    PartyContactMechPurpose in party_contact_mech_purpose {
        party_id: Id,
        contact_mech_id: Id,
        contact_mech_purpose_type_id: &'static str,
        from_date: Time,
    }
    NoteData<'a> in note_data {
        note_id: Id,
        note_info: &'a str,
        note_date_time: Time,
        note_party: Option<Id>,
    }
    GeoPoint in geo_point {
        geo_point_id: Id,
        latitude: Decimal,
        longitude: Decimal,
    }
    Facility<'a> in facility {
        facility_id: Id,
        facility_type_id: &'static str,
        parent_facility_id: Option<Id>,
        owner_party_id: &'static str,
        facility_name: Option<Cow<'a, str>>,
        geo_point_id: Option<Id>,
        external_id: Option<Id>,
        opened_date: Option<Time>,
    }
    FacilityContactMech in facility_contact_mech {
        facility_id: Id,
        contact_mech_id: Id,
        from_date: Time,
        thru_date: Option<Time>,
    }
    FacilityContactMechPurpose in facility_contact_mech_purpose {
        facility_id: Id,
        contact_mech_id: Id,
        contact_mech_purpose_type_id: &'static str,
        from_date: Time,
        thru_date: Option<Time>,
    }
    ProductStore<'a> in product_store {
        product_store_id: Id,
        store_name: Option<&'a str>,
        company_name: &'a str,
        pay_to_party_id: &'static str,
        inventory_facility_id: Option<Id>,
        default_currency_uom_id: &'static str,
        default_locale_string: &'static str,
        default_time_zone_string: &'static str,
    }
    ProductStoreFacility in product_store_facility {
        product_store_id: Id,
        facility_id: Id,
        from_date: Time,
    }
    ProductCategory<'a> in product_category {
        product_category_id: Id,
        category_name: &'a str,
    }
    Product<'a> in product {
        product_id: Id,
        product_type_id: &'static str,
        primary_product_category_id: Option<Id>,
        internal_name: Option<Cow<'a, str>>,
        product_name: Option<Cow<'a, str>>,
        brand_name: Option<&'a str>,
        is_virtual: bool,
        is_variant: bool,
        returnable: Option<bool>,
        taxable: Option<bool>,
        created_date: Option<Time>,
        last_modified_date: Option<Time>,
        sales_discontinuation_date: Option<Time>,
    }
    GoodIdentification in good_identification {
        good_identification_type_id: &'static str,
        product_id: Id,
        id_value: Option<Id>,
        from_date: Option<Time>,
        thru_date: Option<Time>,
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
        datetime_received: Option<Time>,
        expire_date: Option<Time>,
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
        effective_date: Time,
        quantity_on_hand_diff: Decimal,
        available_to_promise_diff: Decimal,
        accounting_quantity_diff: Decimal,
        order_id: Option<Id>,
        order_item_seq_id: Option<Seq>,
        ship_group_seq_id: Option<Seq>,
        shipment_id: Option<Id>,
        return_id: Option<Id>,
        return_item_seq_id: Option<Seq>,
        item_issuance_id: Option<Id>,
        receipt_id: Option<Id>,
        description: Option<&'static str>,
    }
    OrderHeader<'a> in order_header {
        order_id: Id,
        order_type_id: &'static str,
        order_name: Option<Cow<'a, str>>,
        external_id: Option<Id>,
        sales_channel_enum_id: Option<&'static str>,
        order_date: Option<Time>,
        priority: Option<&'static str>,
        entry_date: Time,
        status_id: &'static str,
        created_by: Option<&'static str>,
        currency_uom: &'static str,
        origin_facility_id: Option<Id>,
        product_store_id: Option<Id>,
        remaining_sub_total: Option<Decimal>,
        grand_total: Option<Decimal>,
        last_updated_stamp: Time,
        last_updated_tx_stamp: Time,
        created_stamp: Time,
        created_tx_stamp: Time,
    }
    OrderItem<'a> in order_item {
        order_id: Id,
        order_item_seq_id: Seq,
        external_id: Option<Id>,
        order_item_type_id: &'static str,
        product_id: Option<Id>,
        quantity: Decimal,
        cancel_quantity: Option<Decimal>,
        unit_price: Decimal,
        unit_list_price: Option<Decimal>,
        item_description: Option<&'a str>,
        status_id: Option<&'static str>,
        estimated_ship_date: Option<Time>,
        estimated_delivery_date: Option<Time>,
        auto_cancel_date: Option<Time>,
        ship_group_seq_id: Seq,
        shipment_id: Option<Id>,
    }
    OrderItemShipGroup<'a> in order_item_ship_group {
        order_id: Id,
        ship_group_seq_id: Seq,
        shipment_method_type_id: &'static str,
        carrier_party_id: &'static str,
        carrier_role_type_id: &'static str,
        facility_id: Option<Key>,
        contact_mech_id: Option<Id>,
        telecom_contact_mech_id: Option<Id>,
        tracking_number: Option<Id>,
        may_split: bool,
        gift_message: Option<&'a str>,
        is_gift: bool,
        ship_after_date: Option<Time>,
        ship_by_date: Option<Time>,
        estimated_ship_date: Option<Time>,
        estimated_delivery_date: Option<Time>,
    }
    OrderItemShipGroupAssoc in order_item_ship_group_assoc {
        order_id: Id,
        order_item_seq_id: Seq,
        ship_group_seq_id: Seq,
        quantity: Decimal,
        cancel_quantity: Option<Decimal>,
    }
    OrderItemShipGrpInvRes in order_item_ship_grp_inv_res {
        order_id: Id,
        ship_group_seq_id: Seq,
        order_item_seq_id: Seq,
        inventory_item_id: Id,
        quantity: Decimal,
        quantity_not_available: Option<Decimal>,
        reserved_datetime: Time,
        created_datetime: Time,
        promised_datetime: Option<Time>,
        shipment_id: Option<Id>,
    }
    OrderRole in order_role {
        order_id: Id,
        party_id: Id,
        role_type_id: &'static str,
    }
    OrderStatus in order_status {
        order_status_id: Id,
        status_id: &'static str,
        order_id: Id,
        order_item_seq_id: Option<Seq>,
        order_payment_preference_id: Option<Id>,
        status_datetime: Time,
        status_user_login: Option<&'static str>,
        change_reason: Option<&'static str>,
    }
    OrderAdjustment in order_adjustment {
        order_adjustment_id: Id,
        order_adjustment_type_id: &'static str,
        order_id: Id,
        order_item_seq_id: Option<Seq>,
        ship_group_seq_id: Option<Seq>,
        comments: Option<&'static str>,
        description: Option<&'static str>,
        amount: Decimal,
        created_date: Time,
    }
    OrderPaymentPreference in order_payment_preference {
        order_payment_preference_id: Id,
        order_id: Id,
        payment_method_type_id: &'static str,
        max_amount: Decimal,
        status_id: &'static str,
        created_date: Time,
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
        from_date: Time,
        thru_date: Option<Time>,
    }
    OrderFacilityChange in order_facility_change {
        order_facility_change_id: Id,
        order_id: Id,
        order_item_seq_id: Seq,
        shipment_method_type_id: &'static str,
        ship_group_seq_id: Seq,
        facility_id: Key,
        from_facility_id: Option<Key>,
        change_datetime: Time,
        change_user_login: Option<&'static str>,
        change_reason_enum_id: &'static str,
        comments: Option<&'static str>,
    }
    OrderShipment in order_shipment {
        order_id: Id,
        order_item_seq_id: Seq,
        ship_group_seq_id: Seq,
        shipment_id: Id,
        shipment_item_seq_id: Seq,
        quantity: Decimal,
    }
    Shipment in shipment {
        shipment_id: Id,
        shipment_type_id: &'static str,
        status_id: Option<&'static str>,
        primary_order_id: Option<Id>,
        primary_return_id: Option<Id>,
        primary_ship_group_seq_id: Option<Seq>,
        estimated_ship_date: Option<Time>,
        estimated_arrival_date: Option<Time>,
        estimated_ship_cost: Option<Decimal>,
        origin_facility_id: Option<Id>,
        destination_facility_id: Option<Id>,
        origin_contact_mech_id: Option<Id>,
        destination_contact_mech_id: Option<Id>,
        party_id_to: Option<Id>,
        party_id_from: Option<Id>,
        created_date: Time,
        external_id: Option<Id>,
        carrier_party_id: Option<&'static str>,
        shipment_method_type_id: Option<&'static str>,
    }
    ShipmentItem in shipment_item {
        shipment_id: Id,
        shipment_item_seq_id: Seq,
        product_id: Option<Id>,
        quantity: Decimal,
    }
    ShipmentPackage<'a> in shipment_package {
        shipment_id: Id,
        shipment_package_seq_id: Seq,
        shipment_box_type_id: Option<&'static str>,
        date_created: Time,
        weight: Option<Decimal>,
        weight_uom_id: Option<&'static str>,
        package_name: &'a str,
    }
    ShipmentPackageContent in shipment_package_content {
        shipment_id: Id,
        shipment_package_seq_id: Seq,
        shipment_item_seq_id: Seq,
        quantity: Decimal,
    }
    ShipmentRouteSegment in shipment_route_segment {
        shipment_id: Id,
        shipment_route_segment_id: Seq,
        origin_facility_id: Option<Id>,
        origin_contact_mech_id: Option<Id>,
        dest_contact_mech_id: Option<Id>,
        carrier_party_id: Option<&'static str>,
        shipment_method_type_id: Option<&'static str>,
        carrier_service_status_id: Option<&'static str>,
        actual_start_date: Option<Time>,
        actual_arrival_date: Option<Time>,
        tracking_id_number: Option<Id>,
    }
    ShipmentPackageRouteSeg<'a> in shipment_package_route_seg {
        shipment_id: Id,
        shipment_package_seq_id: Seq,
        shipment_route_segment_id: Seq,
        tracking_code: Option<Id>,
        label_image_url: Option<Cow<'a, str>>,
    }
    ShipmentStatus in shipment_status {
        status_id: &'static str,
        shipment_id: Id,
        status_date: Time,
    }
    ItemIssuance in item_issuance {
        item_issuance_id: Id,
        order_id: Id,
        order_item_seq_id: Seq,
        ship_group_seq_id: Seq,
        inventory_item_id: Id,
        shipment_id: Option<Id>,
        shipment_item_seq_id: Option<Seq>,
        issued_date_time: Time,
        quantity: Decimal,
    }
    ShipmentReceipt in shipment_receipt {
        receipt_id: Id,
        inventory_item_id: Id,
        product_id: Id,
        shipment_id: Option<Id>,
        shipment_item_seq_id: Option<Seq>,
        order_id: Option<Id>,
        order_item_seq_id: Option<Seq>,
        return_id: Option<Id>,
        return_item_seq_id: Option<Seq>,
        datetime_received: Time,
        quantity_accepted: Decimal,
        quantity_rejected: Decimal,
    }
    ReturnHeader in return_header {
        return_id: Id,
        return_header_type_id: &'static str,
        status_id: Option<&'static str>,
        from_party_id: Option<Id>,
        to_party_id: &'static str,
        entry_date: Option<Time>,
        return_date: Option<Time>,
        origin_contact_mech_id: Option<Id>,
        destination_facility_id: Option<Id>,
        needs_inventory_receive: bool,
        currency_uom_id: &'static str,
        external_id: Option<Id>,
    }
    ReturnItem<'a> in return_item {
        return_id: Id,
        return_item_seq_id: Seq,
        return_reason_id: &'static str,
        return_type_id: &'static str,
        return_item_type_id: &'static str,
        product_id: Option<Id>,
        description: Option<&'a str>,
        order_id: Option<Id>,
        order_item_seq_id: Option<Seq>,
        status_id: &'static str,
        return_quantity: Decimal,
        received_quantity: Option<Decimal>,
        return_price: Decimal,
    }
    ReturnStatus in return_status {
        return_status_id: Id,
        status_id: &'static str,
        return_id: Id,
        return_item_seq_id: Option<Seq>,
        status_datetime: Time,
    }
    ReturnIdentification in return_identification {
        return_identification_type_id: &'static str,
        return_id: Id,
        id_value: Id,
        from_date: Time,
        thru_date: Option<Time>,
    }
    ReturnAdjustment in return_adjustment {
        return_adjustment_id: Id,
        return_adjustment_type_id: &'static str,
        return_id: Id,
        return_item_seq_id: Option<Seq>,
        order_id: Option<Id>,
        description: Option<&'static str>,
        amount: Decimal,
    }
}
