-- Writes new orders, one after the other, each row with an INSERT of its own that was prepared, in the order in which OFBiz writes them.
DO $$
DECLARE
    header written.new_order_header;
    ship_group written.new_order_item_ship_group;
    item written.new_order_item;
    assoc written.new_order_item_ship_group_assoc;
    reserved written.new_order_item_ship_grp_inv_res;
    role written.new_order_role;
    preference written.new_order_payment_preference;
    status written.new_order_status;
    adjustment written.new_order_adjustment;
    contact written.new_order_contact_mech;
BEGIN
    FOR header IN SELECT * FROM written.new_order_header LOOP
        INSERT INTO order_header VALUES (header.*);
        FOR ship_group IN SELECT * FROM written.new_order_item_ship_group WHERE order_id = header.order_id LOOP
            INSERT INTO order_item_ship_group VALUES (ship_group.*);
        END LOOP;
        FOR item IN SELECT * FROM written.new_order_item WHERE order_id = header.order_id LOOP
            INSERT INTO order_item VALUES (item.*);
        END LOOP;
        FOR assoc IN SELECT * FROM written.new_order_item_ship_group_assoc WHERE order_id = header.order_id LOOP
            INSERT INTO order_item_ship_group_assoc VALUES (assoc.*);
        END LOOP;
        FOR reserved IN SELECT * FROM written.new_order_item_ship_grp_inv_res WHERE order_id = header.order_id LOOP
            INSERT INTO order_item_ship_grp_inv_res VALUES (reserved.*);
        END LOOP;
        FOR role IN SELECT * FROM written.new_order_role WHERE order_id = header.order_id LOOP
            INSERT INTO order_role VALUES (role.*);
        END LOOP;
        FOR preference IN SELECT * FROM written.new_order_payment_preference WHERE order_id = header.order_id LOOP
            INSERT INTO order_payment_preference VALUES (preference.*);
        END LOOP;
        FOR status IN SELECT * FROM written.new_order_status WHERE order_id = header.order_id LOOP
            INSERT INTO order_status VALUES (status.*);
        END LOOP;
        FOR adjustment IN SELECT * FROM written.new_order_adjustment WHERE order_id = header.order_id LOOP
            INSERT INTO order_adjustment VALUES (adjustment.*);
        END LOOP;
        FOR contact IN SELECT * FROM written.new_order_contact_mech WHERE order_id = header.order_id LOOP
            INSERT INTO order_contact_mech VALUES (contact.*);
        END LOOP;
    END LOOP;
END;
$$;
