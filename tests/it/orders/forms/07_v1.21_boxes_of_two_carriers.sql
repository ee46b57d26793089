UPDATE shipment_route_segment SET carrier_party_id = 'FEDEX' WHERE shipment_id = 'SHIP_INPUT';
