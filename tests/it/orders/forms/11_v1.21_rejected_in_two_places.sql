UPDATE order_shipment SET quantity = 2 WHERE shipment_id = 'SHIP_APPROVED' AND shipment_item_seq_id = '00001';
UPDATE shipment_item SET quantity = 2 WHERE shipment_id = 'SHIP_APPROVED' AND shipment_item_seq_id = '00001';
INSERT INTO shipment_item (shipment_id, shipment_item_seq_id, product_id, quantity) VALUES ('SHIP_INPUT', '00007', 'SHIRT_L', 1);
INSERT INTO order_shipment VALUES ('ORDER_IN_PROGRESS', '00003', '00001', 'SHIP_INPUT', '00007', 1);
