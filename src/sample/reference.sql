-- The rows that a sample references. Most belong to stock OFBiz or to the migrations; existing rows are not changed.

INSERT INTO public.status_type (status_type_id, has_table, description)
VALUES
    ('PAYMENT_PREF_STATUS', 'N', 'Order Payment Preference'),
    ('INV_SERIALIZED_STTS', 'N', 'Serialized Inventory Item'),
    ('KEYWORD_STATUS',      'N', 'Keyword')
ON CONFLICT DO NOTHING;

INSERT INTO public.status_item (status_id, status_type_id, status_code, sequence_id, description)
VALUES
    ('PICKLIST_ASSIGNED',    'PICKLIST_STATUS',     'ASSIGNED',         '02', 'Assigned'),
    ('PARTY_DISABLED',       'PARTY_STATUS',        'DISABLED',         '99', 'Disabled'),
    ('ORDER_SENT',           'ORDER_STATUS',        'SENT',             '03', 'Sent'),
    ('ORDER_HOLD',           'ORDER_STATUS',        'HOLD',             '06', 'Held'),
    ('SHIPMENT_SCHEDULED',   'SHIPMENT_STATUS',     'SCHEDULED',        '02', 'Scheduled'),
    ('SHIPMENT_PICKED',      'SHIPMENT_STATUS',     'PICKED',           '03', 'Picked'),
    ('PURCH_SHIP_SHIPPED',   'PURCH_SHIP_STATUS',   'SHIPPED',          '02', 'Shipped'),
    ('PURCH_SHIP_RECEIVED',  'PURCH_SHIP_STATUS',   'RECEIVED',         '03', 'Received'),
    ('SHRSCS_CONFIRMED',     'SHPRTSG_CS_STATUS',   'CONFIRMED',        '02', 'Confirmed'),
    ('SHRSCS_ACCEPTED',      'SHPRTSG_CS_STATUS',   'ACCEPTED',         '03', 'Accepted'),
    ('SHRSCS_VOIDED',        'SHPRTSG_CS_STATUS',   'VOIDED',           '08', 'Voided'),
    ('RETURN_ACCEPTED',      'ORDER_RETURN_STTS',   'ACCEPTED',         '02', 'Accepted'),
    ('RETURN_RECEIVED',      'ORDER_RETURN_STTS',   'RECEIVED',         '03', 'Received'),
    ('RETURN_COMPLETED',     'ORDER_RETURN_STTS',   'COMPLETED',        '10', 'Completed'),
    ('RETURN_MAN_REFUND',    'ORDER_RETURN_STTS',   'MAN_REFUND',       '11', 'Manual Refund Required'),
    ('RETURN_CANCELLED',     'ORDER_RETURN_STTS',   'CANCELLED',        '99', 'Cancelled'),
    ('PAYMENT_NOT_AUTH',     'PAYMENT_PREF_STATUS', 'NOT_AUTHORIZED',   '01', 'Not-Authorized'),
    ('PAYMENT_AUTHORIZED',   'PAYMENT_PREF_STATUS', 'AUTHORIZED',       '02', 'Authorized'),
    ('PAYMENT_SETTLED',      'PAYMENT_PREF_STATUS', 'SETTLED',          '03', 'Settled'),
    ('PAYMENT_DECLINED',     'PAYMENT_PREF_STATUS', 'DECLINED',         '04', 'Declined'),
    ('PAYMENT_CANCELLED',    'PAYMENT_PREF_STATUS', 'CANCELLED',        '09', 'Cancelled'),
    ('INV_AVAILABLE',        'INV_SERIALIZED_STTS', 'AVAILABLE',        '04', 'Available'),
    ('KW_PENDING',           'KEYWORD_STATUS',      'PENDING',          '01', 'Pending'),
    ('KW_APPROVED',          'KEYWORD_STATUS',      'APPROVED',         '02', 'Approved')
ON CONFLICT DO NOTHING;

INSERT INTO public.enumeration_type (enum_type_id, has_table, description)
VALUES
    ('ORDER_SALES_CHANNEL', 'N', 'Order Sales Channel'),
    ('KEYWORD_TYPE',        'N', 'Keyword Type')
ON CONFLICT DO NOTHING;

INSERT INTO public.enumeration (enum_id, enum_type_id, enum_code, sequence_id, description)
VALUES
    ('WEB_SALES_CHANNEL',   'ORDER_SALES_CHANNEL', 'WEB_CHANNEL',   '01', 'Web Channel'),
    ('POS_SALES_CHANNEL',   'ORDER_SALES_CHANNEL', 'POS_CHANNEL',   '02', 'POS Channel'),
    ('PHONE_SALES_CHANNEL', 'ORDER_SALES_CHANNEL', 'PHONE_CHANNEL', '04', 'Phone Channel'),
    ('EMAIL_SALES_CHANNEL', 'ORDER_SALES_CHANNEL', 'EMAIL_CHANNEL', '06', 'E-Mail Channel'),
    ('KWT_KEYWORD',         'KEYWORD_TYPE',        'KEYWORD',       '01', 'Keyword'),
    ('KWT_TAG',             'KEYWORD_TYPE',        'TAG',           '02', 'Tag')
