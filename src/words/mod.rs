//! Texts and names as words, how alike two words are, and what else they may mean.

pub(crate) mod synonyms;

/// Words that say nothing about the subject of a question.
const STOP_WORDS: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "carry", "did", "do", "does", "ever", "for", "from",
    "find", "get", "give", "ha", "hers", "his", "had", "have", "how", "i", "if", "in", "is", "it", "may", "me", "much",
    "my", "no", "not", "of", "on", "one", "or", "our", "s", "same", "so", "than", "that", "the", "their", "them",
    "there", "they", "this", "to", "up", "wa", "was", "we", "were", "what", "when", "where", "which", "who", "whom",
    "why", "will", "with", "you", "your",
];

/// The words of a text or of a name in camelCase or `snake_case`: in lower case, without an ending of the plural, and without words that
/// mean nothing.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut after_lower_case = false;
    for c in text.chars().chain([' ']) {
        let begins = after_lower_case && c.is_uppercase();
        if (!c.is_alphanumeric() || begins) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        after_lower_case = c.is_lowercase() || c.is_numeric();
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    words.iter().map(|word| stem(word)).filter(|word| !STOP_WORDS.contains(&word.as_str())).collect()
}

/// Without an ending of the plural.
fn stem(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(rest) if rest.len() > 2 => format!("{rest}y"),
        _ => match word.strip_suffix("es") {
            Some(rest) if rest.ends_with("ss") || rest.ends_with('x') || rest.ends_with("us") => rest.to_owned(),
            _ if word.len() > 2 && !word.ends_with("ss") && !word.ends_with("us") => {
                word.strip_suffix('s').unwrap_or(word).to_owned()
            }
            _ => word.to_owned(),
        },
    }
}

/// Words that only begin alike have as many characters in common at least.
pub(crate) const SHORTEST_BEGINNING: usize = 4;

/// How alike two words are: 1 if they are the same, less if they begin alike, such as `ship` and `shipment`, and 0 otherwise.
pub(crate) fn likeness(one: &str, other: &str) -> f32 {
    if one == other {
        return 1.0;
    }
    let common = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    // Most words differ sooner, so that their lengths are not counted.
    let is_long = |word: &str| common * 5 >= word.chars().count() * 4;
    if common >= SHORTEST_BEGINNING && (is_long(one) || is_long(other)) { 0.6 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_names_have_the_same_words() {
        assert_eq!(words("Which orders were held, and by whom?"), ["order", "held"]);
        assert_eq!(
            words("shipGroups facility_id SKU statuses ADDRESSES"),
            ["ship", "group", "facility", "id", "sku", "status", "address"]
        );
        assert_eq!(words("facilities boxes notes"), ["facility", "box", "note"]);
        assert!(words("?! the").is_empty());
    }

    #[test]
    fn words_that_begin_alike_are_alike() {
        assert!(likeness("ship", "shipment") > 0.5 && likeness("return", "returned") > 0.5);
        assert!(likeness("order", "ordinal") == 0.0 && likeness("id", "idea") == 0.0);
        assert!(likeness("note", "note") > likeness("note", "noted"));
    }
}
