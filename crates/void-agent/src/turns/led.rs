//! Turns whose loop runs in the agent's own process. The process asks for the next step; the server asks the brain, keeps
//! the conversation, and runs every tool that is not a file of the process's sandbox. What the process says counts as the
//! answer to a file tool that the model asked for, and for nothing else: it names calls by their number, so it can
//! neither make one nor change its arguments.
//!
//! The pass of such a turn is shown beside the token of the process. It is bound to that process and the turn, is no
//! bearer token of its own, and ends with either.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;
use void_control::conversations::Begun;
use void_control::{StoreError, agent_turns};
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;
use void_domain::secrets::Secret;
use void_domain::taint::Taint;

use super::files::{self, FileCall, FileOutcome};
use super::leads::{Asks, Led, LedCall, NextStep, NotLed};
use super::loops::{Ended, Running};
use super::prompts;
use crate::brains::{Arguments, Block, Message, Prompt, ToolCall, ToolResult};
use crate::tools::{Outcome, ToolError};

/// A process that does not come for its turn by then does not come.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// So often a process may say what fits nothing.
const GARBLED_MAX: u32 = 3;

/// The calls of one answer of the model, until each has a result.
struct Round {
    blocks: Vec<Block>,
    calls: Vec<RoundCall>,
}

struct RoundCall {
    call: ToolCall,
    file: Option<FileCall>,
    result: Option<ToolResult>,
}

/// A turn between two questions of its process.
struct Course {
    prompt: Prompt,
    rounds: u32,
    open: Option<Round>,
}

impl Running {
    /// From the process's coming to the last word.
    pub(super) async fn led(&self, begun: &Begun, pass: Option<Secret>, mut led: Led) -> Ended {
        let taken = tokio::time::timeout(TAKEN_WITHIN, &mut led.taken).await;
        let Ok(Ok(mut end)) = taken else {
            return interrupted("its process did not come for this turn: void agents start NAME");
        };
        let prompt = match self.prompt(begun, pass).await {
            Ok(prompt) => prompt,
            Err(ended) => return ended,
        };
        let mut course = Course {
            prompt,
            rounds: 0,
            open: None,
        };
        let mut garbled = 0;
        loop {
            let asked = tokio::select! {
                biased;
                () = &mut end => None,
                asked = led.asked.recv() => asked,
            };
            let Some((asks, answered)) = asked else {
                return gone();
            };
            let led = tokio::select! {
                biased;
                () = &mut end => return gone(),
                led = self.lead(&mut course, asks) => led,
            };
            // Whoever asked may have gone: then its process ends the turn, or its time does.
            match led {
                Ok(next) => drop(answered.send(Ok(next))),
                Err(Halt::Unfit) => {
                    garbled += 1;
                    drop(answered.send(Err(NotLed::Unfit)));
                    if garbled >= GARBLED_MAX {
                        return interrupted("its process said what nobody understands");
                    }
                }
                Err(Halt::Ended(ended)) => {
                    drop(answered.send(Ok(NextStep::Over)));
                    return ended;
                }
            }
        }
    }

    async fn lead(&self, course: &mut Course, asks: Asks) -> Result<NextStep, Halt> {
        match asks {
            Asks::Call(number) => self.answer_for(course, number).await,
            Asks::Step(outcomes) => {
                self.close_round(course, outcomes).await?;
                self.next_round(course).await
            }
        }
    }

    /// The server's part of a round.
    async fn answer_for(&self, course: &mut Course, number: usize) -> Result<NextStep, Halt> {
        let open = course.open.as_mut().ok_or(Halt::Unfit)?;
        let asked = open.calls.get_mut(number);
        let asked = asked.filter(|asked| asked.file.is_none() && asked.result.is_none());
        let asked = asked.ok_or(Halt::Unfit)?;
        asked.result = Some(self.answer_call(asked.call.clone()).await);
        Ok(NextStep::Answered)
    }

    /// The process's part: what it says of its files, all of it at once, and nothing twice.
    async fn close_round(
        &self,
        course: &mut Course,
        outcomes: Vec<(usize, FileOutcome)>,
    ) -> Result<(), Halt> {
        let Some(open) = course.open.as_mut() else {
            return if outcomes.is_empty() {
                Ok(())
            } else {
                Err(Halt::Unfit)
            };
        };
        let mut told: HashMap<usize, FileOutcome> = HashMap::new();
        let count = outcomes.len();
        told.extend(outcomes);
        let awaited = open.calls.iter().enumerate();
        let mut awaited = awaited.filter(|(_, asked)| asked.result.is_none());
        let fits =
            awaited.all(|(number, asked)| asked.file.is_some() && told.contains_key(&number));
        let files = open
            .calls
            .iter()
            .filter(|asked| asked.file.is_some() && asked.result.is_none());
        if !fits || told.len() != count || count != files.count() {
            return Err(Halt::Unfit);
        }
        let mut read = Vec::with_capacity(count);
        for (number, asked) in open.calls.iter().enumerate() {
            let (Some(file), Some(outcome)) = (&asked.file, told.remove(&number)) else {
                continue;
            };
            let sources = self.read_in(file).await.map_err(Halt::failed)?;
            let outcome = file.told(outcome, !sources.is_empty());
            read.push((number, sources, outcome.ok_or(Halt::Unfit)?));
        }
        for (number, sources, outcome) in read {
            if let Some(asked) = open.calls.get_mut(number) {
                asked.result = Some(self.note_file(asked, sources, outcome).await);
            }
        }
        if let Some(round) = course.open.take() {
            let results = round.calls.into_iter().filter_map(|call| call.result);
            course.prompt.output_tokens_max = self.output_tokens_left();
            course
                .prompt
                .messages
                .push(Message::Assistant(round.blocks));
            course
                .prompt
                .messages
                .push(Message::ToolResults(results.collect()));
            self.paragraph();
        }
        Ok(())
    }

