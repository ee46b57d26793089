-- Values that stock OFBiz keeps elsewhere or leaves to be worked out. Each function returns the number of rows that it
-- changed, and finds nothing to do when called again; loading data calls them as well.

-- Puts an item without a ship group into the one that it is assigned to: the lowest, where it is spread over several.
CREATE OR REPLACE FUNCTION orderql.backfill_ship_groups() RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE order_item AS item
    SET ship_group_seq_id = lowest.ship_group_seq_id
    FROM (
        SELECT order_id, order_item_seq_id, min(ship_group_seq_id) AS ship_group_seq_id
        FROM order_item_ship_group_assoc
        GROUP BY order_id, order_item_seq_id
    ) AS lowest
    WHERE item.order_id = lowest.order_id
      AND item.order_item_seq_id = lowest.order_item_seq_id
      AND item.ship_group_seq_id IS NULL;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END;
$$;

-- Points a product's stock at a facility to its inventory item, where the pair has one. Where it has several the
-- pointer stays empty: stock OFBiz adds an item with each receipt, the stock is all of them together, and a pointer to any
-- single one would hide the others (see orderql.inventory_level).
CREATE OR REPLACE FUNCTION orderql.backfill_current_inventory() RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE product_facility AS pair
    SET inventory_item_id = single.inventory_item_id
    FROM (
        SELECT product_id, facility_id, min(inventory_item_id) AS inventory_item_id
        FROM inventory_item
        GROUP BY product_id, facility_id
        HAVING count(*) = 1
    ) AS single
    WHERE pair.product_id = single.product_id
      AND pair.facility_id = single.facility_id
      AND pair.inventory_item_id IS NULL;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END;
$$;

-- Sets an inventory item's totals to the sums of its details, where it has details. OFBiz does so itself with each detail;
-- its data files leave the totals out.
CREATE OR REPLACE FUNCTION orderql.sum_inventory_details() RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE inventory_item AS item
    SET available_to_promise_total = total.available_to_promise,
        quantity_on_hand_total = total.quantity_on_hand,
        accounting_quantity_total = total.accounting_quantity
    FROM (
        SELECT
            inventory_item_id,
            COALESCE(sum(available_to_promise_diff), 0) AS available_to_promise,
            COALESCE(sum(quantity_on_hand_diff), 0) AS quantity_on_hand,
            COALESCE(sum(accounting_quantity_diff), 0) AS accounting_quantity
        FROM inventory_item_detail
        GROUP BY inventory_item_id
    ) AS total
    WHERE item.inventory_item_id = total.inventory_item_id
      AND (item.available_to_promise_total, item.quantity_on_hand_total, item.accounting_quantity_total)
          IS DISTINCT FROM (total.available_to_promise, total.quantity_on_hand, total.accounting_quantity);
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END;
$$;
