-- The loader sets the time of loading. These orders were changed an hour after they were placed.
UPDATE order_header SET last_updated_stamp = coalesce(order_date, timestamptz '2026-01-01') + interval '1 hour';

-- The loader's files have no groups that must leave by a moment.
UPDATE order_item_ship_group SET ship_by_date = '2026-03-04 18:00:00+00' WHERE order_id = 'ORDER_SPLIT';

-- Nor have they e-mails, exchanges, kits or rush orders.
INSERT INTO communication_event
    (communication_event_id, communication_event_type_id, status_id, party_id_from, party_id_to, entry_date, datetime_ended, subject)
VALUES
    ('MAIL_1', 'AUTO_EMAIL_COMM', 'COM_COMPLETE', 'Company', 'CUST_ADA', '2026-03-01 10:00:05+00', '2026-03-01 10:00:07+00', 'Your order #1001'),
    ('MAIL_2', 'AUTO_EMAIL_COMM', 'COM_BOUNCED', 'Company', 'CUST_ADA', '2026-03-03 15:30:00+00', NULL, 'Your parcel is on its way');
INSERT INTO communication_event_order (order_id, communication_event_id) VALUES ('ORDER_SPLIT', 'MAIL_1'), ('ORDER_SPLIT', 'MAIL_2');
INSERT INTO order_item_assoc
    (order_id, order_item_seq_id, ship_group_seq_id, to_order_id, to_order_item_seq_id, to_ship_group_seq_id, order_item_assoc_type_id, quantity)
VALUES ('ORDER_SPLIT', '00001', '_NA_', 'ORDER_COMPANY', '00001', '_NA_', 'EXCHANGE', 1);
INSERT INTO order_item_group (order_id, order_item_group_seq_id, group_name) VALUES ('ORDER_SPLIT', '00001', 'Gift set');
UPDATE order_item SET order_item_group_seq_id = '00001' WHERE order_id = 'ORDER_SPLIT' AND order_item_seq_id IN ('00001', '00002');
UPDATE order_header SET is_rush_order = 'Y', priority = '1' WHERE order_id = 'ORDER_HELD_1';

-- Nor gifts, back-orders, or means of payment that are not authorized, and every order goes to one country.
UPDATE order_item SET is_promo = 'Y' WHERE order_id = 'ORDER_SPLIT' AND order_item_seq_id = '00002';
UPDATE order_item_ship_grp_inv_res SET quantity_not_available = 1 WHERE order_id = 'ORDER_IN_PROGRESS' AND order_item_seq_id = '00003';
-- Nor is more promised of a product than there is.
UPDATE inventory_item SET available_to_promise_total = -1 WHERE inventory_item_id = 'INV_SHIRT_M';
