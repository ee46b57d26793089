-- The rows of reference that stock OFBiz has not: HotWax's statuses and the changes between them, reasons for rejecting an
-- item, parking facilities, box types and shipment methods; and ORDER_HELD, which clients of the API know beside OFBiz's
-- own ORDER_HOLD. A row that stands is kept as it is. The few rows of stock OFBiz that these refer to come along, so
-- that an empty database takes them too.

--- rows status_type
-- Stock.
INSERT INTO status_type (status_type_id, parent_type_id, has_table, description)
VALUES
    ('ORDER_RETURN_STTS', NULL,           'N', 'Order Return Status For Customer Returns'),
    ('ORDER_STATUS',      NULL,           'N', 'Order'),
    ('PARTY_STATUS',      NULL,           'N', 'Party'),
    ('PICKITEM_STATUS',   NULL,           'N', 'Picklist Item'),
    ('PICKLIST_STATUS',   NULL,           'N', 'Picklist'),
    ('PURCH_SHIP_STATUS', NULL,           'N', 'Purchase Shipment'),
    ('SHIPMENT_STATUS',   NULL,           'N', 'Shipment'),
    ('SHPRTSG_CS_STATUS', NULL,           'N', 'ShipmentRouteSegment:CarrierService'),
    ('ORDER_ITEM_STATUS', 'ORDER_STATUS', 'N', 'Order Item')
ON CONFLICT DO NOTHING;

--- rows status_item
-- Stock.
INSERT INTO status_item (status_id, status_type_id, status_code, sequence_id, description)
VALUES
    ('PARTY_ENABLED',      'PARTY_STATUS',      'ENABLED',    '01', 'Enabled'),
    ('SHIPMENT_INPUT',     'SHIPMENT_STATUS',   'INPUT',      '01', 'Input'),
    ('SHIPMENT_PACKED',    'SHIPMENT_STATUS',   'PACKED',     '04', 'Packed'),
    ('SHIPMENT_SHIPPED',   'SHIPMENT_STATUS',   'SHIPPED',    '05', 'Shipped'),
    ('SHIPMENT_DELIVERED', 'SHIPMENT_STATUS',   'DELIVERED',  '06', 'Delivered'),
    ('SHIPMENT_CANCELLED', 'SHIPMENT_STATUS',   'CANCELLED',  '99', 'Cancelled'),
    ('PURCH_SHIP_CREATED', 'PURCH_SHIP_STATUS', 'CREATED',    '01', 'Created'),
    ('PICKLIST_PICKED',    'PICKLIST_STATUS',   'PICKED',     '10', 'Picked'),
    ('PICKLIST_CANCELLED', 'PICKLIST_STATUS',   'CANCELLED',  '99', 'Cancelled'),
    ('PICKITEM_PENDING',   'PICKITEM_STATUS',   'PENDING',    '01', 'Pending'),
    ('PICKITEM_COMPLETED', 'PICKITEM_STATUS',   'COMPLETED',  '50', 'Completed'),
    ('PICKITEM_CANCELLED', 'PICKITEM_STATUS',   'CANCELLED',  '99', 'Cancelled'),
    ('SHRSCS_NOT_STARTED', 'SHPRTSG_CS_STATUS', 'NOT_STARTED', '01', 'Not Started'),
    ('ORDER_CREATED',      'ORDER_STATUS',      'CREATED',    '01', 'Created'),
    ('ORDER_PROCESSING',   'ORDER_STATUS',      'PROCESSING', '04', 'Processing'),
    ('ORDER_APPROVED',     'ORDER_STATUS',      'APPROVED',   '05', 'Approved'),
    ('ORDER_COMPLETED',    'ORDER_STATUS',      'COMPLETED',  '10', 'Completed'),
    ('ORDER_REJECTED',     'ORDER_STATUS',      'REJECTED',   '98', 'Rejected'),
    ('ORDER_CANCELLED',    'ORDER_STATUS',      'CANCELLED',  '99', 'Cancelled'),
    ('ITEM_CREATED',       'ORDER_ITEM_STATUS', 'CREATED',    '01', 'Created'),
    ('ITEM_APPROVED',      'ORDER_ITEM_STATUS', 'APPROVED',   '05', 'Approved'),
    ('ITEM_COMPLETED',     'ORDER_ITEM_STATUS', 'COMPLETED',  '10', 'Completed'),
    ('ITEM_REJECTED',      'ORDER_ITEM_STATUS', 'REJECTED',   '98', 'Rejected'),
    ('ITEM_CANCELLED',     'ORDER_ITEM_STATUS', 'CANCELLED',  '99', 'Cancelled'),
    ('RETURN_REQUESTED',   'ORDER_RETURN_STTS', 'REQUESTED',  '01', 'Requested')
