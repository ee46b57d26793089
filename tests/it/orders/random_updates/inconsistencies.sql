-- One row for each inconsistency in the orders of `orders.sql`, whatever updates were applied.
SELECT 'a line is in no shipment and not in the queue, or in both: ' || line.order_id || ' ' || line.order_item_seq_id AS inconsistency
FROM order_item AS line
JOIN order_item_ship_group AS own USING (order_id, ship_group_seq_id)
WHERE (SELECT count(*) FROM order_shipment AS link
       JOIN shipment_item USING (shipment_id, shipment_item_seq_id)
       WHERE link.order_id = line.order_id AND link.order_item_seq_id = line.order_item_seq_id)
      <> (own.facility_id <> 'REJECTED_ITM_PARKING')::integer
UNION ALL
SELECT 'a line is in no group' FROM order_item AS line
WHERE NOT EXISTS (SELECT FROM order_item_ship_group AS own WHERE own.order_id = line.order_id AND own.ship_group_seq_id = line.ship_group_seq_id)
UNION ALL
SELECT 'lines: ' || count(*) FROM order_item HAVING count(*) <> 300
UNION ALL
SELECT 'a line has another status' FROM order_item WHERE status_id <> 'ITEM_APPROVED'
UNION ALL
SELECT 'a line''s assignment is elsewhere: ' || line.order_id || ' ' || line.order_item_seq_id FROM order_item AS line
WHERE (SELECT array_agg((assigned.ship_group_seq_id, assigned.quantity)::text) FROM order_item_ship_group_assoc AS assigned
       WHERE assigned.order_id = line.order_id AND assigned.order_item_seq_id = line.order_item_seq_id)
      IS DISTINCT FROM ARRAY[(line.ship_group_seq_id, line.quantity)::text]
UNION ALL
SELECT 'a line''s history or reservation does not follow: ' || line.order_id || ' ' || line.order_item_seq_id FROM order_item AS line
JOIN order_item_ship_group AS own USING (order_id, ship_group_seq_id)
WHERE (own.facility_id = 'REJECTED_ITM_PARKING')::integer
      <> (SELECT count(*) FROM order_facility_change AS change
          WHERE change.order_id = line.order_id AND change.order_item_seq_id = line.order_item_seq_id
            AND change.ship_group_seq_id = line.ship_group_seq_id AND change.facility_id = own.facility_id AND change.from_facility_id = 'STORM')
   OR (own.facility_id = 'STORM')::integer
      <> (SELECT count(*) FROM order_item_ship_grp_inv_res AS reserved
          WHERE reserved.order_id = line.order_id AND reserved.order_item_seq_id = line.order_item_seq_id AND reserved.quantity = line.quantity)
UNION ALL
SELECT 'an order has several queues: ' || order_id FROM order_item_ship_group GROUP BY order_id HAVING count(*) > 2
UNION ALL
SELECT 'an item is for nothing, or not in its box: ' || item.shipment_id || ' ' || item.shipment_item_seq_id FROM shipment_item AS item
WHERE (SELECT sum(link.quantity) FROM order_shipment AS link
       WHERE link.shipment_id = item.shipment_id AND link.shipment_item_seq_id = item.shipment_item_seq_id) IS DISTINCT FROM item.quantity
   OR (SELECT array_agg(content.quantity) FROM shipment_package_content AS content
       WHERE content.shipment_id = item.shipment_id AND content.shipment_item_seq_id = item.shipment_item_seq_id) IS DISTINCT FROM ARRAY[item.quantity]
UNION ALL
SELECT 'a link has no item: ' || shipment_id || ' ' || shipment_item_seq_id FROM order_shipment
WHERE NOT EXISTS (SELECT FROM shipment_item AS item
                  WHERE item.shipment_id = order_shipment.shipment_id AND item.shipment_item_seq_id = order_shipment.shipment_item_seq_id)
UNION ALL
SELECT 'a shipment has an impossible status: ' || shipment_id || ' ' || status_id FROM shipment
WHERE status_id <> ALL (CASE WHEN EXISTS (SELECT FROM shipment_item AS item WHERE item.shipment_id = shipment.shipment_id)
                             THEN ARRAY['SHIPMENT_INPUT', 'SHIPMENT_APPROVED'] ELSE ARRAY['SHIPMENT_CANCELLED'] END)
   OR NOT EXISTS (SELECT FROM shipment_status AS history
                  WHERE history.shipment_id = shipment.shipment_id AND history.status_id = shipment.status_id)
   -- A label exists until something changes, and never afterwards.
   -- An approved shipment whose box was changed was approved again.
   OR (status_id = 'SHIPMENT_APPROVED') AND EXISTS (SELECT FROM shipment_package_route_seg AS label
                                                    WHERE label.shipment_id = shipment.shipment_id AND tracking_code IS NULL)
                                        AND NOT EXISTS (SELECT FROM shipment_status AS history
                                                        WHERE history.shipment_id = shipment.shipment_id AND history.status_id = 'SHIPMENT_INPUT')
   OR (status_id = 'SHIPMENT_CANCELLED') AND EXISTS (SELECT FROM shipment_package_route_seg AS label
                                                     WHERE label.shipment_id = shipment.shipment_id AND tracking_code IS NOT NULL)
UNION ALL
SELECT 'a total is not the sum of its details: ' || inventory_item_id FROM inventory_item AS item
WHERE (SELECT (sum(available_to_promise_diff), sum(quantity_on_hand_diff))::text FROM inventory_item_detail AS detail
       WHERE detail.inventory_item_id = item.inventory_item_id)
      <> (available_to_promise_total, quantity_on_hand_total)::text
UNION ALL
SELECT 'stock is not what is on hand less what is reserved and missing: ' || inventory_item_id FROM inventory_item AS item
WHERE available_to_promise_total <> 1000
      - (SELECT coalesce(sum(quantity), 0) FROM order_item_ship_grp_inv_res AS reserved WHERE reserved.inventory_item_id = item.inventory_item_id)
      + (SELECT coalesce(sum(available_to_promise_var), 0) FROM inventory_item_variance AS variance WHERE variance.inventory_item_id = item.inventory_item_id)
   OR quantity_on_hand_total <> 1000
UNION ALL
SELECT 'the released stock is not the rejected quantity: ' || order_id || ' ' || order_item_seq_id FROM inventory_item_detail AS detail
JOIN order_item AS line USING (order_id, order_item_seq_id)
WHERE physical_inventory_id IS NULL
GROUP BY order_id, order_item_seq_id, line.quantity HAVING sum(available_to_promise_diff) <> line.quantity OR count(*) > 1
UNION ALL
SELECT 'a pair''s last count is another: ' || product_id FROM product_facility AS pair
WHERE last_inventory_count <> (SELECT sum(available_to_promise_total) FROM inventory_item AS item
                               WHERE item.product_id = pair.product_id AND item.facility_id = pair.facility_id)
UNION ALL
-- Each applied update has a stored outcome, and each stored outcome an update.
SELECT 'an update and its stored outcome differ: ' || coalesce(audit.request #>> '{}', kept.key)
FROM orderql.idempotent_answer AS kept
-- They are of one transaction, and have its time.
FULL JOIN orderql.order_update AS audit ON audit.user_id = kept.user_id AND audit.updated_at = kept.answered_at
WHERE audit.order_update_id IS NULL OR kept.key IS NULL AND EXISTS (SELECT FROM orderql.idempotent_answer)
