//! A few orders with their shipments and stock: what a model of the update and the database both hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};

use rust_decimal::Decimal;

use crate::support::random::Random;

pub const FACILITY: &str = "FORMS";

/// Orders and stock whose ids all begin with the world's name.
#[derive(Debug, Clone)]
pub struct World {
    pub name: String,
    pub orders: BTreeMap<String, Order>,
    pub shipments: BTreeMap<String, Shipment>,
    pub stock: BTreeMap<String, Stock>,
    /// The inventory item of each product that its facility names.
    pub current: BTreeMap<String, Option<String>>,
    /// The last count of each product.
    pub counts: BTreeMap<String, Decimal>,
    /// Rows that are only ever added.
    pub history: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Order {
    pub status: &'static str,
    pub groups: BTreeMap<String, Group>,
    pub lines: BTreeMap<String, Line>,
}

#[derive(Debug, Clone)]
pub struct Group {
    pub facility: String,
    pub method: &'static str,
    pub may_split: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub struct Line {
    pub status: Option<&'static str>,
    pub product: String,
    pub quantity: Decimal,
    pub group: String,
    /// Whether it is in another ship group as well.
    pub is_spread: bool,
    /// The inventory item that its quantity is reserved of.
    pub reserved: Option<String>,
    pub picking: &'static str,
    /// The ship group of its adjustment.
    pub adjusted: String,
}

#[derive(Debug, Clone)]
pub struct Shipment {
    pub order: String,
    pub status: &'static str,
    pub facility: String,
    pub group: Option<String>,
    pub items: BTreeMap<u32, Item>,
    pub packages: BTreeMap<u32, Package>,
    pub is_labelled: bool,
    /// The statuses that it has had, with the user who set the status last.
    pub statuses: BTreeMap<&'static str, &'static str>,
}

#[derive(Debug, Clone)]
pub struct Item {
    pub product: String,
    /// The quantity of each line.
    pub lines: BTreeMap<String, Decimal>,
    pub is_issued: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Package {
    pub box_type: Option<String>,
    pub contents: BTreeMap<u32, Decimal>,
}

#[derive(Debug, Clone)]
pub struct Stock {
    pub product: String,
    pub available: Decimal,
    pub on_hand: Decimal,
}

pub fn seq_id(number: impl Display) -> String {
    format!("{number:0>5}")
}

/// A literal of SQL.
fn literal(value: Option<&str>) -> String {
    value.map_or_else(|| "NULL".to_owned(), |value| format!("'{value}'"))
}

impl World {
    /// A random world. Its orders are mostly in progress, and now and then they are not.
    pub fn random(name: &str, random: &mut Random) -> Self {
        let mut world = Self {
            name: name.to_owned(),
            orders: BTreeMap::new(),
            shipments: BTreeMap::new(),
            stock: BTreeMap::new(),
            current: BTreeMap::new(),
            counts: BTreeMap::new(),
            history: Vec::new(),
        };
        for product in 0..3 {
            let product = format!("{name}P{product}");
            let items: Vec<_> = (0..=random.below(2)).map(|item| format!("{product}I{item}")).collect();
            for item in &items {
                let quantity = Decimal::from(20 + random.below(20));
                let stock = Stock { product: product.clone(), available: quantity, on_hand: quantity };
                world.stock.insert(item.clone(), stock);
            }
            let current = random.chance(60).then(|| random.pick(&items).clone());
            world.current.insert(product, current);
        }
        for order in 0..2 {
            world.add_order(format!("{name}O{order}"), random);
        }
        for product in world.current.keys() {
            let available = world.stock.values().filter(|stock| stock.product == *product).map(|stock| stock.available);
            world.counts.insert(product.clone(), available.sum());
        }
        world
    }