ON CONFLICT DO NOTHING;

INSERT INTO status_item (status_id, status_type_id, status_code, description)
VALUES
    ('ORDER_AUTHORIZED',     'ORDER_STATUS',      'AUTHORIZED',    'Authorized'),
    ('ORDER_EXPIRED',        'ORDER_STATUS',      'EXPIRED',       'Expired'),
    ('ORDER_HELD',           'ORDER_STATUS',      'HELD',          'Held'),
    ('ITEM_EXPIRED',         'ORDER_ITEM_STATUS', 'EXPIRED',       'Expired'),
    ('ITEM_HOLD',            'ORDER_ITEM_STATUS', 'HOLD',          'Held'),
    ('ITEM_REQ_CANCELATN',   'ORDER_ITEM_STATUS', 'REQ_CANCELATN', 'Cancellation requested'),
    ('SHIPMENT_APPROVED',    'SHIPMENT_STATUS',   'APPROVED',      'Approved'),
    ('SHIPMENT_IN_TRANSIT',  'SHIPMENT_STATUS',   'IN_TRANSIT',    'In transit'),
    ('SHIPMENT_EXCEPTION',   'SHIPMENT_STATUS',   'EXCEPTION',     'Exception'),
    ('SHIPMENT_ARRIVED',     'SHIPMENT_STATUS',   'ARRIVED',       'Arrived'),
    ('PICKUP_SCHEDULED',     'SHIPMENT_STATUS',   'SCHEDULED',     'Pickup scheduled'),
    ('PURCH_SHIP_CANCELLED', 'PURCH_SHIP_STATUS', 'CANCELLED',     'Cancelled'),
    ('RETURN_REJECTED',      'ORDER_RETURN_STTS', 'REJECTED',      'Rejected'),
    ('PICKITEM_PICKED',      'PICKITEM_STATUS',   'PICKED',        'Picked'),
    ('PICKLIST_COMPLETED',   'PICKLIST_STATUS',   'COMPLETED',     'Completed')
ON CONFLICT DO NOTHING;

