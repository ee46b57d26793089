--- triggers public.party: orderql_keep orderql_keep_none
CREATE OR REPLACE TRIGGER orderql_keep
    AFTER INSERT OR UPDATE OF party_id, party_type_id, external_id, status_id, created_date OR DELETE ON public.party
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_party();
CREATE OR REPLACE TRIGGER orderql_keep_none AFTER TRUNCATE ON public.party
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_party();
ALTER TABLE public.party ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_none;

--- triggers public.person: orderql_keep orderql_keep_none
CREATE OR REPLACE TRIGGER orderql_keep
    AFTER INSERT OR UPDATE OF party_id, first_name, last_name OR DELETE ON public.person
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_person();
CREATE OR REPLACE TRIGGER orderql_keep_none AFTER TRUNCATE ON public.person
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_person();
ALTER TABLE public.person ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_none;

--- triggers public.party_group: orderql_keep orderql_keep_none
CREATE OR REPLACE TRIGGER orderql_keep
    AFTER INSERT OR UPDATE OF party_id, group_name OR DELETE ON public.party_group
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_party_group();
CREATE OR REPLACE TRIGGER orderql_keep_none AFTER TRUNCATE ON public.party_group
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_party_group();
ALTER TABLE public.party_group ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_none;

--- triggers public.return_header: orderql_keep
CREATE OR REPLACE TRIGGER orderql_keep
    BEFORE INSERT OR UPDATE OF return_id ON public.return_header
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_store_of_return();
ALTER TABLE public.return_header ENABLE ALWAYS TRIGGER orderql_keep;

--- triggers public.return_item: orderql_return_inserted orderql_return_updated orderql_return_deleted orderql_return_truncated orderql_return_replicated
CREATE OR REPLACE TRIGGER orderql_return_inserted AFTER INSERT ON public.return_item REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_return_items();
CREATE OR REPLACE TRIGGER orderql_return_updated AFTER UPDATE ON public.return_item REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_return_items();
CREATE OR REPLACE TRIGGER orderql_return_deleted AFTER DELETE ON public.return_item REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_return_items();
CREATE OR REPLACE TRIGGER orderql_return_truncated AFTER TRUNCATE ON public.return_item
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_return_items();
CREATE OR REPLACE TRIGGER orderql_return_replicated
    AFTER INSERT OR UPDATE OF return_id, return_item_seq_id, order_id OR DELETE ON public.return_item
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_return_items();
ALTER TABLE public.return_item ENABLE ALWAYS TRIGGER orderql_return_truncated, ENABLE REPLICA TRIGGER orderql_return_replicated;

--- triggers public.shipment: orderql_store
CREATE OR REPLACE TRIGGER orderql_store
    BEFORE INSERT OR UPDATE OF primary_order_id ON public.shipment
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_store_of_shipment();
ALTER TABLE public.shipment ENABLE ALWAYS TRIGGER orderql_store;

--- triggers public.order_item: orderql_item_inserted orderql_item_updated orderql_item_deleted orderql_item_truncated orderql_item_replicated
CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON public.order_item REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_items();
CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE ON public.order_item
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_items();
CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON public.order_item REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_items();
CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON public.order_item
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_items_of_none();
CREATE OR REPLACE TRIGGER orderql_item_replicated AFTER INSERT OR UPDATE OR DELETE ON public.order_item
    FOR EACH ROW EXECUTE FUNCTION orderql.note_row();
ALTER TABLE public.order_item ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;

--- triggers public.order_item_ship_group_assoc: orderql_item_inserted orderql_item_updated orderql_item_deleted orderql_item_truncated orderql_item_replicated unless order_item.ship_group_seq_id
CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON public.order_item_ship_group_assoc REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_items();
CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE ON public.order_item_ship_group_assoc
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_items();
CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON public.order_item_ship_group_assoc REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_items();
CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON public.order_item_ship_group_assoc
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_items_of_none();
CREATE OR REPLACE TRIGGER orderql_item_replicated AFTER INSERT OR UPDATE OR DELETE ON public.order_item_ship_group_assoc
    FOR EACH ROW EXECUTE FUNCTION orderql.note_row();
ALTER TABLE public.order_item_ship_group_assoc ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;

