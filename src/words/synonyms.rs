//! Other meanings of a word: the words of order management beside the words of schemas.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::words::words;

const LIST: &str = include_str!("synonyms.txt");

/// The words that phrases of one word or two may mean, by their words.
static SYNONYMS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut synonyms: HashMap<String, Vec<String>> = HashMap::new();
    for line in LIST.lines().filter(|line| !line.starts_with('#')) {
        let Some((phrases, meanings)) = line.split_once(':') else { continue };
        for phrase in phrases.split(',') {
            let known = synonyms.entry(words(phrase).join(" ")).or_default();
            for meaning in words(meanings) {
                if !known.contains(&meaning) {
                    known.push(meaning);
                }
            }
        }
    }
    synonyms
});

/// Other meanings of the word at an index, alone or with the word after it, the likeliest first.
pub(crate) fn meanings(words: &[String], index: usize) -> impl Iterator<Item = &'static str> {
    let pair = |first: usize| words.get(first..first + 2).and_then(|pair| SYNONYMS.get(&pair.join(" ")));
    let alone = words.get(index).and_then(|word| SYNONYMS.get(word));
    let before = index.checked_sub(1).and_then(pair);
    [pair(index), before, alone].into_iter().flatten().flatten().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_trade_mean_words_of_schemas() {
        let of = |text: &str, index| meanings(&words(text), index).collect::<Vec<_>>();
        assert_eq!(of("RMAs", 0), ["return"]);
        assert_eq!(of("a bar code", 0), ["identification", "product", "good"]);
        assert_eq!(of("a bar code", 1), ["identification", "product", "good"]);
        assert!(of("bar", 0).is_empty() && of("", 0).is_empty());
    }

    #[test]
    fn every_line_has_phrases_of_one_word_or_two() {
        for line in LIST.lines().filter(|line| !line.starts_with('#')) {
            let (phrases, meanings) = line.split_once(": ").unwrap();
            assert!(!words(meanings).is_empty(), "{line}");
            for phrase in phrases.split(',') {
                assert!((1..=2).contains(&words(phrase).len()), "{phrase}: {:?}", words(phrase));
            }
        }
    }
}
