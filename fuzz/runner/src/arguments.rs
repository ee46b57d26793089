//! The command line.

use std::path::PathBuf;

use crate::target::Target;

pub const USAGE: &str = "\
usage: ./dev fuzz [TARGET | all] [SECONDS] [options]   look for inputs that break a promise, each target for so long (60)
       ./dev fuzz TARGET INPUT                         run one input
       ./dev fuzz [TARGET | all] --keep                add what was found to the committed corpora, minimise and pack them
       ./dev fuzz [TARGET | all] --pack                pack the unpacked corpora, with what was added or removed by hand
       ./dev fuzz [TARGET | all] --coverage            the lines that the corpora reach, by module
       ./dev fuzz --steps                              count steps: they grow with the input's length at most
       ./dev fuzz --selftest                           plant faults, and see that each is found

       --schema FILE         check documents against this schema file (the targets of documents)
       --oracles             compare with apollo-compiler and PostgreSQL's parser, which take minutes to build
       --sanitizer address   also look for errors of memory in dependencies, at half the speed";

/// What to do with which targets.
pub struct Arguments {
    pub targets: Vec<&'static Target>,
    pub task: Task,
    pub schema: Option<PathBuf>,
    pub sanitizer: Option<String>,
    pub oracles: bool,
}

pub enum Task {
    Fuzz { seconds: u64 },
    Replay { input: PathBuf },
    Keep,
    Pack,
    Coverage,
    Steps,
}

impl Arguments {
    /// `None` if they make no sense.
    pub fn parse(words: impl Iterator<Item = String>) -> Option<Self> {
        let (mut targets, mut task, mut schema, mut sanitizer, mut oracles) = (None, None, None, None, false);
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--schema" => schema = Some(std::path::absolute(words.next()?).ok()?),
                "--sanitizer" => sanitizer = Some(words.next()?),
                "--oracles" => oracles = true,
                "--keep" => task = Some(Task::Keep),
                "--pack" => task = Some(Task::Pack),
                "--coverage" => task = Some(Task::Coverage),
                "--steps" => task = Some(Task::Steps),
                _ if word.starts_with('-') => return None,
                "all" => targets = Some(Target::ALL.iter().collect()),
                word if targets.is_none() => targets = Some(vec![Target::named(word)?]),
                word => {
                    task = Some(match word.parse() {
                        Ok(seconds) => Task::Fuzz { seconds },
                        Err(_) => Task::Replay { input: std::path::absolute(word).ok()? },
                    });
                }
            }
        }
        let targets = targets.unwrap_or_else(|| Target::ALL.iter().collect());
        Some(Self { targets, task: task.unwrap_or(Task::Fuzz { seconds: 60 }), schema, sanitizer, oracles })
    }
}
