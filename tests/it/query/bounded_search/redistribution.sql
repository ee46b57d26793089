-- Makes frequent values rare and rare ones frequent, moves dates and names, and leaves the statistics as they are.
BEGIN;
SET LOCAL session_replication_role = replica;
UPDATE order_header
SET status_id = CASE status_id WHEN 'HALF' THEN 'TWENTY' WHEN 'TWENTY' THEN 'HALF' ELSE 'ONE' END,
    order_date = CASE WHEN order_id < 'O004000' THEN NULL ELSE timestamptz '2026-06-01' END,
    product_store_id = CASE WHEN product_store_id = 'T0' THEN 'T_RANGE' ELSE product_store_id END
WHERE right(order_id, 1) IN ('2', '3', '6');
UPDATE shipment
SET status_id = CASE status_id WHEN 'HALF' THEN 'ONE' WHEN 'TWENTY' THEN 'HALF' ELSE status_id END,
    origin_facility_id = CASE origin_facility_id WHEN 'F0' THEN 'F_RANGE' ELSE 'F0' END
WHERE right(shipment_id, 1) IN ('2', '3', '6');
UPDATE order_item
SET product_id = CASE product_id WHEN 'P0' THEN 'P_TWENTY' ELSE 'P0' END
WHERE right(order_id, 1) IN ('2', '3', '6');
UPDATE party_role SET role_type_id = 'SUPPLIER' WHERE role_type_id = 'CUSTOMER' AND right(party_id, 2) NOT IN ('10', '80');
COMMIT;
VACUUM order_header, shipment, order_item, party_role, return_header;
