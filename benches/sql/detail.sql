SELECT json_build_object('order', (
    SELECT json_build_object(
        'orderName', o.order_name,
        'statusId', o.status_id,
        'orderDate', o.order_date,
        'grandTotal', o.grand_total,
        'currencyUomId', o.currency_uom,
        'externalId', o.external_id,
        'orderItemCount', (
            SELECT count(DISTINCT item.external_id) FROM order_item AS item WHERE item.order_id = o.order_id
        ),
        'billToCustomer', (
            SELECT json_build_object('partyId', b.party_id, 'firstName', b.first_name, 'lastName', b.last_name)
            FROM orderql.bill_to_customer AS b
            WHERE b.order_id = o.order_id
            ORDER BY b.party_id
            LIMIT 1
        ),
        'shipGroups', json_build_object('edges', (
            SELECT coalesce(json_agg(json_build_object('node', json_build_object(
                'shipGroupSeqId', g.ship_group_seq_id,
                'facilityId', g.facility_id,
                'trackingNumber', g.tracking_number,
                'maySplit', g.may_split = 'Y',
                'isGift', g.is_gift = 'Y',
                'shipFromAddress', (
                    SELECT json_build_object(
                        'facilityId', a.facility_id,
                        'address1', a.address1,
                        'city', a.city,
                        'postalCode', a.postal_code,
                        'stateProvinceGeoId', a.state_province_geo_id
                    )
                    FROM orderql.facility_origin_address AS a
                    WHERE a.facility_id = g.facility_id
                    ORDER BY a.contact_mech_id
                    LIMIT 1
                ),
                'shippingMethod', (
                    SELECT json_build_object(
                        'shipmentMethodTypeId', m.shipment_method_type_id,
                        'description', m.description
                    )
                    FROM shipment_method_type AS m
                    WHERE m.shipment_method_type_id = g.shipment_method_type_id
                ),
                'orderItems', json_build_object('edges', (
                    SELECT coalesce(json_agg(json_build_object('node', json_build_object(
                        'orderItemSeqId', i.order_item_seq_id,
                        'productId', i.product_id,
                        'quantity', i.quantity,
                        'unitPrice', i.unit_price,
                        'statusId', i.status_id
                    ))), '[]')
                    FROM (
                        SELECT *
                        FROM order_item
                        WHERE order_item.order_id = g.order_id AND order_item.ship_group_seq_id = g.ship_group_seq_id
                        ORDER BY order_item_seq_id
                        LIMIT 10
                    ) AS i
                ))
            ))), '[]')
            FROM (
                SELECT *
                FROM orderql.ship_group
                WHERE ship_group.order_id = o.order_id
                ORDER BY ship_group_seq_id
                LIMIT 5
            ) AS g
        ))
    )
    FROM order_header AS o
    WHERE o.order_id = {order}
))
