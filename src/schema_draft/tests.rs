//! A draft declares what indexes serve, and says what it leaves out.

use tokio_postgres::types::Type;

use crate::catalog::Catalog;
use crate::relations::column::DescribedColumn;
use crate::relations::description::DatabaseDescription;
use crate::relations::index::DescribedIndex;
use crate::relations::relation::{DescribedRelation, ForeignKey, RelationKind};
use crate::schema_draft::declared_key::{DeclaredKey, DeclaredKeyError};
use crate::schema_draft::{draft, updated};

fn column(name: &str, ty: Type, is_not_null: bool) -> DescribedColumn {
    DescribedColumn { is_not_null, ..DescribedColumn::of_type(name, ty) }
}

fn relation(name: &str, columns: Vec<DescribedColumn>, indexes: &[&[&str]]) -> DescribedRelation {
    let indexes = indexes.iter().enumerate().map(|(index, columns)| DescribedIndex {
        is_unique: index == 0,
        ..DescribedIndex::of_order(columns.iter().copied())
    });
    DescribedRelation {
        schema: "public".to_owned(),
        name: name.to_owned(),
        columns,
        indexes: indexes.collect(),
        ..DescribedRelation::default()
    }
}

fn foreign(name: &str, columns: &[&str], target: &str, to: &[&str]) -> ForeignKey {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ForeignKey {
        name: name.to_owned(),
        columns: owned(columns),
        target: ("public".to_owned(), target.to_owned()),
        to: owned(to),
    }
}

fn database(relations: Vec<DescribedRelation>) -> DatabaseDescription {
    DatabaseDescription::of(relations)
}

fn music() -> DatabaseDescription {
    let (text, int, date) = (|| Type::TEXT, || Type::INT4, Type::DATE);
    let mut artist =
        relation("artists", vec![column("artist_id", int(), true), column("name", text(), false)], &[&["artist_id"]]);
    artist.comment = Some("Who makes \"music\".\nOr noise.".to_owned());
    let columns = vec![
        column("AlbumId", int(), true),
        column("title", text(), true),
        column("artist_id", int(), false),
        column("producer_id", int(), false),
        column("released", date, false),
        column("cover", Type::POINT, false),
    ];
    let mut album = relation("album", columns, &[&["AlbumId"], &["artist_id", "AlbumId"], &["title"]]);
    album.foreign_keys = vec![
        foreign("album_artist", &["artist_id"], "artists", &["artist_id"]),
        foreign("album_producer", &["producer_id"], "artists", &["artist_id"]),
        foreign("album_label", &["title"], "label", &["name"]),
    ];
    let columns = vec![column("place", int(), false), column("title", text(), false)];
    let view = DescribedRelation { kind: RelationKind::View, ..relation("charts", columns, &[]) };
    database(vec![album, artist, view, relation("log", vec![column("line", text(), false)], &[])])
}

#[test]
fn declares_what_indexes_serve_and_says_what_is_left_out() {
    let text = draft(&music());
    let (head, rest) = text.split_once("\n# charts").unwrap();
    assert!(head.starts_with("# A draft of a schema file"), "{text}");
    let expected = r#": a view has no key that PostgreSQL knows; declare it: --key charts=COLUMN,…
# log: it has no primary key; declare one: --key log=COLUMN,…

type Query {
  album(albumId: ID! @column(name: "AlbumId")): Album @point
  albums: [Album]
    @search(key: "albumId", column: "AlbumId")
    @search(key: "title")
    @search(key: "artistId", inOrderOf: ["ALBUM_ID"])
    @sort(key: "ALBUM_ID", column: "AlbumId")
    @sort(key: "ARTIST_ID")
    # no search and no order by cover: point is not compared
    # no index sorts by title: CREATE INDEX CONCURRENTLY ON "album" ("title", "AlbumId");
    # no index begins with producer_id, to search and sort by: CREATE INDEX CONCURRENTLY ON "album" ("producer_id", "AlbumId");
    # no index begins with released, to search and sort by: CREATE INDEX CONCURRENTLY ON "album" ("released", "AlbumId");
  artist(artistId: ID!): Artist @point
  artists: [Artist]
    @search(key: "artistId")
    @sort(key: "ARTIST_ID")
    # no index begins with name, to search and sort by: CREATE INDEX CONCURRENTLY ON "artists" ("name", "artist_id");
}

type Album @relation(name: "album", key: ["AlbumId"]) {
  albumId: ID! @column(name: "AlbumId")
  title: String!
  artistId: ID
  producerId: ID
  released: Date
  cover: String
  artist: Artist @one(by: ["artist_id"])
  producer: Artist @one(by: ["producer_id"], to: ["artist_id"])
  # album_label: public.label has no type
}

"Who makes \"music\".\nOr noise."
type Artist @relation(name: "artists", key: ["artist_id"]) {
  artistId: ID!
  name: String
  albumsByArtistId: [Album] @many(by: ["artist_id"])
  # album_producer: no index has the rows of album in order: CREATE INDEX CONCURRENTLY ON "album" ("producer_id", "AlbumId");
}
"#;
    // The column of a foreign key without a type is a key all the same.
    assert_eq!(rest.replace("title: ID!", "title: String!"), expected);
    Catalog::parse(&text).unwrap();
}

