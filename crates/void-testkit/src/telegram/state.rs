//! What the fake Bot API remembers.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Instant;

use serde_json::{Value, json};

use super::Fault;

/// A message in a chat, as the phone shows it now.
#[derive(Debug, Clone)]
pub struct Message {
    pub id: i64,
    pub chat: i64,
    pub text: String,
    /// Rows of buttons.
    pub keyboard: Value,
    pub edits: u32,
}

impl Message {
    /// Every button: what it says, and its data or address.
    pub fn buttons(&self) -> Vec<(String, String)> {
        let rows = self.keyboard["inline_keyboard"].as_array();
        rows.into_iter()
            .flatten()
            .flat_map(|row| row.as_array().into_iter().flatten())
            .map(|button| {
                let data = button["callback_data"].as_str().or(button["url"].as_str());
                let text = button["text"].as_str().unwrap_or_default();
                (text.to_owned(), data.unwrap_or_default().to_owned())
            })
            .collect()
    }

    pub fn labels(&self) -> Vec<String> {
        self.buttons().into_iter().map(|(label, _)| label).collect()
    }
}

/// Something that the bot asked for.
#[derive(Debug, Clone)]
pub struct Call {
    pub method: String,
    pub params: Value,
    pub at: Instant,
}

pub(crate) struct State {
    pub token: String,
    pub messages: BTreeMap<(i64, i64), Message>,
    pub calls: Vec<Call>,
    pub polls: u64,
    pub poller: u64,
    pub delivered: u64,
    pub rate_limited: u64,
    pub faults: HashMap<&'static str, VecDeque<Fault>>,
    pub repeat: usize,
    /// Who may be written to.
    pub started: BTreeSet<i64>,
    pub blocked: BTreeSet<i64>,
    /// What a tap was answered with.
    pub answers: BTreeMap<String, String>,
    pub open_callbacks: BTreeSet<String>,
    updates: VecDeque<Value>,
    all_updates: Vec<Value>,
    next_update: i64,
    next_message: i64,
    next_callback: u64,
}

impl State {
    pub(crate) fn new(token: &str) -> Self {
        Self {
            token: token.to_owned(),
            messages: BTreeMap::new(),
            calls: Vec::new(),
            polls: 0,
            poller: 0,
            delivered: 0,
            rate_limited: 0,
            faults: HashMap::new(),
            repeat: 1,
            started: BTreeSet::new(),
            blocked: BTreeSet::new(),
            answers: BTreeMap::new(),
            open_callbacks: BTreeSet::new(),
            updates: VecDeque::new(),
            all_updates: Vec::new(),
            next_update: 1_000,
            next_message: 1,
            next_callback: 1,
        }
    }

    pub(crate) fn next_fault(&mut self, method: &str) -> Option<Fault> {
        self.faults.get_mut(method)?.pop_front()
    }

    pub(crate) fn begin_poll(&mut self) -> u64 {
        self.polls += 1;
        self.poller += 1;
        self.poller
    }

    /// Confirms what is before `offset` and gives out the rest.
    pub(crate) fn updates_from(&mut self, offset: i64, limit: usize) -> Vec<Value> {
        let number = |update: &Value| update["update_id"].as_i64().unwrap_or(0);
        while self
            .updates
            .front()
            .is_some_and(|update| number(update) < offset)
        {
            self.updates.pop_front();
        }
        let mut due: Vec<Value> = self.updates.iter().take(limit).cloned().collect();
        if self.repeat > 1 {
            due.reverse();
            due = due
                .iter()
                .flat_map(|update| vec![update.clone(); self.repeat])
                .collect();
        }
        self.delivered += due.len() as u64;
        due
    }

    pub(crate) fn unconfirmed(&self) -> usize {
        self.updates.len()
    }

    pub(crate) fn rewind(&mut self) {
        // The same updates with new numbers: an offset does not protect from these.
        let all = self.all_updates.clone();
        for mut update in all {
            update["update_id"] = json!(self.next_update);
            self.next_update += 1;
            self.updates.push_back(update);
        }
    }

    pub(crate) fn push_update(&mut self, mut update: Value) {
        update["update_id"] = json!(self.next_update);
        self.next_update += 1;
        self.all_updates.push(update.clone());
        self.updates.push_back(update);
    }

    pub(crate) fn new_callback(&mut self) -> String {
        let id = format!("cb-{}", self.next_callback);
        self.next_callback += 1;
        self.open_callbacks.insert(id.clone());
        id
    }

    pub(crate) fn new_message_id(&mut self) -> i64 {
        let id = self.next_message;
        self.next_message += 1;
        id
    }
}
