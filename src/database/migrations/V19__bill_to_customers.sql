-- The persons an order is billed to. Which of several is the one, the schema decides: the first by party id. Ruled out here
-- as well, every order that is read would be searched twice. An order billed to a company has none.
CREATE OR REPLACE VIEW orderql.bill_to_customer AS
SELECT role.order_id, role.party_id, person.first_name, person.last_name
FROM order_role AS role
JOIN person ON person.party_id = role.party_id
WHERE role.role_type_id = 'BILL_TO_CUSTOMER';
