//! Questions of people who run orders as prompts, each with a query that answers it: those of the documentation.

use rmcp::model::{GetPromptResult, Prompt, PromptMessage, Role};

const EXAMPLES: &str = include_str!("../../../docs/examples.md");

/// A question with a query that answers it.
struct Example<'a> {
    name: String,
    question: &'a str,
    query: &'a str,
}

/// The prompts.
pub(super) fn list() -> Vec<Prompt> {
    examples().map(|Example { name, question, .. }| Prompt::new(name, Some(question), None)).collect()
}

/// The prompt with that name.
pub(super) fn get(name: &str) -> Option<GetPromptResult> {
    let Example { question, query, .. } = examples().find(|example| example.name == name)?;
    let text = format!(
        "{question}\n\nAnswer with the tool run_query. A query that answers this question; change the ids, dates and words in it to \
         those of my case:\n\n```graphql\n{query}\n```"
    );
    Some(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(question))
}

/// The questions that a query answers.
fn examples() -> impl Iterator<Item = Example<'static>> {
    EXAMPLES.split("\n## ").skip(1).filter_map(|section| {
        let (number, rest) = section.split_once(". ")?;
        let (question, rest) = rest.split_once('\n')?;
        let query = rest.split_once("```graphql\n")?.1.split_once("\n```")?.0;
        Some(Example { name: format!("question-{number}"), question, query })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::compile::compile;
    use crate::limits::Limits;
    use crate::query::Request;

    #[test]
    fn every_prompt_has_a_question_and_a_valid_query() {
        let catalog = Catalog::built_in().unwrap();
        assert!(list().len() >= 59);
        for Example { name, question, query } in examples() {
            assert!(question.ends_with('?'), "{question}");
            let request = Request { query: query.to_owned(), ..Request::default() };
            assert!(compile(&catalog, &request, &Limits::DEFAULT).is_ok(), "{name}");
            assert!(get(&name).is_some());
        }
        assert!(get("question-0").is_none());
    }
}