    fn add_order(&mut self, id: String, random: &mut Random) {
        let rarely = |random: &mut Random, usual: &'static str, others: &[&'static str]| {
            if random.chance(93) { usual } else { *random.pick(others) }
        };
        let status = rarely(
            random,
            "ORDER_APPROVED",
            &["ORDER_SENT", "ORDER_COMPLETED", "ORDER_CANCELLED", "ORDER_REJECTED", "ORDER_EXPIRED", "ORDER_HOLD"],
        );
        let groups: BTreeMap<String, Group> = (1..=1 + random.below(2))
            .map(|group| {
                let method = *random.pick(&["STANDARD", "STANDARD", "NEXT_DAY", "STOREPICKUP"]);
                let may_split = *random.pick(&[Some("Y"), Some("Y"), Some("Y"), None, Some("N")]);
                (seq_id(group), Group { facility: FACILITY.to_owned(), method, may_split })
            })
            .collect();
        let group_ids: Vec<String> = groups.keys().cloned().collect();
        let mut lines = BTreeMap::new();
        let first_shipment = self.shipments.len();
        for shipment in 0..3 {
            let group = &group_ids[shipment % group_ids.len()];
            let usual = *random.pick(&["SHIPMENT_INPUT", "SHIPMENT_APPROVED"]);
            let status = rarely(
                random,
                usual,
                &["SHIPMENT_PACKED", "SHIPMENT_SHIPPED", "SHIPMENT_CANCELLED", "SHIPMENT_PICKED"],
            );
            let facility = if random.chance(96) { FACILITY } else { "ELSEWHERE" };
            let packages = (1..=u32::try_from(random.below(3)).unwrap()).map(|package| {
                let box_type = Some((*random.pick(&["YOURPACKNG", "YOURPACKNG", "BOPISPACKNG"])).to_owned());
                (package, Package { box_type, contents: BTreeMap::new() })
            });
            let packages = packages.collect();
            let shipment = Shipment {
                order: id.clone(),
                status,
                facility: facility.to_owned(),
                group: random.chance(80).then(|| group.clone()),
                items: BTreeMap::new(),
                packages,
                is_labelled: true,
                statuses: BTreeMap::from([(status, "")]),
            };
            self.shipments.insert(format!("{}S{}", self.name, self.shipments.len()), shipment);
        }
        let names: Vec<String> =
            (first_shipment..first_shipment + 3).map(|number| format!("{}S{number}", self.name)).collect();
        for line in 1..=3 + random.below(4) {
            let shipment = random.below(3);
            let seq_id = seq_id(line);
            self.add_line(&seq_id, &names[shipment], random, &mut lines, &group_ids[shipment % group_ids.len()]);
            // A part of the line is in another shipment of the ship group.
            if random.chance(8) && group_ids.len() == 1 {
                self.split_line(&seq_id, &names[shipment], &names[(shipment + 1) % 3]);
            }
        }
        if random.chance(10) {
            // An item that is for no line.
            let product = self.current.keys().next().unwrap().clone();
            let item = Item { product, lines: BTreeMap::new(), is_issued: false };
            self.shipments.get_mut(&names[0]).unwrap().items.insert(9, item);
        }
        self.orders.insert(id, Order { status, groups, lines });
    }

    fn add_line(
        &mut self,
        seq_id: &str,
        shipment: &str,
        random: &mut Random,
        lines: &mut BTreeMap<String, Line>,
        group: &str,
    ) {
        let products: Vec<String> = self.current.keys().cloned().collect();
        let shipment = self.shipments.get_mut(shipment).unwrap();
        // Now and then an item is for two lines.
        let shared = shipment.items.values_mut().last().filter(|_| random.chance(10));
        let product = shared.as_ref().map_or_else(|| random.pick(&products).clone(), |item| item.product.clone());
        let quantity = Decimal::from(1 + random.below(12)) / Decimal::from(*random.pick(&[1, 1, 1, 4]));
        let reserved = random.chance(85).then(|| {
            let of_product: Vec<_> = self.stock.iter_mut().filter(|(_, stock)| stock.product == product).collect();
            let index = random.below(of_product.len());
            let (id, stock) = of_product.into_iter().nth(index).unwrap();
            stock.available -= quantity;
            id.clone()
        });
        let status = if random.chance(94) {
            Some("ITEM_APPROVED")
        } else {
            *random.pick(&[Some("ITEM_CANCELLED"), Some("ITEM_COMPLETED"), Some("ITEM_CREATED"), None])
        };
        let line = Line {
            status,
            product: product.clone(),
            quantity,
            group: group.to_owned(),
            is_spread: random.chance(2),
            reserved,
            picking: "PICKITEM_PENDING",
            adjusted: group.to_owned(),
        };
        lines.insert(seq_id.to_owned(), line);
        if let Some(item) = shared {
            item.lines.insert(seq_id.to_owned(), quantity);
        } else {
            let number = shipment.items.keys().max().unwrap_or(&0) + 1;
            let lines = BTreeMap::from([(seq_id.to_owned(), quantity)]);
            shipment.items.insert(number, Item { product, lines, is_issued: random.chance(2) });
        }
        shipment.pack_all(random);
    }

