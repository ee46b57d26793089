//! The totals of the built-in schema as plain SQL has them.

/// A totals root: the rows, the keys and the sums as SQL.
pub struct Root {
    pub name: &'static str,
    pub from: &'static str,
    pub currency: &'static str,
    /// The name of the field, the value of `groupBy`, and the expression.
    pub keys: &'static [(&'static str, &'static str, &'static str)],
    /// The name of the field, the value of `orderBy`, the expression, and whether it is an amount of money.
    pub sums: &'static [(&'static str, &'static str, &'static str, bool)],
}

const DAY: &str = "to_char(date_trunc('day', o.order_date, 'UTC') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T00:00:00Z\"')";
const WEEK: &str = "to_char(date_trunc('week', o.order_date, 'UTC') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T00:00:00Z\"')";
const MONTH: &str = "to_char(date_trunc('month', o.order_date, 'UTC') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T00:00:00Z\"')";

const NET: &str = "CASE WHEN i.status_id IN ('ITEM_CANCELLED', 'ITEM_REJECTED', 'ITEM_EXPIRED') THEN 0
    ELSE i.quantity - coalesce(i.cancel_quantity, 0) END";
const NET_AMOUNT: &str =
    "i.unit_price * CASE WHEN i.status_id IN ('ITEM_CANCELLED', 'ITEM_REJECTED', 'ITEM_EXPIRED') THEN 0
    ELSE i.quantity - coalesce(i.cancel_quantity, 0) END";

/// The totals roots of the built-in schema.
pub const ROOTS: [Root; 5] = [
    Root {
        name: "orderTotals",
        from: "order_header AS o",
        currency: "o.currency_uom",
        keys: &[
            ("day", "DAY", DAY),
            ("week", "WEEK", WEEK),
            ("month", "MONTH", MONTH),
            ("productStoreId", "PRODUCT_STORE_ID", "o.product_store_id"),
            ("statusId", "STATUS_ID", "o.status_id"),
            ("salesChannelEnumId", "SALES_CHANNEL_ENUM_ID", "o.sales_channel_enum_id"),
            ("orderTypeId", "ORDER_TYPE_ID", "o.order_type_id"),
            ("originFacilityId", "ORIGIN_FACILITY_ID", "o.origin_facility_id"),
            ("currencyUomId", "CURRENCY_UOM_ID", "o.currency_uom"),
        ],
        sums: &[
            ("grandTotal", "GRAND_TOTAL", "o.grand_total", true),
            ("remainingSubTotal", "REMAINING_SUB_TOTAL", "o.remaining_sub_total", true),
        ],
    },
    Root {
        name: "itemTotals",
        from: "orderql.order_item AS i LEFT JOIN order_header AS o USING (order_id) LEFT JOIN product AS p USING (product_id)",
        currency: "o.currency_uom",
        keys: &[
            ("productId", "PRODUCT_ID", "i.product_id"),
            ("productName", "PRODUCT_NAME", "p.product_name"),
            ("facilityId", "FACILITY_ID", "i.facility_id"),
            ("statusId", "STATUS_ID", "i.status_id"),
            ("orderItemTypeId", "ORDER_ITEM_TYPE_ID", "i.order_item_type_id"),
            ("day", "DAY", DAY),
            ("week", "WEEK", WEEK),
            ("month", "MONTH", MONTH),
            ("productStoreId", "PRODUCT_STORE_ID", "i.product_store_id"),
            ("salesChannelEnumId", "SALES_CHANNEL_ENUM_ID", "o.sales_channel_enum_id"),
            ("currencyUomId", "CURRENCY_UOM_ID", "o.currency_uom"),
        ],
        sums: &[
            ("quantity", "QUANTITY", "i.quantity", false),
            ("cancelQuantity", "CANCEL_QUANTITY", "i.cancel_quantity", false),
            ("netQuantity", "NET_QUANTITY", NET, false),
            ("amount", "AMOUNT", "i.quantity * i.unit_price", true),
            ("netAmount", "NET_AMOUNT", NET_AMOUNT, true),
        ],
    },
    Root {
        name: "returnItemTotals",
        from: "return_item AS i
            LEFT JOIN (SELECT *, entry_date AS order_date, currency_uom_id AS currency_uom FROM orderql.return_header) AS o USING (return_id)
            LEFT JOIN product AS p USING (product_id)",
        currency: "o.currency_uom",
        keys: &[
            ("productId", "PRODUCT_ID", "i.product_id"),
            ("productName", "PRODUCT_NAME", "p.product_name"),
            ("returnReasonId", "RETURN_REASON_ID", "i.return_reason_id"),
            ("returnTypeId", "RETURN_TYPE_ID", "i.return_type_id"),
            ("statusId", "STATUS_ID", "i.status_id"),
            ("day", "DAY", DAY),
            ("week", "WEEK", WEEK),
            ("month", "MONTH", MONTH),
            ("productStoreId", "PRODUCT_STORE_ID", "o.product_store_id"),
            ("currencyUomId", "CURRENCY_UOM_ID", "o.currency_uom"),
        ],
        sums: &[
            ("returnQuantity", "RETURN_QUANTITY", "i.return_quantity", false),
            ("receivedQuantity", "RECEIVED_QUANTITY", "i.received_quantity", false),
            ("amount", "AMOUNT", "i.return_quantity * i.return_price", true),
        ],
    },
    Root {
        name: "paymentTotals",
        from: "(SELECT payment.*, effective_date AS order_date, currency_uom_id AS currency_uom FROM payment) AS o
            LEFT JOIN order_payment_preference AS p ON p.order_payment_preference_id = o.payment_preference_id
            LEFT JOIN (SELECT order_id, product_store_id FROM order_header) AS h USING (order_id)",
        currency: "o.currency_uom",
        keys: &[
            ("paymentTypeId", "PAYMENT_TYPE_ID", "o.payment_type_id"),
            ("paymentMethodTypeId", "PAYMENT_METHOD_TYPE_ID", "o.payment_method_type_id"),
            ("statusId", "STATUS_ID", "o.status_id"),
            ("day", "DAY", DAY),
            ("week", "WEEK", WEEK),
            ("month", "MONTH", MONTH),
            ("productStoreId", "PRODUCT_STORE_ID", "h.product_store_id"),
            ("currencyUomId", "CURRENCY_UOM_ID", "o.currency_uom"),
        ],
        sums: &[("amount", "AMOUNT", "o.amount", true)],
    },
    Root {
        name: "adjustmentTotals",
        from: "order_adjustment AS a LEFT JOIN order_header AS o USING (order_id)",
        currency: "o.currency_uom",
        keys: &[
            ("orderAdjustmentTypeId", "ORDER_ADJUSTMENT_TYPE_ID", "a.order_adjustment_type_id"),
            ("taxAuthPartyId", "TAX_AUTH_PARTY_ID", "a.tax_auth_party_id"),
            ("taxAuthGeoId", "TAX_AUTH_GEO_ID", "a.tax_auth_geo_id"),
            ("primaryGeoId", "PRIMARY_GEO_ID", "a.primary_geo_id"),
            ("sourcePercentage", "SOURCE_PERCENTAGE", "a.source_percentage"),
            ("description", "DESCRIPTION", "a.description"),
            ("day", "DAY", DAY),
            ("week", "WEEK", WEEK),
            ("month", "MONTH", MONTH),
            ("productStoreId", "PRODUCT_STORE_ID", "o.product_store_id"),
            ("currencyUomId", "CURRENCY_UOM_ID", "o.currency_uom"),
        ],
        sums: &[
            ("amount", "AMOUNT", "a.amount", true),
            ("amountAlreadyIncluded", "AMOUNT_ALREADY_INCLUDED", "a.amount_already_included", true),
            ("exemptAmount", "EXEMPT_AMOUNT", "a.exempt_amount", true),
        ],
    },
];