--- rows status_valid_change
-- The condition keeps a change from users: only the service that owns the status makes it.
INSERT INTO status_valid_change (status_id, status_id_to, condition_expression, transition_name)
VALUES
    ('SHIPMENT_INPUT',     'SHIPMENT_APPROVED',    'directStatusChange == false', 'Approved'),
    ('SHIPMENT_APPROVED',  'SHIPMENT_PACKED',      NULL,                          'Packed'),
    ('SHIPMENT_APPROVED',  'SHIPMENT_SHIPPED',     NULL,                          'Shipped'),
    ('SHIPMENT_APPROVED',  'SHIPMENT_CANCELLED',   NULL,                          'Cancelled'),
    ('SHIPMENT_APPROVED',  'SHIPMENT_INPUT',       'directStatusChange == false', 'Input'),
    ('SHIPMENT_PACKED',    'SHIPMENT_CANCELLED',   NULL,                          'Cancelled'),
    ('SHIPMENT_PACKED',    'SHIPMENT_INPUT',       NULL,                          'Input'),
    ('SHIPMENT_PACKED',    'SHIPMENT_APPROVED',    'directStatusChange == false', 'Approved'),
    ('SHIPMENT_PACKED',    'PICKUP_SCHEDULED',     'directStatusChange == false', 'Pickup scheduled'),
    ('PICKUP_SCHEDULED',   'SHIPMENT_SHIPPED',     NULL,                          'Shipped'),
    ('PICKUP_SCHEDULED',   'SHIPMENT_DELIVERED',   NULL,                          'Delivered'),
    ('SHIPMENT_SHIPPED',   'SHIPMENT_ARRIVED',     NULL,                          'Arrived'),
    ('SHIPMENT_ARRIVED',   'SHIPMENT_DELIVERED',   NULL,                          'Delivered'),
    ('PURCH_SHIP_CREATED', 'PURCH_SHIP_CANCELLED', NULL,                          'Cancelled'),
    ('ORDER_CREATED',      'ORDER_AUTHORIZED',     'directStatusChange == false', 'Authorized'),
    ('ORDER_CREATED',      'ORDER_COMPLETED',      'directStatusChange == false', 'Completed'),
    ('ORDER_AUTHORIZED',   'ORDER_CANCELLED',      NULL,                          'Cancelled'),
    ('ORDER_AUTHORIZED',   'ORDER_APPROVED',       NULL,                          'Approved'),
    ('ORDER_APPROVED',     'ORDER_REJECTED',       'directStatusChange == false', 'Rejected'),
    ('ORDER_HELD',         'ORDER_PROCESSING',     NULL,                          'Processing'),
    ('ORDER_HELD',         'ORDER_APPROVED',       NULL,                          'Approved'),
    ('ORDER_HELD',         'ORDER_CANCELLED',      NULL,                          'Cancelled'),
    ('ITEM_CREATED',       'ITEM_EXPIRED',         NULL,                          'Expired'),
    ('ITEM_CREATED',       'ITEM_HOLD',            NULL,                          'Held'),
    ('ITEM_CREATED',       'ITEM_COMPLETED',       NULL,                          'Completed'),
    ('ITEM_EXPIRED',       'ITEM_CREATED',         NULL,                          'Created'),
    ('ITEM_APPROVED',      'ITEM_REJECTED',        NULL,                          'Rejected'),
    ('ITEM_APPROVED',      'ITEM_REQ_CANCELATN',   NULL,                          'Cancellation requested'),
    ('ITEM_APPROVED',      'ITEM_HOLD',            NULL,                          'Held'),
    ('ITEM_HOLD',          'ITEM_APPROVED',        NULL,                          'Approved'),
    ('ITEM_HOLD',          'ITEM_CANCELLED',       NULL,                          'Cancelled'),
    ('ITEM_REQ_CANCELATN', 'ITEM_APPROVED',        NULL,                          'Approved'),
    ('ITEM_REQ_CANCELATN', 'ITEM_CANCELLED',       NULL,                          'Cancelled'),
    ('RETURN_REQUESTED',   'RETURN_REJECTED',      NULL,                          'Rejected'),
    ('PICKITEM_PENDING',   'PICKITEM_PICKED',      NULL,                          'Picked'),
    ('PICKITEM_PICKED',    'PICKITEM_PENDING',     NULL,                          'Pending'),
    ('PICKITEM_PICKED',    'PICKITEM_COMPLETED',   NULL,                          'Completed'),
    ('PICKLIST_PICKED',    'PICKLIST_COMPLETED',   NULL,                          'Completed'),
    ('PICKLIST_PICKED',    'PICKLIST_CANCELLED',   NULL,                          'Cancelled')
ON CONFLICT DO NOTHING;

--- rows enumeration_type
INSERT INTO enumeration_type (enum_type_id, parent_type_id, has_table, description)
VALUES
    ('REPORT_AN_ISSUE',      NULL,              'N', 'Report an issue'),
    ('REPORT_ALL_VAR',       'REPORT_AN_ISSUE', 'N', 'Rejection that reports all stock as variance'),
    ('REPORT_VAR',           'REPORT_AN_ISSUE', 'N', 'Rejection that reports the rejected quantity as variance'),
    ('REPORT_NO_VAR',        NULL,              'N', 'Rejection that reports no variance'),
    ('BROKERING_REASN_TYPE', NULL,              'N', 'Reason for a change of facility'),
    ('ORDER_IDENTITY',       NULL,              'N', 'Identification of an order'),
    ('RETURN_IDENTITY',      NULL,              'N', 'Identification of a return')
