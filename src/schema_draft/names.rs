//! Names in GraphQL's style, each given once.

use std::collections::HashSet;
use std::fmt::Write as _;

use deunicode::deunicode_char;

/// Words that are their own plural, or whose last letter is no sign of one.
const UNCHANGED: [&str; 11] =
    ["series", "species", "news", "people", "children", "men", "women", "data", "media", "staff", "sms"];

/// A name in ASCII. What cannot be transliterated is written as numbers, so that names that differ stay different.
fn ascii(name: &str) -> String {
    let has_words = name.chars().any(char::is_alphanumeric);
    let mut written = String::with_capacity(name.len());
    for c in name.chars() {
        match deunicode_char(c) {
            _ if c.is_ascii() && has_words => written.push(c),
            Some(letters) if has_words => written.push_str(letters),
            None if has_words && !c.is_alphanumeric() => written.push(c),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(written, "u{:x}", u32::from(c));
            }
        }
    }
    written
}

/// The words of a name in snake case, camel case or with anything else between them, in lower case.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut word, mut before) = (Vec::new(), String::new(), ' ');
    let name = ascii(name);
    let mut letters = name.chars().peekable();
    while let Some(c) = letters.next() {
        let is_next_lower = letters.peek().is_some_and(char::is_ascii_lowercase);
        let is_begin = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || before.is_ascii_digit() || before.is_ascii_uppercase() && is_next_lower);
        if !c.is_ascii_alphanumeric() || is_begin {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
    first.to_ascii_uppercase() + rest
}

/// A name of a type: its words, each with a capital.
pub(super) fn pascal(name: &str) -> String {
    let name: String = words(name).iter().map(|word| capitalized(word)).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("T{name}") }
}

/// A name of a field: its words, all but the first with a capital.
pub(super) fn camel(name: &str) -> String {
    let words = words(name);
    let mut words = words.iter();
    let first = words.next().map_or("", String::as_str);
    let name = first.to_owned() + &words.map(|word| capitalized(word)).collect::<String>();
    match name.as_str() {
        "true" | "false" | "null" => format!("{name}Value"),
        _ if name.starts_with(|c: char| c.is_ascii_alphabetic()) => name,
        _ => format!("f{}", capitalized(&name)),
    }
}

/// A name of a sort key.
pub(super) fn upper(name: &str) -> String {
    let mut upper = String::new();
    for c in camel(name).chars() {
        if c.is_ascii_uppercase() {
            upper.push('_');
        }
        upper.push(c.to_ascii_uppercase());
    }
    upper
}

/// A name whose last word is singular.
pub(super) fn singular(name: &str) -> String {
    with_last_word(name, |word| {
        let is_plural = word.ends_with('s')
            && word.len() > 3
            && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
            && !UNCHANGED.contains(&word);
        if !is_plural {
            return word.to_owned();
        }
        let is_long = ["sses", "xes", "ches", "shes", "uses"].iter().any(|end| word.ends_with(end));
        match word.strip_suffix("ies") {
            Some(stem) if stem.len() > 1 => format!("{stem}y"),
            _ => word[..word.len() - if is_long { 2 } else { 1 }].to_owned(),
        }
    })
}

/// A name whose last word is plural.
pub(super) fn plural(name: &str) -> String {
    with_last_word(name, |word| {
        let before_y = word.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
        if UNCHANGED.contains(&word) {
            word.to_owned()
        } else if let Some(stem) = before_y {
            format!("{stem}ies")
        } else if ["s", "x", "ch", "sh"].iter().any(|end| word.ends_with(end)) {
            format!("{word}es")
        } else {
            format!("{word}s")
        }
    })
}

fn with_last_word(name: &str, change: impl FnOnce(&str) -> String) -> String {
    let mut words = words(name);
    if let Some(last) = words.last_mut() {
        *last = change(last);
    }
    words.join("_")
}