/// What the sample lacks: several types of payments, authorities of taxes, and rows without an amount, an order or a currency.
pub const ODD_ROWS: &str = "
    UPDATE payment AS p SET
        payment_type_id = (array['CUSTOMER_PAYMENT', 'CUSTOMER_REFUND', NULL])[1 + n % 3],
        status_id = (array['PMNT_RECEIVED', 'PMNT_SENT', 'PMNT_VOID', NULL])[1 + n % 4],
        amount = CASE WHEN n % 7 > 0 THEN amount - n % 5 END,
        currency_uom_id = (array['USD', 'EUR', NULL])[1 + n % 11 % 3],
        effective_date = CASE WHEN n % 13 > 0 THEN effective_date END,
        payment_preference_id = CASE WHEN n % 17 > 0 THEN payment_preference_id END
    FROM (SELECT payment_id, row_number() OVER (ORDER BY payment_id) AS n FROM payment) AS numbered
    WHERE numbered.payment_id = p.payment_id;
    UPDATE order_adjustment AS a SET
        tax_auth_party_id = (array['CA_BOE', 'NY_DTF', NULL])[1 + n % 3], tax_auth_geo_id = (array['CA', 'NY', NULL])[1 + n % 3],
        primary_geo_id = (array['CA', 'UT', NULL])[1 + n % 5 % 3],
        amount = CASE WHEN n % 7 > 0 THEN amount - n % 5 END,
        amount_already_included = CASE WHEN n % 4 = 0 THEN n / 1000.0 END, exempt_amount = CASE WHEN n % 5 = 0 THEN n / 100.0 END,
        order_id = CASE WHEN n % 19 > 0 THEN order_id END
    FROM (SELECT order_adjustment_id, row_number() OVER (ORDER BY order_adjustment_id) AS n FROM order_adjustment) AS numbered
    WHERE numbered.order_adjustment_id = a.order_adjustment_id";