    async fn note_file(
        &self,
        asked: &RoundCall,
        sources: Vec<String>,
        outcome: Result<Outcome, ToolError>,
    ) -> ToolResult {
        let marked = match sources.is_empty() {
            true => Ok(()),
            false => self.taint_with(&sources).await,
        };
        let outcome = marked.and(outcome);
        let summary = match &asked.call.arguments {
            Arguments::Object(arguments) => prompts::summarise(arguments),
            Arguments::Malformed(_) => String::new(),
        };
        self.note_step(&asked.call.name, summary, &outcome, Duration::ZERO);
        to_result(asked.call.id.clone(), outcome)
    }

    /// The next answer of the model, and what is to be done for it.
    async fn next_round(&self, course: &mut Course) -> Result<NextStep, Halt> {
        let (reply, wanted) = self.next_calls(&course.prompt, &mut course.rounds).await?;
        let mut calls = Vec::with_capacity(wanted.len());
        for call in wanted {
            calls.push(self.begin_call(call).await);
        }
        let told = calls.iter().enumerate();
        let told = told.filter(|(_, asked)| asked.result.is_none());
        let told = told.map(|(number, asked)| LedCall {
            number,
            file: asked.file.clone(),
        });
        let next = NextStep::Calls(told.collect());
        course.open = Some(Round {
            blocks: reply.blocks,
            calls,
        });
        Ok(next)
    }

    /// A file that cannot be asked for is answered here.
    async fn begin_call(&self, call: ToolCall) -> RoundCall {
        let asked = match &call.arguments {
            Arguments::Object(arguments) if files::is_one(&call.name) => {
                let (begun, name) = (Instant::now(), call.name.clone());
                let summary = prompts::summarise(arguments);
                match self.begin_file(&call, arguments).await {
                    Ok(file) => Ok(Some(file)),
                    Err(error) => {
                        let outcome = Err(error);
                        self.note_step(&name, summary, &outcome, begun.elapsed());
                        Err(to_result(call.id.clone(), outcome))
                    }
                }
            }
            Arguments::Object(_) | Arguments::Malformed(_) => Ok(None),
        };
        let (file, result) = match asked {
            Ok(file) => (file, None),
            Err(result) => (None, Some(result)),
        };
        RoundCall { call, file, result }
    }

    /// Marks what the process could carry where before it gets the call: it could put what it is given into any folder
    /// that it reaches, and what it reads below into its own.
    async fn begin_file(
        &self,
        call: &ToolCall,
        arguments: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<FileCall, ToolError> {
        let own = &self.agent.persona.slug;
        let place = agent_turns::place(&self.control, own);
        let place = place.ok_or_else(|| {
            ToolError::new(
                FailureCode::Withdrawn,
                "this agent stands nowhere in the tree",
            )
        })?;
        let file = FileCall::read(&call.name, arguments, own, &place.files_of)?;
        if file.agent != *own {
            let read = Taint::from_sources(vec![files_of(&file.agent)]);
            agent_turns::mark_files(&self.control, vec![own.clone()], &read).await?;
        }
        if !file.reads() {
            let taint = self.taint();
            let reached = place.files_of.into_iter().chain([own.clone()]).collect();
            agent_turns::mark_files(&self.control, reached, &taint).await?;
        }
        Ok(file)
    }

    /// Where what a process says of this file could come from.
    async fn read_in(&self, file: &FileCall) -> Result<Vec<String>, StoreError> {
        if !file.reads() {
            return Ok(Vec::new());
        }
        let kept = agent_turns::file_taint(&self.control, &file.agent).await?;
        let mut sources = kept.sources().to_vec();
        if file.agent != self.agent.persona.slug {
            sources.push(files_of(&file.agent));
        }
        Ok(sources)
    }
}

/// Why a question of the process has no next step.
pub(super) enum Halt {
    /// It asked for nothing that there is.
    Unfit,
    Ended(Ended),
}

impl Halt {
    fn failed(error: StoreError) -> Self {
        Self::Ended(Ended::Failed(super::unavailable(&error)))
    }
}

impl From<Ended> for Halt {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

/// An agent below writes what it wants: to whoever stands above it, that is a stranger's text.
fn files_of(agent: &AgentName) -> String {
    format!("files of {}", agent.as_str())
}

fn to_result(call_id: String, outcome: Result<Outcome, ToolError>) -> ToolResult {
    let (content, is_error) = match outcome {
        Ok(outcome) => (outcome.value.into_value(), false),
        Err(error) => (error.to_value(), true),
    };
    ToolResult {
        call_id,
        content: prompts::bounded(&content),
        is_error,
    }
}

fn gone() -> Ended {
    interrupted("its process ended in the middle of this turn")
}

fn interrupted(why: &str) -> Ended {
    Ended::Failed(Failure::new(FailureCode::Interrupted, why))
}