--- triggers public.order_item_ship_grp_inv_res: orderql_item_inserted orderql_item_updated orderql_item_deleted orderql_item_truncated orderql_item_replicated
CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON public.order_item_ship_grp_inv_res REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_items();
CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE ON public.order_item_ship_grp_inv_res
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_items();
CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON public.order_item_ship_grp_inv_res REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_items();
CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON public.order_item_ship_grp_inv_res
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_items_of_none();
CREATE OR REPLACE TRIGGER orderql_item_replicated AFTER INSERT OR UPDATE OR DELETE ON public.order_item_ship_grp_inv_res
    FOR EACH ROW EXECUTE FUNCTION orderql.note_row();
ALTER TABLE public.order_item_ship_grp_inv_res ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;

--- triggers public.order_item_ship_group: orderql_item_inserted orderql_item_updated orderql_item_deleted orderql_item_truncated orderql_item_replicated
CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON public.order_item_ship_group REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_added();
CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE OF order_id, ship_group_seq_id, facility_id, shipment_method_type_id ON public.order_item_ship_group
    FOR EACH ROW
    WHEN (
        (OLD.order_id, OLD.ship_group_seq_id, OLD.facility_id, OLD.shipment_method_type_id)
        IS DISTINCT FROM (NEW.order_id, NEW.ship_group_seq_id, NEW.facility_id, NEW.shipment_method_type_id)
    )
    EXECUTE FUNCTION orderql.note_row();
CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON public.order_item_ship_group FOR EACH ROW EXECUTE FUNCTION orderql.note_row();
CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON public.order_item_ship_group
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_items_of_none();
CREATE OR REPLACE TRIGGER orderql_item_replicated
    AFTER INSERT OR UPDATE OF order_id, ship_group_seq_id, facility_id, shipment_method_type_id OR DELETE ON public.order_item_ship_group
    FOR EACH ROW EXECUTE FUNCTION orderql.note_row();
ALTER TABLE public.order_item_ship_group ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;

--- triggers public.order_header: orderql_keep orderql_keep_deleted orderql_keep_replicated orderql_item_inserted orderql_item_updated orderql_item_deleted orderql_item_truncated orderql_item_replicated
CREATE OR REPLACE TRIGGER orderql_keep AFTER UPDATE OF order_id, product_store_id ON public.order_header
    FOR EACH ROW WHEN ((OLD.order_id, OLD.product_store_id) IS DISTINCT FROM (NEW.order_id, NEW.product_store_id))
    EXECUTE FUNCTION orderql.keep_stores_of_order();
CREATE OR REPLACE TRIGGER orderql_keep_deleted AFTER DELETE ON public.order_header
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_stores_of_order();
CREATE OR REPLACE TRIGGER orderql_keep_replicated AFTER INSERT ON public.order_header
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_stores_of_order();
ALTER TABLE public.order_header
    ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_deleted, ENABLE REPLICA TRIGGER orderql_keep_replicated;
CREATE OR REPLACE TRIGGER orderql_item_inserted AFTER INSERT ON public.order_header REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.note_added();
CREATE OR REPLACE TRIGGER orderql_item_updated AFTER UPDATE OF order_id, order_type_id, status_id, product_store_id, order_date ON public.order_header
    FOR EACH ROW
    WHEN (
        (OLD.order_id, OLD.order_type_id, OLD.status_id, OLD.product_store_id, OLD.order_date)
        IS DISTINCT FROM (NEW.order_id, NEW.order_type_id, NEW.status_id, NEW.product_store_id, NEW.order_date)
    )
    EXECUTE FUNCTION orderql.note_row();
CREATE OR REPLACE TRIGGER orderql_item_deleted AFTER DELETE ON public.order_header FOR EACH ROW EXECUTE FUNCTION orderql.note_row();
CREATE OR REPLACE TRIGGER orderql_item_truncated AFTER TRUNCATE ON public.order_header
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_items_of_none();
CREATE OR REPLACE TRIGGER orderql_item_replicated
    AFTER INSERT OR UPDATE OF order_id, order_type_id, status_id, product_store_id, order_date OR DELETE ON public.order_header
    FOR EACH ROW EXECUTE FUNCTION orderql.note_row();
ALTER TABLE public.order_header ENABLE ALWAYS TRIGGER orderql_item_truncated, ENABLE REPLICA TRIGGER orderql_item_replicated;

--- triggers orderql.changed_item: orderql_item_kept
DROP TRIGGER IF EXISTS orderql_item_kept ON orderql.changed_item;
CREATE CONSTRAINT TRIGGER orderql_item_kept AFTER INSERT ON orderql.changed_item DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_noted_items();
ALTER TABLE orderql.changed_item ENABLE ALWAYS TRIGGER orderql_item_kept;