ON CONFLICT DO NOTHING;

--- rows enumeration
-- Reasons for rejecting an item, reasons for a change of facility, and what an order or a return is known by elsewhere.
INSERT INTO enumeration (enum_id, enum_type_id, enum_code, sequence_id, description)
VALUES
    ('NOT_IN_STOCK',         'REPORT_ALL_VAR',       'NOT_IN_STOCK',         '10', 'Not in Stock'),
    ('WORN_DISPLAY',         'REPORT_VAR',           'WORN_DISPLAY',         '20', 'Worn Display'),
    ('REJ_RSN_DAMAGED',      'REPORT_VAR',           'DAMAGED',              '30', 'Damaged'),
    ('MISMATCH',             'REPORT_VAR',           'MISMATCH',             '40', 'Mismatch'),
    ('REJECT_ENTIRE_ORDER',  'REPORT_NO_VAR',        'REJECT_ENTIRE_ORDER',  '41', 'Reject entire order'),
    ('INACTIVE_STORE',       'REPORT_NO_VAR',        'INACTIVE_STORE',       '50', 'Inactive store'),
    ('NO_VARIANCE_LOG',      'REPORT_NO_VAR',        'NO_VARIANCE_LOG',      '60', 'No variance'),
    ('SYS_REJ_IDLE_ORD',     'REPORT_NO_VAR',        'SYS_REJ_IDLE_ORD',     '70', 'Idle Time Exceeded At Facility'),
    ('REJ_AVOID_ORD_SPLIT',  'REPORT_NO_VAR',        'REJ_AVOID_ORD_SPLIT',  '80', 'Reject to avoid order split (no variance)'),
    ('REJ_CASCADE_BY_PROD',  'REPORT_NO_VAR',        'REJ_CASCADE_BY_PROD',  '90', 'Cascade rejection by product (no variance)'),
    ('BROKERED',             'BROKERING_REASN_TYPE', 'BROKERED',             '01', 'Brokered'),
    ('RELEASED',             'BROKERING_REASN_TYPE', 'RELEASED',             '02', 'Released'),
    ('UNFILLABLE',           'BROKERING_REASN_TYPE', 'UNFILLABLE',           '03', 'Unfillable'),
    ('PARKED',               'BROKERING_REASN_TYPE', 'PARKED',               '04', 'Parked'),
    ('DAMAGED',              'BROKERING_REASN_TYPE', 'DAMAGED',              '05', 'Damaged'),
    ('INV_STOLEN',           'BROKERING_REASN_TYPE', 'INV_STOLEN',           '06', 'Inventory stolen'),
    ('INV_NOT_FOUND',        'BROKERING_REASN_TYPE', 'INV_NOT_FOUND',        '07', 'Inventory not found'),
    ('SHOPIFY_ORD_ID',       'ORDER_IDENTITY',       'SHOPIFY_ORD_ID',       '01', 'Shopify order id'),
    ('SHOPIFY_ORD_NO',       'ORDER_IDENTITY',       'SHOPIFY_ORD_NO',       '02', 'Shopify order number'),
    ('SHOPIFY_ORD_NAME',     'ORDER_IDENTITY',       'SHOPIFY_ORD_NAME',     '03', 'Shopify order name'),
    ('OLD_SHOPIFY_ORD_ID',   'ORDER_IDENTITY',       'OLD_SHOPIFY_ORD_ID',   '04', 'Former Shopify order id'),
    ('OLD_SHOPIFY_ORD_NO',   'ORDER_IDENTITY',       'OLD_SHOPIFY_ORD_NO',   '05', 'Former Shopify order number'),
    ('OLD_SHOPIFY_ORD_NAME', 'ORDER_IDENTITY',       'OLD_SHOPIFY_ORD_NAME', '06', 'Former Shopify order name'),
    ('MKT_PLACE',            'ORDER_IDENTITY',       'MKT_PLACE',            '07', 'Market place'),
    ('SHOPIFY_RTN_ID',       'RETURN_IDENTITY',      'SHOPIFY_RTN_ID',       '01', 'Shopify return id'),
    ('OLD_SHOPIFY_RTN_ID',   'RETURN_IDENTITY',      'OLD_SHOPIFY_RTN_ID',   '02', 'Former Shopify return id'),
    ('SHPY_ORPN_RTN_ORD_ID', 'RETURN_IDENTITY',      'SHPY_ORPN_RTN_ORD_ID', '03', 'Shopify order id of an orphan return'),
    ('RTN_MKT_PLACE',        'RETURN_IDENTITY',      'RTN_MKT_PLACE',        '04', 'Market place'),
    ('OLD_RTN_MKT_PLACE',    'RETURN_IDENTITY',      'OLD_RTN_MKT_PLACE',    '05', 'Former market place')
