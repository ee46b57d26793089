-- A line for each row of each table that an order update may change, of the world whose name is $1. Sequence ids of details
-- and ids of histories are left out, because nothing depends on them.
SELECT format('stock %s %s %s', inventory_item_id, trim_scale(available_to_promise_total), trim_scale(quantity_on_hand_total))
FROM inventory_item WHERE inventory_item_id LIKE $1 || 'P%'
UNION ALL
SELECT format('count %s %s', product_id, trim_scale(last_inventory_count)) FROM product_facility WHERE product_id LIKE $1 || 'P%'
UNION ALL
SELECT format('order %s %s', order_id, status_id) FROM order_header WHERE order_id LIKE $1 || 'O%'
UNION ALL
SELECT format('group %s %s %s %s %s', order_id, ship_group_seq_id, facility_id, shipment_method_type_id, may_split)
FROM order_item_ship_group WHERE order_id LIKE $1 || 'O%' AND ship_group_seq_id <> 'MORE'
UNION ALL
SELECT format('line %s %s %s %s %s', order_id, order_item_seq_id, status_id, trim_scale(quantity), ship_group_seq_id)
FROM order_item WHERE order_id LIKE $1 || 'O%'
UNION ALL
SELECT format('assigned %s %s %s %s', order_id, order_item_seq_id, ship_group_seq_id, trim_scale(quantity))
FROM order_item_ship_group_assoc WHERE order_id LIKE $1 || 'O%' AND ship_group_seq_id <> 'MORE'
UNION ALL
SELECT format('picking %s %s %s', order_id, order_item_seq_id, item_status_id) FROM picklist_item WHERE order_id LIKE $1 || 'O%'
UNION ALL
SELECT format('adjusted %s %s %s', order_id, order_item_seq_id, ship_group_seq_id) FROM order_adjustment WHERE order_id LIKE $1 || 'O%'
UNION ALL
SELECT format('reserved %s %s %s %s', order_id, order_item_seq_id, inventory_item_id, trim_scale(quantity))
FROM order_item_ship_grp_inv_res WHERE order_id LIKE $1 || 'O%'
UNION ALL
SELECT format('shipment %s %s %s', shipment_id, primary_order_id, status_id) FROM shipment WHERE shipment_id LIKE $1 || 'S%'
UNION ALL
SELECT format('status %s %s %s', shipment_id, status_id, change_by_user_login_id) FROM shipment_status WHERE shipment_id LIKE $1 || 'S%'
UNION ALL
SELECT format('segment %s %s %s', shipment_id, tracking_id_number, carrier_service_status_id)
FROM shipment_route_segment WHERE shipment_id LIKE $1 || 'S%'
UNION ALL
SELECT format('item %s %s %s %s', shipment_id, shipment_item_seq_id, product_id, trim_scale(quantity))
FROM shipment_item WHERE shipment_id LIKE $1 || 'S%'
UNION ALL
SELECT format('link %s %s %s %s %s', shipment_id, shipment_item_seq_id, order_id, order_item_seq_id, trim_scale(quantity))
FROM order_shipment WHERE shipment_id LIKE $1 || 'S%'
UNION ALL
SELECT format('package %s %s %s', shipment_id, shipment_package_seq_id, shipment_box_type_id)
FROM shipment_package WHERE shipment_id LIKE $1 || 'S%'
UNION ALL
SELECT format('content %s %s %s %s', shipment_id, shipment_package_seq_id, shipment_item_seq_id, trim_scale(quantity))
FROM shipment_package_content WHERE shipment_id LIKE $1 || 'S%'
UNION ALL
SELECT format('label of %s is not that of its segment', label.shipment_id)
FROM shipment_package_route_seg AS label JOIN shipment_route_segment AS segment USING (shipment_id, shipment_route_segment_id)
WHERE shipment_id LIKE $1 || 'S%' AND tracking_code IS DISTINCT FROM tracking_id_number
UNION ALL
-- Several details may be equal.
SELECT format('detail %s %s %s %s %s %s x%s', inventory_item_id, trim_scale(available_to_promise_diff),
              trim_scale(quantity_on_hand_diff), order_id, order_item_seq_id, reason_enum_id, count(*))