    /// Puts half of a line into another shipment.
    fn split_line(&mut self, line: &str, from: &str, to: &str) {
        let shipment = self.shipments.get_mut(from).unwrap();
        let item = shipment.items.values_mut().find(|item| item.lines.contains_key(line)).unwrap();
        let half = item.lines[line] / Decimal::from(2);
        item.lines.insert(line.to_owned(), half);
        let product = item.product.clone();
        shipment.repack();
        let shipment = self.shipments.get_mut(to).unwrap();
        let number = shipment.items.keys().max().unwrap_or(&0) + 1;
        let lines = BTreeMap::from([(line.to_owned(), half)]);
        shipment.items.insert(number, Item { product, lines, is_issued: false });
    }

    /// The statements that insert the world.
    pub fn insert(&self) -> String {
        // Foreign keys are not checked: the statuses are not those of the migrations alone.
        let mut sql = String::from("SET session_replication_role = replica; ");
        self.insert_stock(&mut sql);
        self.insert_orders(&mut sql);
        self.insert_shipments(&mut sql);
        sql + "RESET session_replication_role; " + &self.refresh_items()
    }

    /// The statement that triggers would have run: they do not fire as long as foreign keys are not checked.
    fn refresh_items(&self) -> String {
        let orders: Vec<String> = self.orders.keys().map(|order| format!("'{order}'")).collect();
        format!("SELECT orderql.refresh_items_of_orders(ARRAY[{}])", orders.join(", "))
    }

    fn insert_stock(&self, sql: &mut String) {
        for product in self.current.keys() {
            let _ = write!(sql, "INSERT INTO product (product_id) VALUES ('{product}'); ");
        }
        for (id, Stock { product, available, on_hand }) in &self.stock {
            let _ = write!(
                sql,
                "INSERT INTO inventory_item (inventory_item_id, product_id, facility_id, available_to_promise_total, \
                quantity_on_hand_total) VALUES ('{id}', '{product}', '{FACILITY}', {available}, {on_hand}); \
                INSERT INTO inventory_item_detail (inventory_item_id, inventory_item_detail_seq_id, available_to_promise_diff, \
                quantity_on_hand_diff) VALUES ('{id}', '00001', {available}, {on_hand}); "
            );
        }
        for (product, current) in &self.current {
            let (count, current) = (self.counts[product], literal(current.as_deref()));
            let _ = write!(
                sql,
                "INSERT INTO product_facility (product_id, facility_id, inventory_item_id, last_inventory_count) \
                VALUES ('{product}', '{FACILITY}', {current}, {count}); "
            );
        }
    }