ON CONFLICT DO NOTHING;

--- rows facility_type
INSERT INTO facility_type (facility_type_id, parent_type_id, has_table, description)
VALUES
    ('VIRTUAL_FACILITY',   NULL,               'N', 'Virtual facility'),
    ('NA',                 'VIRTUAL_FACILITY', 'N', 'Not applicable'),
    ('PRE_ORDER',          'VIRTUAL_FACILITY', 'N', 'Pre-order'),
    ('BACKORDER',          'VIRTUAL_FACILITY', 'N', 'Back-order'),
    ('CONFIGURATION',      'VIRTUAL_FACILITY', 'N', 'Configuration'),
    ('GENERAL_OPERATIONS', 'VIRTUAL_FACILITY', 'N', 'General operations'),
    ('RELEASED_ORD',       'VIRTUAL_FACILITY', 'N', 'Released orders')
ON CONFLICT DO NOTHING;

--- rows facility
-- Where order items wait that no real facility fulfils.
INSERT INTO facility (facility_id, facility_type_id, facility_name, external_id)
VALUES
    ('_NA_',                 'NA',                 'Brokering Queue',             '_NA_'),
    ('UNF_HOLD_PARKING',     'NA',                 'Unfillable Hold Parking',     'UNF_HOLD_PARKING'),
    ('UNFILLABLE_PARKING',   'NA',                 'Unfillable Parking',          'UNFILLABLE_PARKING'),
    ('REJECTED_ITM_PARKING', 'NA',                 'Rejected Item Parking',       'REJECTED_ITM_PARKING'),
    ('PICKUP_REJECTED',      'NA',                 'Store Pickup Rejected Queue', 'PICKUP_REJECTED'),
    ('PRE_ORDER_PARKING',    'PRE_ORDER',          'Pre-Order Parking',           'PRE_ORDER_PARKING'),
    ('BACKORDER_PARKING',    'BACKORDER',          'Backorder Parking',           'BACKORDER_PARKING'),
    ('GENERAL_OPS_PARKING',  'GENERAL_OPERATIONS', 'General Operations Parking',  'GENERAL_OPS_PARKING'),
    ('RELEASED_ORD_PARKING', 'RELEASED_ORD',       'Released Order Parking',      'RELEASED_ORD_PARKING')
ON CONFLICT DO NOTHING;

--- rows uom_type
-- Stock.
INSERT INTO uom_type (uom_type_id, has_table, description)
VALUES
    ('LENGTH_MEASURE', 'N', 'Length')
ON CONFLICT DO NOTHING;

--- rows uom
-- Stock.
INSERT INTO uom (uom_id, uom_type_id, abbreviation, description)
VALUES
    ('LEN_in', 'LENGTH_MEASURE', 'in', 'Inch')
ON CONFLICT DO NOTHING;