FROM inventory_item_detail WHERE inventory_item_id LIKE $1 || 'P%' AND reason_enum_id IS NOT NULL
GROUP BY inventory_item_id, available_to_promise_diff, quantity_on_hand_diff, order_id, order_item_seq_id, reason_enum_id
UNION ALL
SELECT format('variance %s %s %s %s x%s', inventory_item_id, trim_scale(available_to_promise_var), trim_scale(quantity_on_hand_var),
              reason_enum_id, count(*))
FROM inventory_item_variance WHERE inventory_item_id LIKE $1 || 'P%'
GROUP BY inventory_item_id, available_to_promise_var, quantity_on_hand_var, reason_enum_id
UNION ALL
SELECT format('change %s %s %s %s %s %s %s %s', order_id, order_item_seq_id, ship_group_seq_id, from_facility_id, facility_id,
              change_reason_enum_id, comments, change_user_login)
FROM order_facility_change WHERE order_id LIKE $1 || 'O%'
UNION ALL
SELECT format('history %s %s %s %s %s %s', order_id, order_item_seq_id, status_id, change_reason_enum_id, change_reason,
              status_user_login)
FROM order_status WHERE order_id LIKE $1 || 'O%'
UNION ALL
SELECT format('excluded %s %s %s %s %s', order_id, order_item_seq_id, ship_group_seq_id, facility_id,
              extract(day FROM thru_date - from_date))
FROM excluded_order_facility WHERE order_id LIKE $1 || 'O%'
UNION ALL
-- Quantities are neither lost nor made: totals are the sums of their details; what is available is what is on hand, less what
-- is reserved and what was reported as missing of it; a line is in shipments as a whole or in the queue.
SELECT format('the totals of %s are not the sums of its details', inventory_item_id) FROM inventory_item AS stock
WHERE inventory_item_id LIKE $1 || 'P%' AND NOT EXISTS (
    SELECT FROM inventory_item_detail AS detail WHERE detail.inventory_item_id = stock.inventory_item_id
    HAVING sum(available_to_promise_diff) = available_to_promise_total AND sum(quantity_on_hand_diff) = quantity_on_hand_total)
UNION ALL
SELECT format('the stock of %s is not conserved', inventory_item_id) FROM inventory_item AS stock
WHERE inventory_item_id LIKE $1 || 'P%' AND available_to_promise_total <> quantity_on_hand_total
    - (SELECT coalesce(sum(quantity), 0) FROM order_item_ship_grp_inv_res AS reserved WHERE reserved.inventory_item_id = stock.inventory_item_id)
    + (SELECT coalesce(sum(available_to_promise_var - coalesce(quantity_on_hand_var, 0)), 0) FROM inventory_item_variance AS variance
       WHERE variance.inventory_item_id = stock.inventory_item_id)
UNION ALL
SELECT format('the line %s %s is not conserved', order_id, order_item_seq_id)
FROM order_item AS line JOIN order_item_ship_group AS own USING (order_id, ship_group_seq_id)
CROSS JOIN LATERAL (
    SELECT coalesce(sum(link.quantity), 0) AS linked,
           coalesce(sum(link.quantity) FILTER (WHERE shipment.status_id <> 'SHIPMENT_CANCELLED'), 0) AS sent
    FROM order_shipment AS link JOIN shipment_item USING (shipment_id, shipment_item_seq_id) JOIN shipment USING (shipment_id)
    WHERE link.order_id = line.order_id AND link.order_item_seq_id = line.order_item_seq_id) AS part
-- A cancelled shipment may keep the items that it had before.
WHERE order_id LIKE $1 || 'O%' AND CASE WHEN own.facility_id LIKE '%REJECTED%' THEN sent <> 0 ELSE linked <> line.quantity END