    fn insert_orders(&self, sql: &mut String) {
        for (order, Order { status, groups, lines }) in &self.orders {
            let _ = write!(
                sql,
                "INSERT INTO order_header (order_id, status_id) VALUES ('{order}', '{status}'); \
                INSERT INTO picklist_bin (picklist_bin_id) VALUES ('{order}'); "
            );
            for (group, Group { facility, method, may_split }) in groups {
                let may_split = literal(*may_split);
                let _ = write!(
                    sql,
                    "INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id, \
                    shipment_method_type_id, may_split, tracking_number) \
                    VALUES ('{order}', '{group}', '{facility}', '{method}', {may_split}, '1Z'); "
                );
            }
            for (seq_id, line) in lines {
                let Line { status, product, quantity, group, is_spread, reserved, picking, .. } = line;
                let status = literal(*status);
                let _ = write!(
                    sql,
                    "INSERT INTO order_item (order_id, order_item_seq_id, product_id, quantity, status_id, \
                    ship_group_seq_id) VALUES ('{order}', '{seq_id}', '{product}', {quantity}, {status}, '{group}'); \
                    INSERT INTO order_item_ship_group_assoc (order_id, order_item_seq_id, ship_group_seq_id, quantity) \
                    VALUES ('{order}', '{seq_id}', '{group}', {quantity}); \
                    INSERT INTO order_adjustment (order_adjustment_id, order_id, order_item_seq_id, ship_group_seq_id) \
                    VALUES ('{order}A{seq_id}', '{order}', '{seq_id}', '{group}'); \
                    INSERT INTO picklist_item (picklist_bin_id, order_id, order_item_seq_id, ship_group_seq_id, \
                    inventory_item_id, item_status_id) SELECT '{order}', '{order}', '{seq_id}', '{group}', \
                    min(inventory_item_id), '{picking}' FROM inventory_item WHERE product_id = '{product}'; "
                );
                if *is_spread {
                    let _ = write!(
                        sql,
                        "INSERT INTO order_item_ship_group (order_id, ship_group_seq_id) \
                        VALUES ('{order}', 'MORE') ON CONFLICT DO NOTHING; \
                        INSERT INTO order_item_ship_group_assoc (order_id, order_item_seq_id, ship_group_seq_id, quantity) \
                        VALUES ('{order}', '{seq_id}', 'MORE', 1); "
                    );
                }
                if let Some(item) = reserved {
                    let _ = write!(
                        sql,
                        "INSERT INTO order_item_ship_grp_inv_res (order_id, ship_group_seq_id, \
                        order_item_seq_id, inventory_item_id, quantity) \
                        VALUES ('{order}', '{group}', '{seq_id}', '{item}', {quantity}); "
                    );
                }
            }
        }
    }

    fn insert_shipments(&self, sql: &mut String) {
        for (id, shipment) in &self.shipments {
            let Shipment { order, status, facility, group, items, packages, .. } = shipment;
            let group = literal(group.as_deref());
            let _ = write!(
                sql,
                "INSERT INTO shipment (shipment_id, status_id, primary_order_id, primary_ship_group_seq_id, \
                origin_facility_id) VALUES ('{id}', '{status}', '{order}', {group}, '{facility}'); \
                INSERT INTO shipment_status (shipment_id, status_id) VALUES ('{id}', '{status}'); \
                INSERT INTO shipment_route_segment (shipment_id, shipment_route_segment_id, tracking_id_number, \
                carrier_service_status_id) VALUES ('{id}', '00001', '1Z', 'SHRSCS_ACCEPTED'); "
            );
            for (number, item) in items {
                let (seq_id, quantity) = (seq_id(*number), item.quantity());
                let product = &item.product;
                let _ = write!(
                    sql,
                    "INSERT INTO shipment_item (shipment_id, shipment_item_seq_id, product_id, quantity) \
                    VALUES ('{id}', '{seq_id}', '{product}', {quantity}); "
                );
                for (line, quantity) in &item.lines {
                    let group = &self.orders[order].lines[line].group;
                    let _ = write!(
                        sql,
                        "INSERT INTO order_shipment (order_id, order_item_seq_id, ship_group_seq_id, \
                        shipment_id, shipment_item_seq_id, quantity) \
                        VALUES ('{order}', '{line}', '{group}', '{id}', '{seq_id}', {quantity}); "
                    );
                }
                if item.is_issued {
                    let _ = write!(
                        sql,
                        "INSERT INTO item_issuance (item_issuance_id, shipment_id, shipment_item_seq_id) \
                        VALUES ('{id}-{number}', '{id}', '{seq_id}'); "
                    );
                }
            }
            for (package, Package { box_type, contents }) in packages {
                let (package, box_type) = (seq_id(*package), literal(box_type.as_deref()));
                let _ = write!(
                    sql,
                    "INSERT INTO shipment_package (shipment_id, shipment_package_seq_id, shipment_box_type_id) \
                    VALUES ('{id}', '{package}', {box_type}); \
                    INSERT INTO shipment_package_route_seg (shipment_id, shipment_package_seq_id, shipment_route_segment_id, \
                    tracking_code) VALUES ('{id}', '{package}', '00001', '1Z'); "
                );
                for (item, quantity) in contents {
                    let item = seq_id(*item);
                    let _ = write!(
                        sql,
                        "INSERT INTO shipment_package_content (shipment_id, shipment_package_seq_id, \
                        shipment_item_seq_id, quantity) VALUES ('{id}', '{package}', '{item}', {quantity}); "
                    );
                }
            }
        }
    }

