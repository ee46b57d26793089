//! The questions of the documentation as prompts, each with a query that answers it.

use rmcp::model::{GetPromptResult, Prompt, PromptMessage, Role};

use crate::outline::examples::{Example, examples};

/// The prompts.
pub(super) fn list() -> Vec<Prompt> {
    examples().iter().map(|example| Prompt::new(name(example), Some(example.question), None)).collect()
}

/// The prompt with that name.
pub(super) fn get(wanted: &str) -> Option<GetPromptResult> {
    let Example { question, query, .. } = examples().iter().find(|example| name(example) == wanted)?;
    let text = format!(
        "{question}\n\nAnswer with the tool run_query. A query that answers this question; change the ids, dates and words in it to \
         those of my case:\n\n```graphql\n{query}\n```"
    );
    Some(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(*question))
}

fn name(example: &Example) -> String {
    format!("question-{}", example.number)
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
        for example in examples() {
            assert!(example.question.ends_with('?'), "{}", example.question);
            let request = Request { query: example.query.to_owned(), ..Request::default() };
            assert!(compile(&catalog, &request, &Limits::DEFAULT).is_ok(), "{}", example.number);
            assert!(get(&name(example)).is_some());
        }
        assert!(get("question-0").is_none());
    }
}