--- rows shipment_box_type
INSERT INTO shipment_box_type (shipment_box_type_id, description, dimension_uom_id, box_length, box_width, box_height)
VALUES
    ('YOURPACKNG',  'Your Packaging',        'LEN_in', 15,   10,   5),
    ('BOPISPACKNG', 'BOPIS Store Packaging', 'LEN_in', NULL, NULL, NULL)
ON CONFLICT DO NOTHING;

--- rows shipment_method_type
INSERT INTO shipment_method_type (shipment_method_type_id, description)
VALUES
    ('STANDARD',      'Standard'),
    ('SECOND_DAY',    'Second Day'),
    ('THIRD_DAY',     'Third Day'),
    ('NEXT_DAY',      'Guaranteed Next Day'),
    ('NO_SHIPPING',   'No Shipping'),
    ('STOREPICKUP',   'Store Pickup'),
    ('POS_COMPLETED', 'Completed at the Point of Sale'),
    ('SHIP_TO_STORE', 'Ship to Store')
ON CONFLICT DO NOTHING;

--- rows party_type
-- Stock: the carrier that stands for no carrier.
INSERT INTO party_type (party_type_id, has_table, description)
VALUES
    ('PERSON', 'Y', 'Person')
ON CONFLICT DO NOTHING;

--- rows role_type
INSERT INTO role_type (role_type_id, parent_type_id, has_table, description)
VALUES
    ('MAIN_ROLE',         NULL,                'N', 'Main Role'),
    ('ORGANIZATION_ROLE', 'MAIN_ROLE',         'N', 'Organization'),
    ('CARRIER',           'ORGANIZATION_ROLE', 'N', 'Carrier')
ON CONFLICT DO NOTHING;

--- rows party
INSERT INTO party (party_id, party_type_id, status_id)
VALUES
    ('_NA_', 'PERSON', 'PARTY_ENABLED')
ON CONFLICT DO NOTHING;

--- rows person
INSERT INTO person (party_id)
VALUES
    ('_NA_')
ON CONFLICT DO NOTHING;

--- rows party_role
INSERT INTO party_role (party_id, role_type_id)
VALUES
    ('_NA_', 'CARRIER')
ON CONFLICT DO NOTHING;

--- rows carrier_shipment_method
-- Every method without a named carrier.
INSERT INTO carrier_shipment_method (shipment_method_type_id, party_id, role_type_id, sequence_number)
VALUES
    ('STANDARD',      '_NA_', 'CARRIER', 1),
    ('SECOND_DAY',    '_NA_', 'CARRIER', 2),
    ('THIRD_DAY',     '_NA_', 'CARRIER', 3),
    ('NEXT_DAY',      '_NA_', 'CARRIER', 4),
    ('NO_SHIPPING',   '_NA_', 'CARRIER', 5),
    ('STOREPICKUP',   '_NA_', 'CARRIER', 6),
    ('POS_COMPLETED', '_NA_', 'CARRIER', 7),
    ('SHIP_TO_STORE', '_NA_', 'CARRIER', 8)
ON CONFLICT DO NOTHING;

--- sequence orderql.entity_id
-- Ids that OFBiz's own sequences never give, because the program puts a letter before them.
CREATE SEQUENCE IF NOT EXISTS orderql.entity_id START 10000;

--- comments on the tables of orders
COMMENT ON TABLE orderql.order_update IS 'the audit of POST /api/updateOrder: one row for each update that was applied';
COMMENT ON COLUMN orderql.idempotent_answer.request_hash IS 'SHA-256 of the parameters, so that a key is not used for two requests';
COMMENT ON COLUMN orderql.idempotent_answer.notes IS 'what the update did beyond what its parameters say';
COMMENT ON COLUMN orderql.item_place.ship_group_seq_id IS 'empty if the item is in no ship group';
COMMENT ON COLUMN orderql.item_place.has_group IS 'whether there is such a ship group';
COMMENT ON COLUMN orderql.item_place.open_rank IS 'null if the item has nothing to do any more';