    /// A line for each row of each table, as `tables.sql` selects them.
    pub fn rows(&self) -> BTreeSet<String> {
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let mut rows: BTreeSet<String> = self.history.iter().cloned().collect();
        for (id, stock) in &self.stock {
            rows.insert(format!("stock {id} {} {}", stock.available.normalize(), stock.on_hand.normalize()));
        }
        for (product, count) in &self.counts {
            rows.insert(format!("count {product} {}", count.normalize()));
        }
        for (order, Order { status, groups, lines }) in &self.orders {
            rows.insert(format!("order {order} {status}"));
            for (group, Group { facility, method, may_split }) in groups {
                rows.insert(format!("group {order} {group} {facility} {method} {}", text(*may_split)));
            }
            for (seq_id, line) in lines {
                let Line { status, quantity, group, reserved, picking, adjusted, .. } = line;
                let quantity = quantity.normalize();
                rows.insert(format!("line {order} {seq_id} {} {quantity} {group}", text(*status)));
                rows.insert(format!("assigned {order} {seq_id} {group} {quantity}"));
                rows.insert(format!("picking {order} {seq_id} {picking}"));
                rows.insert(format!("adjusted {order} {seq_id} {adjusted}"));
                if let Some(item) = reserved {
                    rows.insert(format!("reserved {order} {seq_id} {item} {quantity}"));
                }
            }
        }
        for (id, shipment) in &self.shipments {
            let Shipment { order, status, items, packages, is_labelled, statuses, .. } = shipment;
            rows.insert(format!("shipment {id} {order} {status}"));
            rows.extend(statuses.iter().map(|(status, user)| format!("status {id} {status} {user}")));
            let (tracking, service) = if *is_labelled { ("1Z", "SHRSCS_ACCEPTED") } else { ("", "SHRSCS_NOT_STARTED") };
            rows.insert(format!("segment {id} {tracking} {service}"));
            for (number, item) in items {
                let number = seq_id(*number);
                rows.insert(format!("item {id} {number} {} {}", item.product, item.quantity().normalize()));
                for (line, quantity) in &item.lines {
                    rows.insert(format!("link {id} {number} {order} {line} {}", quantity.normalize()));
                }
            }
            for (package, Package { box_type, contents }) in packages {
                let package = seq_id(*package);
                rows.insert(format!("package {id} {package} {}", text(box_type.as_deref())));
                for (item, quantity) in contents {
                    rows.insert(format!("content {id} {package} {} {}", seq_id(*item), quantity.normalize()));
                }
            }
        }
        rows
    }
}

impl Item {
    /// Of an item for no line, the quantity is one.
    pub fn quantity(&self) -> Decimal {
        if self.lines.is_empty() { Decimal::ONE } else { self.lines.values().sum() }
    }
}

impl Shipment {
    /// Puts the items that are in no package into one, if there is any.
    fn pack_all(&mut self, random: &mut Random) {
        let unpacked: Vec<u32> = self.items.keys().copied().filter(|item| !self.is_packed(*item)).collect();
        let packages: Vec<u32> = self.packages.keys().copied().collect();
        for item in unpacked {
            if !packages.is_empty() {
                let package = self.packages.get_mut(random.pick(&packages)).unwrap();
                package.contents.insert(item, Decimal::ZERO);
            }
        }
        self.repack();
    }

    fn is_packed(&self, item: u32) -> bool {
        self.packages.values().any(|package| package.contents.contains_key(&item))
    }

    /// Sets the contents to the items' quantities.
    fn repack(&mut self) {
        for package in self.packages.values_mut() {
            for (item, quantity) in &mut package.contents {
                *quantity = self.items[item].quantity();
            }
        }
    }
}