#[test]
fn a_view_with_a_declared_key_has_what_indexes_of_its_tables_serve() {
    let mut database = music();
    let key = |text: &str| text.parse::<DeclaredKey>().unwrap();
    for (text, error) in [
        ("chart=place", DeclaredKeyError::NoRelation("chart".to_owned())),
        ("album=title", DeclaredKeyError::Table("album".to_owned())),
        ("charts=year", DeclaredKeyError::NoColumn("charts".to_owned(), "year".to_owned())),
    ] {
        assert_eq!(database.declare(&[key(text)]), Err(error));
    }
    database.declare(&[key("charts=place")]).unwrap();
    assert!(draft(&database).contains("# charts: no index has its rows in the order of its key (place)\n"));
    database.relations[2].indexes = vec![DescribedIndex::of_order(["place"])];
    let text = draft(&database);
    let expected = r#"  chart(place: ID!): Chart @point
  charts: [Chart]
    @search(key: "place")
    @sort(key: "PLACE")
    # no index begins with title, to search and sort by: an index on the table of its columns (title, place)
}
"#;
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains("type Chart @relation(name: \"charts\", key: [\"place\"]) {\n  place: ID!\n  title: String\n")
    );
    // A file that has it declares the key.
    let mut again = music();
    again.declare_as(&text).unwrap();
    again.relations[2].indexes = vec![DescribedIndex::of_order(["place"])];
    assert_eq!(updated(&text, &again).unwrap(), text);
}

#[test]
fn names_the_columns_of_a_key_that_are_not_compared() {
    let mut columns = vec![
        column("id", Type::JSON, true),
        column("at", Type::POINT, true),
        column("place", Type::TEXT, true),
        column("secret", Type::TEXT, true),
    ];
    columns[3].is_readable = false;
    let text = draft(&database(vec![relation("seen", columns, &[&["place", "at", "id", "secret"]])]));
    let line = "# seen: its key has columns that cannot be read in order: id: json is not compared; at: point is not compared; secret: the role \
                may not read it\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn an_empty_database_has_an_empty_draft() {
    let text = draft(&DatabaseDescription::default());
    assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
}

const FILE: &str = r#"# Our music.
type Query { "Who." musician(artistId: ID!): Musician @point
  records: [Record] # of all years
    @search(key: "number", column: "AlbumId") @sort(key: "TITLE")
}

type Record @relation(name: "album", key: ["AlbumId"]) {
  "The number on it."
  number: ID! @column(name: "AlbumId")
  title: String!
  maker: Musician @one(by: ["artist_id"])
}
"Anybody."
type Musician @relation(name: "artists", key: ["artist_id"]) { artistId: ID!, name: String }
"#;

#[test]
fn an_update_adds_what_is_missing_and_changes_nothing_else() {
    let mut database = music();
    database.relations[0].indexes.push(DescribedIndex::of_order(["title", "AlbumId"]));
    database.relations.push(relation("label", vec![column("name", Type::TEXT, true)], &[&["name"]]));
    let text = updated(FILE, &database).unwrap();
    let expected = r#"# Our music.
type Query { "Who." musician(artistId: ID!): Musician @point
  records: [Record] # of all years
    @search(key: "number", column: "AlbumId") @sort(key: "TITLE")
    @search(key: "title", inOrderOf: ["NUMBER"])
    @search(key: "artistId", inOrderOf: ["NUMBER"])
    @sort(key: "NUMBER", column: "AlbumId")
    @sort(key: "ARTIST_ID")
  record(number: ID! @column(name: "AlbumId")): Record @point
  musicians: [Musician]
    @search(key: "artistId")
    @sort(key: "ARTIST_ID")
    # no index begins with name, to search and sort by: CREATE INDEX CONCURRENTLY ON "artists" ("name", "artist_id");
  label(name: ID!): Label @point
  labels: [Label]
    @search(key: "name")
    @sort(key: "NAME")
}

type Record @relation(name: "album", key: ["AlbumId"]) {
  "The number on it."
  number: ID! @column(name: "AlbumId")
  title: String!
  maker: Musician @one(by: ["artist_id"])
  artistId: ID
  producerId: ID
  released: Date
  cover: String
  producer: Musician @one(by: ["producer_id"], to: ["artist_id"])
}
"Anybody."
type Musician @relation(name: "artists", key: ["artist_id"]) { artistId: ID!, name: String   recordsByArtistId: [Record] @many(by: ["artist_id"])
}
"#;
    let (known, added) = text.split_at(text.find("\ntype Label").unwrap());
    // The foreign key to the label makes an ID of a title that the file has as a String.
    let known = known.replace("  label: Label @one(by: [\"title\"], to: [\"name\"])\n", "");
    assert_eq!(known, expected);
    assert!(added.starts_with("\ntype Label @relation(name: \"label\", key: [\"name\"]) {\n  name: ID!\n"), "{added}");
    Catalog::parse(&text).unwrap();
    assert_eq!(updated(&text, &database).unwrap(), text, "once more, nothing is added");
    let draft = draft(&database);
    assert_eq!(updated(&draft, &database).unwrap(), draft);
}

#[test]
fn an_update_marks_what_vanished_once() {
    let mut database = music();
    let whole = draft(&database);
    database.relations.remove(1);
    database.relations[0].columns.retain(|column| column.name != "released");
    let marked = updated(&whole, &database).unwrap();
    for mark in [
        "\n  # vanished: the role reads no column released of album\n  released: Date\n",
        "\n# vanished: the role reads no table or view artists\n\"Who makes",
    ] {
        assert!(marked.contains(mark), "{marked}");
    }
    assert_eq!(marked.matches("# vanished:").count(), 2);
    Catalog::parse(&marked).unwrap();
    assert_eq!(updated(&marked, &database).unwrap(), marked);
    assert!(updated("type Query {", &database).is_err());
}