ON CONFLICT DO NOTHING;

INSERT INTO public.uom_type (uom_type_id, has_table, description)
VALUES
    ('CURRENCY_MEASURE', 'N', 'Currency'),
    ('WEIGHT_MEASURE',   'N', 'Weight')
ON CONFLICT DO NOTHING;

INSERT INTO public.uom (uom_id, uom_type_id, abbreviation, description)
VALUES
    ('USD',   'CURRENCY_MEASURE', 'USD', 'United States Dollar'),
    ('EUR',   'CURRENCY_MEASURE', 'EUR', 'Euro'),
    ('WT_lb', 'WEIGHT_MEASURE',   'lb',  'Pound')
ON CONFLICT DO NOTHING;

INSERT INTO public.geo_type (geo_type_id, has_table, description)
VALUES
    ('COUNTRY', 'N', 'Country'),
    ('STATE',   'N', 'State')
ON CONFLICT DO NOTHING;

INSERT INTO public.geo (geo_id, geo_type_id, geo_name, geo_code, abbreviation)
VALUES
    ('USA', 'COUNTRY', 'United States', 'USA', 'USA'),
    ('CA',  'STATE',   'California',    'CA',  'CA'),
    ('FL',  'STATE',   'Florida',       'FL',  'FL'),
    ('IL',  'STATE',   'Illinois',      'IL',  'IL'),
    ('NY',  'STATE',   'New York',      'NY',  'NY'),
    ('TX',  'STATE',   'Texas',         'TX',  'TX'),
    ('UT',  'STATE',   'Utah',          'UT',  'UT'),
    ('WA',  'STATE',   'Washington',    'WA',  'WA')
ON CONFLICT DO NOTHING;

INSERT INTO public.order_type (order_type_id, has_table, description)
VALUES
    ('SALES_ORDER', 'N', 'Sales')
ON CONFLICT DO NOTHING;

INSERT INTO public.order_item_type (order_item_type_id, has_table, description)
VALUES
    ('PRODUCT_ORDER_ITEM', 'N', 'Product Item'),
    ('WORK_ORDER_ITEM',    'N', 'Work Item')
ON CONFLICT DO NOTHING;

INSERT INTO public.order_adjustment_type (order_adjustment_type_id, has_table, description)
VALUES
    ('SHIPPING_CHARGES',     'N', 'Shipping and Handling'),
    ('SALES_TAX',            'N', 'Sales Tax'),
    ('PROMOTION_ADJUSTMENT', 'N', 'Promotion')
ON CONFLICT DO NOTHING;

INSERT INTO public.payment_method_type (payment_method_type_id, description)
VALUES
    ('CREDIT_CARD', 'Credit Card'),
    ('EXT_PAYPAL',  'PayPal'),
    ('GIFT_CARD',   'Gift Card'),
    ('EXT_COD',     'Cash On Delivery'),
    ('EXT_OFFLINE', 'Offline Payment')
ON CONFLICT DO NOTHING;

INSERT INTO public.party_type (party_type_id, has_table, description)
VALUES
    ('PARTY_GROUP', 'Y', 'Party Group')
ON CONFLICT DO NOTHING;

INSERT INTO public.role_type (role_type_id, parent_type_id, has_table, description)
VALUES
    ('CUSTOMER',             'MAIN_ROLE',         'N', 'Customer'),
    ('BILL_TO_CUSTOMER',     'CUSTOMER',          'N', 'Bill-To Customer'),
    ('SHIP_TO_CUSTOMER',     'CUSTOMER',          'N', 'Ship-To Customer'),
    ('INTERNAL_ORGANIZATIO', 'ORGANIZATION_ROLE', 'Y', 'Internal Organization')
ON CONFLICT DO NOTHING;

INSERT INTO public.contact_mech_type (contact_mech_type_id, has_table, description)
VALUES
    ('POSTAL_ADDRESS', 'Y', 'Postal Address'),
    ('TELECOM_NUMBER', 'Y', 'Phone Number'),
    ('EMAIL_ADDRESS',  'N', 'Email Address')
ON CONFLICT DO NOTHING;

INSERT INTO public.contact_mech_purpose_type (contact_mech_purpose_type_id, has_table, description)
VALUES
    ('GENERAL_LOCATION',   'N', 'General Correspondence Address'),
    ('SHIPPING_LOCATION',  'N', 'Shipping Destination Address'),
    ('SHIP_ORIG_LOCATION', 'N', 'Shipping Origin Address'),
    ('PHONE_SHIPPING',     'N', 'Shipping Destination Phone Number'),
    ('PRIMARY_PHONE',      'N', 'Primary Phone Number'),
    ('PRIMARY_EMAIL',      'N', 'Primary Email Address'),
    ('ORDER_EMAIL',        'N', 'Order Notification Email Address')
ON CONFLICT DO NOTHING;