/// The column's name without the words that say that it is a key: `artist` of `artist_id` and `ArtistId`.
pub(super) fn without_key(column: &str) -> Option<String> {
    let mut words = words(column);
    let last = words.pop()?;
    (matches!(last.as_str(), "id" | "key" | "fk" | "uuid" | "no" | "code") && !words.is_empty())
        .then(|| words.join("_"))
}

/// The names that are given already.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Gives a name, so that nobody else gets it.
    pub(super) fn reserve(&mut self, name: &str) {
        self.0.insert(name.to_owned());
    }

    /// Gives the first of these names that `is_free`, or else the last with a number.
    pub(super) fn give(&mut self, candidates: &[String], parts: impl Fn(&str) -> Vec<String>) -> String {
        let numbered = (2_u32..).filter_map(|number| Some(format!("{}{number}", candidates.last()?)));
        let mut all = candidates.iter().cloned().chain(numbered);
        let free = all.find(|name| parts(name).iter().all(|part| !self.0.contains(part))).unwrap_or_default();
        self.0.extend(parts(&free));
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_style_of_graphql() {
        for (name, type_name, field, sort_key) in [
            ("order_items", "OrderItems", "orderItems", "ORDER_ITEMS"),
            ("ArtistId", "ArtistId", "artistId", "ARTIST_ID"),
            ("HTTPStatus", "HttpStatus", "httpStatus", "HTTP_STATUS"),
            ("Weird Table-2", "WeirdTable2", "weirdTable2", "WEIRD_TABLE2"),
            ("2fa", "T2fa", "f2fa", "F2FA"),
            ("true", "True", "trueValue", "TRUE_VALUE"),
            ("__x", "X", "x", "X"),
            ("Straße", "Strasse", "strasse", "STRASSE"),
            ("ÄId", "AId", "aId", "A_ID"),
            ("İşlem", "Islem", "islem", "ISLEM"),
            ("GRÖSSE", "Grosse", "grosse", "GROSSE"),
            ("cafe\u{301}_id", "CafeId", "cafeId", "CAFE_ID"),
            ("ЗаказыКлиента", "ZakazyKlienta", "zakazyKlienta", "ZAKAZY_KLIENTA"),
            ("Ψυχή", "Psukhe", "psukhe", "PSUKHE"),
            ("日本", "RiBen", "riBen", "RI_BEN"),
            ("注文 id", "ZhuWenId", "zhuWenId", "ZHU_WEN_ID"),
            (" ", "U20", "u20", "U20"),
            ("§$", "Ua7u24", "ua7u24", "UA7U24"),
        ] {
            assert_eq!([pascal(name), camel(name), upper(name)], [type_name, field, sort_key], "{name}");
        }
    }

    #[test]
    fn the_last_word_is_singular_or_plural() {
        for (one, many) in [
            ("artist", "artists"),
            ("order_item", "order_items"),
            ("category", "categories"),
            ("address", "addresses"),
            ("box", "boxes"),
            ("status", "statuses"),
            ("day", "days"),
            ("movie_series", "movie_series"),
        ] {
            assert_eq!((plural(one), singular(many)), (many.to_owned(), one.to_owned()));
        }
        assert_eq!(singular("bus"), "bus");
        assert_eq!(without_key("BillToPartyId").as_deref(), Some("bill_to_party"));
        assert_eq!(without_key("id"), None);
    }

    #[test]
    fn gives_each_name_once() {
        let mut names = Names::default();
        let mut give = |all: &[&str]| {
            let all: Vec<_> = all.iter().map(|name| (*name).to_owned()).collect();
            names.give(&all, |name| vec![name.to_owned(), format!("{name}Edge")])
        };
        assert_eq!(give(&["Order"]), "Order");
        assert_eq!(give(&["OrderEdge", "Other"]), "Other");
        assert_eq!([give(&["Order"]), give(&["Order"])], ["Order2", "Order3"]);
    }
}
