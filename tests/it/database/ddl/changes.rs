//! The tables, the schema file, the requests and the changes.

/// A change of the tables.
pub(super) struct Change {
    pub what: &'static str,
    pub ddl: &'static str,
    /// What brings back the tables of before.
    pub undo: &'static str,
}

impl Change {
    /// The changes of a file: each has a heading, its statements, and those that undo it.
    pub(super) fn read(file: &'static str) -> Vec<Self> {
        let change = |text: &'static str| {
            let (what, rest) = text.split_once('\n').unwrap();
            let (ddl, undo) = rest.split_once("# undo\n").unwrap();
            Self { what, ddl: ddl.trim(), undo: undo.trim() }
        };
        file.split("## ").skip(1).map(change).collect()
    }
}

pub(super) const TABLES: &str = "
    CREATE TYPE state AS ENUM ('NEW', 'OPEN', 'CLOSED', 'LOST');
    CREATE TABLE customer (customer_id integer PRIMARY KEY, name text NOT NULL, note text);
    CREATE TABLE ticket (
        ticket_id integer PRIMARY KEY,
        customer_id integer REFERENCES customer,
        state state,
        title text,
        code varchar(20),
        amount numeric(10, 2),
        weight integer,
        opened_at timestamptz,
        extra text
    );
    CREATE INDEX ticket_state ON ticket (state, ticket_id);
    CREATE INDEX ticket_title ON ticket (title, ticket_id);
    CREATE INDEX ticket_code ON ticket (code, ticket_id);
    CREATE INDEX ticket_amount ON ticket (amount, ticket_id);
    CREATE INDEX ticket_weight ON ticket (weight, ticket_id);
    CREATE INDEX ticket_opened_at ON ticket (opened_at, ticket_id);
    CREATE INDEX ticket_customer ON ticket (customer_id, ticket_id);
    CREATE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3;
    INSERT INTO customer SELECT n, 'customer ' || n, 'note ' || n FROM generate_series(1, 5) AS n;
    INSERT INTO ticket
        SELECT n, 1 + n % 5, (enum_range(NULL::state))[1 + n % 3], 'title ' || n % 7, 'c' || n % 4, n + 0.25, n % 6,
            '2026-01-01 00:00Z'::timestamptz + n * interval '1 day', 'extra ' || n
        FROM generate_series(1, 40) AS n;
";

pub(super) const SCHEMA: &str = r#"
type Query {
  ticket(ticketId: ID!): Ticket @point
  tickets: [Ticket]
    @sort(key: "TICKET_ID")
    @sort(key: "STATE")
    @sort(key: "TITLE")
    @search(key: "state")
    @search(key: "title")
    @search(key: "code")
    @search(key: "amount", compare: [EQUALS, RANGE])
    @search(key: "weight")
    @search(key: "openedAt", compare: [EQUALS, RANGE])
  customers: [Customer] @sort(key: "CUSTOMER_ID")
  openTickets: [OpenTicket] @sort(key: "TICKET_ID")
}

enum State { NEW OPEN CLOSED LOST }

type Customer @relation(name: "customer", key: ["customer_id"]) {
  customerId: ID!
  name: String!
  note: String
  tickets: [Ticket] @many(by: ["customer_id"])
}

type OpenTicket @relation(name: "open_ticket", key: ["ticket_id"]) {
  ticketId: ID!
  extra: String
}

type Ticket @relation(name: "ticket", key: ["ticket_id"]) {
  ticketId: ID!
  state: State
  title: String
  code: String
  amount: Decimal
  weight: Int
  openedAt: DateTime
  customer: Customer @one(by: ["customer_id"])
}
"#;

/// Each reads something that one of the changes is about.
pub(super) const QUERIES: [&str; 13] = [
    "{ ticket(ticketId: 7) { ticketId state title code amount weight openedAt customer { name note } } }",
    "{ tickets(first: 5) { edges { cursor node { ticketId title amount weight } } pageInfo { hasNextPage endCursor } } }",
    "{ tickets(first: 9, query: \"state:OPEN\") { edges { node { ticketId } } } }",
    "{ tickets(first: 40, sortKey: STATE) { edges { node { ticketId state } } } }",
    "{ tickets(first: 9, sortKey: TITLE, reverse: true) { edges { node { ticketId title } } } }",
    "{ tickets(first: 9, query: \"title:'title 3'\") { edges { node { ticketId title } } } }",
    "{ tickets(first: 9, query: \"code:c1,c3\") { edges { node { ticketId code } } } }",
    "{ tickets(first: 9, query: \"amount:>=40\") { edges { node { ticketId amount } } } }",
    "{ tickets(first: 9, query: \"weight:2\") { edges { node { ticketId weight } } } }",
    "{ tickets(first: 9, query: \"openedAt:>=2026-01-20 openedAt:<2026-01-25\") { edges { node { ticketId openedAt } } } }",
    "{ customers(first: 2) { edges { node { customerId name tickets(first: 2) { edges { node { ticketId state } } } } } } }",
    "{ openTickets(first: 3) { edges { node { ticketId extra } } } }",
    "{ customers(first: 3, reverse: true) { edges { node { customerId } } } }",
];
