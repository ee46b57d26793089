//! What nobody sees of a row: paths of a server's disk, and whole numbers of gift cards.

use serde_json::{Value, json};

use crate::support::database::migrated_database;
use crate::support::server::Server;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// A type of data resource, what it has as its place, and whether that is an address of the image.
const RESOURCES: &[(Option<&str>, &str, bool)] = &[
    (Some("URL_RESOURCE"), "https://cdn.example.com/a.png", true),
    (Some("URL_RESOURCE"), "HTTP://cdn.example.com/a.png", true),
    (Some("URL_RESOURCE"), "//cdn.example.com/a.png", true),
    (Some("URL_RESOURCE"), "/images/a.png", true),
    (Some("URL_RESOURCE"), "file:///srv/ofbiz/a.png", false),
    (Some("URL_RESOURCE"), "component://content/a.png", false),
    (Some("LINK"), "/images/a.png", true),
    // So OFBiz's own services write the address of an uploaded image.
    (Some("SHORT_TEXT"), "/images/a.png", true),
    (Some("SHORT_TEXT"), "C:\\ofbiz\\a.png", false),
    (Some("LOCAL_FILE"), "/srv/ofbiz/a.png", false),
    (Some("LOCAL_FILE_BIN"), "/srv/ofbiz/a.png", false),
    (Some("OFBIZ_FILE"), "themes/a.png", false),
    (Some("OFBIZ_FILE_BIN"), "https://cdn.example.com/a.png", false),
    (Some("CONTEXT_FILE"), "/images/a.png", false),
    (Some("CONTEXT_FILE_BIN"), "/images/a.png", false),
    (Some("IMAGE_OBJECT"), "/srv/a.png", false),
    (Some("ELECTRONIC_TEXT"), "/srv/a.png", false),
    (None, "https://cdn.example.com/a.png", true),
    (None, "/srv/ofbiz/a.png", false),
];

/// Numbers of gift cards, and what is shown of them.
const CARDS: &[(Option<&str>, Option<&str>)] = &[
    (Some("6011000012347890"), Some("7890")),
    (Some("6011 0000 1234 7890"), Some("7890")),
    (Some("601100001234"), Some("1234")),
    (Some("60110000123"), None),
    (Some("12345678"), None),
    (Some("1234"), None),
    (Some("1"), None),
    (Some(""), None),
    (Some("1 2 3 4 - - - - - -"), None),
    (Some("{PBE}kdj33kd93kd9=="), None),
    (None, None),
];

#[tokio::test(flavor = "multi_thread")]
async fn no_path_of_a_servers_disk_is_the_address_of_an_image() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
    client
        .batch_execute("SET session_replication_role = replica; INSERT INTO product (product_id) VALUES ('P')")
        .await
        .unwrap();
    for (number, (ty, place, _)) in RESOURCES.iter().enumerate() {
        let id = format!("C{number:02}");
        let resource =
            "INSERT INTO data_resource (data_resource_id, data_resource_type_id, object_info) VALUES ($1, $2, $3)";
        client.execute(resource, &[&id, ty, place]).await.unwrap();
        client.execute("INSERT INTO content (content_id, data_resource_id) VALUES ($1, $1)", &[&id]).await.unwrap();
        let link = "INSERT INTO product_content (product_id, content_id, product_content_type_id, from_date)
                    VALUES ('P', $1, 'LARGE_IMAGE_URL', '2020-01-01')";
        client.execute(link, &[&id]).await.unwrap();
    }
    let server = Server::start(&database, &[]);
    let query = "{ product(productId: \"P\") { images(first: 50) { edges { node { contentId url } } } } }";
    let response = server.query(&server.token("demo"), query).json();
    let edges =
        response["data"]["product"]["images"]["edges"].as_array().unwrap_or_else(|| panic!("{response}")).clone();
    assert_eq!(edges.len(), RESOURCES.len());
    for (edge, (ty, place, is_address)) in edges.iter().zip(RESOURCES) {
        let expected = if *is_address { json!(place) } else { Value::Null };
        assert_eq!(edge["node"]["url"], expected, "{ty:?} {place}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_most_of_a_gift_cards_number_is_never_shown() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
    client
        .batch_execute("SET session_replication_role = replica; INSERT INTO order_header (order_id) VALUES ('O')")
        .await
        .unwrap();
    for (number, (card, _)) in CARDS.iter().enumerate() {
        let id = format!("G{number:02}");
        let row = "INSERT INTO gift_card (payment_method_id, card_number) VALUES ($1, $2)";
        client.execute(row, &[&id, card]).await.unwrap();
        let preference =
            "INSERT INTO order_payment_preference (order_payment_preference_id, order_id, payment_method_id)
                          VALUES ($1, 'O', $1)";
        client.execute(preference, &[&id]).await.unwrap();
    }
    let server = Server::start(&database, &[]);
    let query =
        "{ order(orderId: \"O\") { paymentPreferences(first: 50) { edges { node { giftCard { lastDigits } } } } } }";
    let response = server.query(&server.token("demo"), query).json();
    let edges = response["data"]["order"]["paymentPreferences"]["edges"].as_array();
    let edges = edges.unwrap_or_else(|| panic!("{response}"));
    let shown: Vec<_> = edges.iter().map(|edge| edge["node"]["giftCard"]["lastDigits"].as_str()).collect();
    assert_eq!(shown, CARDS.iter().map(|(_, shown)| *shown).collect::<Vec<_>>());
}