INSERT INTO public.facility_type (facility_type_id, has_table, description)
VALUES
    ('RETAIL_STORE', 'N', 'Retail Store'),
    ('WAREHOUSE',    'N', 'Warehouse')
ON CONFLICT DO NOTHING;

INSERT INTO public.product_type (product_type_id, is_physical, is_digital, has_table, description)
VALUES
    ('FINISHED_GOOD', 'Y', 'N', 'N', 'Finished Good')
ON CONFLICT DO NOTHING;

INSERT INTO public.inventory_item_type (inventory_item_type_id, has_table, description)
VALUES
    ('NON_SERIAL_INV_ITEM', 'N', 'Non-Serialized'),
    ('SERIALIZED_INV_ITEM', 'N', 'Serialized')
ON CONFLICT DO NOTHING;

INSERT INTO public.good_identification_type (good_identification_type_id, has_table, description)
VALUES
    ('SKU',  'N', 'SKU'),
    ('UPCA', 'N', 'UPCA')
ON CONFLICT DO NOTHING;

INSERT INTO public.product_feature_type (product_feature_type_id, has_table, description)
VALUES
    ('COLOR', 'N', 'Color'),
    ('SIZE',  'N', 'Size')
ON CONFLICT DO NOTHING;

INSERT INTO public.product_feature_appl_type (product_feature_appl_type_id, has_table, description)
VALUES
    ('STANDARD_FEATURE',   'N', 'Standard'),
    ('SELECTABLE_FEATURE', 'N', 'Selectable')
ON CONFLICT DO NOTHING;

INSERT INTO public.product_price_type (product_price_type_id, description)
VALUES
    ('DEFAULT_PRICE', 'Default Price'),
    ('LIST_PRICE',    'List Price')
ON CONFLICT DO NOTHING;

INSERT INTO public.product_price_purpose (product_price_purpose_id, description)
VALUES
    ('PURCHASE', 'Purchase/Initial')
ON CONFLICT DO NOTHING;

INSERT INTO public.shipment_type (shipment_type_id, has_table, description)
VALUES
    ('SALES_SHIPMENT', 'N', 'Sales Shipment'),
    ('SALES_RETURN',   'N', 'Sales Return')
ON CONFLICT DO NOTHING;

INSERT INTO public.return_header_type (return_header_type_id, description)
VALUES
    ('CUSTOMER_RETURN', 'Return from Customer')
ON CONFLICT DO NOTHING;

INSERT INTO public.return_type (return_type_id, has_table, description, sequence_id)
VALUES
    ('RTN_CREDIT', 'N', 'Store Credit', '01'),
    ('RTN_REFUND', 'N', 'Refund',       '02')
ON CONFLICT DO NOTHING;

INSERT INTO public.return_reason (return_reason_id, description, sequence_id)
VALUES
    ('RTN_NOT_WANT',       'Did Not Want Item', '01'),
    ('RTN_DEFECTIVE_ITEM', 'Defective Item',    '02'),
    ('RTN_MISSHIP_ITEM',   'Mis-Shipped Item',  '03')
ON CONFLICT DO NOTHING;

-- Rows of the sample itself. The user has no password, so it cannot sign in.
INSERT INTO public.user_login (user_login_id, is_system, enabled)
VALUES
    ('sample', 'N', 'N')
ON CONFLICT DO NOTHING;

INSERT INTO public.party (party_id, party_type_id, status_id)
VALUES
    ('SAMPLE_COMPANY', 'PARTY_GROUP', 'PARTY_ENABLED'),
    ('SAMPLE_EXPRESS', 'PARTY_GROUP', 'PARTY_ENABLED'),
    ('SAMPLE_POST',    'PARTY_GROUP', 'PARTY_ENABLED'),
    ('SAMPLE_FREIGHT', 'PARTY_GROUP', 'PARTY_ENABLED')
ON CONFLICT DO NOTHING;

INSERT INTO public.party_group (party_id, group_name)
VALUES
    ('SAMPLE_COMPANY', 'Sample & Söhne'),
    ('SAMPLE_EXPRESS', 'Sample Express'),
    ('SAMPLE_POST',    'Sample Post'),
    ('SAMPLE_FREIGHT', 'Sample Freight')
ON CONFLICT DO NOTHING;

INSERT INTO public.party_role (party_id, role_type_id)
VALUES
    ('SAMPLE_COMPANY', 'INTERNAL_ORGANIZATIO'),
    ('SAMPLE_EXPRESS', 'CARRIER'),
    ('SAMPLE_POST',    'CARRIER'),
    ('SAMPLE_FREIGHT', 'CARRIER')
ON CONFLICT DO NOTHING;

INSERT INTO public.carrier_shipment_method (shipment_method_type_id, party_id, role_type_id, sequence_number)
SELECT method, carrier, 'CARRIER', 1
FROM unnest(ARRAY['STANDARD', 'SECOND_DAY', 'THIRD_DAY', 'NEXT_DAY']) AS method,
     unnest(ARRAY['SAMPLE_EXPRESS', 'SAMPLE_POST', 'SAMPLE_FREIGHT']) AS carrier
ON CONFLICT DO NOTHING;
