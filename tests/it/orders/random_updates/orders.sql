-- Thirty orders of a store, each with three shipments of three items. The first item of the second shipment is for two lines.
-- The store sells three products only, so that all updates change the same stock. The first product has two inventory items,
-- and of the others only one is named in product_facility.
INSERT INTO facility (facility_id, facility_name) VALUES ('STORM', 'Storm');
INSERT INTO product (product_id) VALUES ('P0'), ('P1'), ('P2');
INSERT INTO inventory_item (inventory_item_id, product_id, facility_id, available_to_promise_total, quantity_on_hand_total)
VALUES ('I0', 'P0', 'STORM', 0, 0), ('I0B', 'P0', 'STORM', 0, 0), ('I1', 'P1', 'STORM', 0, 0), ('I2', 'P2', 'STORM', 0, 0);
INSERT INTO inventory_item_detail (inventory_item_id, inventory_item_detail_seq_id, available_to_promise_diff, quantity_on_hand_diff)
SELECT inventory_item_id, '00001', 1000, 1000 FROM inventory_item;
INSERT INTO product_facility (product_id, facility_id, inventory_item_id) VALUES ('P0', 'STORM', NULL), ('P1', 'STORM', 'I1'), ('P2', 'STORM', NULL);

INSERT INTO order_header (order_id, status_id) SELECT 'O' || n, 'ORDER_APPROVED' FROM generate_series(0, 29) AS n;
INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id) SELECT order_id, '00001', 'STORM' FROM order_header;
-- Ten lines for each order: nine, and a second one for the fourth item.
INSERT INTO order_item (order_id, order_item_seq_id, product_id, quantity, status_id, ship_group_seq_id)
SELECT order_id, to_char(line, 'FM00000'), 'P' || CASE line WHEN 10 THEN 0 ELSE (line - 1) % 3 END, line % 4 + 1, 'ITEM_APPROVED', '00001'
FROM order_header, generate_series(1, 10) AS line;
INSERT INTO order_item_ship_group_assoc (order_id, order_item_seq_id, ship_group_seq_id, quantity)
SELECT order_id, order_item_seq_id, ship_group_seq_id, quantity FROM order_item;

INSERT INTO shipment (shipment_id, status_id, primary_order_id, origin_facility_id)
SELECT order_id || 'S' || box, CASE box WHEN 0 THEN 'SHIPMENT_INPUT' ELSE 'SHIPMENT_APPROVED' END, order_id, 'STORM'
FROM order_header, generate_series(0, 2) AS box;
INSERT INTO shipment_status (shipment_id, status_id) SELECT shipment_id, status_id FROM shipment;
INSERT INTO shipment_package (shipment_id, shipment_package_seq_id, shipment_box_type_id) SELECT shipment_id, '00001', 'YOURPACKNG' FROM shipment;
INSERT INTO shipment_route_segment (shipment_id, shipment_route_segment_id, tracking_id_number) SELECT shipment_id, '00001', '1Z' FROM shipment;
INSERT INTO shipment_package_route_seg (shipment_id, shipment_package_seq_id, shipment_route_segment_id, tracking_code)
SELECT shipment_id, '00001', '00001', '1Z' FROM shipment;
INSERT INTO order_shipment (order_id, order_item_seq_id, ship_group_seq_id, shipment_id, shipment_item_seq_id, quantity)
SELECT order_id, order_item_seq_id, ship_group_seq_id,
       order_id || 'S' || CASE order_item_seq_id WHEN '00010' THEN 1 ELSE (order_item_seq_id::integer - 1) / 3 END,
       CASE order_item_seq_id WHEN '00010' THEN '00001' ELSE to_char((order_item_seq_id::integer - 1) % 3 + 1, 'FM00000') END,
       quantity
FROM order_item;
INSERT INTO shipment_item (shipment_id, shipment_item_seq_id, product_id, quantity)
SELECT link.shipment_id, link.shipment_item_seq_id, min(product_id), sum(link.quantity)
FROM order_shipment AS link JOIN order_item USING (order_id, order_item_seq_id) GROUP BY 1, 2;
INSERT INTO shipment_package_content (shipment_id, shipment_package_seq_id, shipment_item_seq_id, quantity)
SELECT shipment_id, '00001', shipment_item_seq_id, quantity FROM shipment_item;
INSERT INTO order_item_ship_grp_inv_res (order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, quantity)
SELECT order_id, ship_group_seq_id, order_item_seq_id,
       CASE WHEN product_id = 'P0' AND order_item_seq_id > '00005' THEN 'I0B' ELSE 'I' || right(product_id, 1) END, quantity
FROM order_item;
INSERT INTO inventory_item_detail (inventory_item_id, inventory_item_detail_seq_id, available_to_promise_diff, quantity_on_hand_diff)
SELECT inventory_item_id, '00002', -sum(quantity), 0 FROM order_item_ship_grp_inv_res GROUP BY 1;
SELECT orderql.sum_inventory_details();
