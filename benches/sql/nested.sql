SELECT json_build_object('orders', json_build_object('edges', (
    SELECT coalesce(json_agg(json_build_object('node', json_build_object(
        'orderId', o.order_id,
        'orderDate', o.order_date,
        'statusId', o.status_id,
        'orderItems', json_build_object('edges', (
            SELECT coalesce(json_agg(json_build_object('node', json_build_object(
                'orderItemSeqId', i.order_item_seq_id,
                'productId', i.product_id,
                'quantity', i.quantity,
                'unitPrice', i.unit_price
            ))), '[]')
            FROM (
                SELECT *
                FROM order_item
                WHERE order_item.order_id = o.order_id
                ORDER BY order_item_seq_id
                LIMIT 10
            ) AS i
        ))
    ))), '[]')
    FROM (
        SELECT *
        FROM order_header
        WHERE (order_date, order_id) < ({date}, {order})
        ORDER BY order_date DESC, order_id DESC
        LIMIT 20
    ) AS o
)))
