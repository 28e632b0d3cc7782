//! Tool calls of servers that are free with the rules: pieces without an index, whole calls under one
//! index, ids missing or repeated, arguments as text or as an object.

use std::collections::BTreeSet;

use serde_json::Value;

use super::exchanges::Fault;
use super::{ARGUMENTS_BYTES_MAX, Arguments, BLOCKS_MAX, Block, BrainEvent, OnEvent, ToolCall};

pub(super) struct Calls {
    slots: Vec<Slot>,
    /// The conversation's, and from the end on ours.
    ids: BTreeSet<String>,
}

struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// What one frame says about a call; empty where it says nothing.
pub(super) struct Piece<'a> {
    pub index: Option<u64>,
    pub id: &'a str,
    pub name: &'a str,
    pub arguments: Option<Value>,
}

impl Calls {
    pub(super) fn new(ids: BTreeSet<String>) -> Self {
        Self {
            slots: Vec::new(),
            ids,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        let sizes = self.slots.iter();
        sizes
            .map(|slot| slot.name.len() + slot.arguments.len())
            .sum()
    }

    /// A part of a call, to be added to the one that it belongs to.
    pub(super) fn piece(&mut self, piece: Piece<'_>, on_event: OnEvent<'_>) -> Result<(), Fault> {
        match self.slot_of(&piece) {
            Some(at) => self.add(at, piece, on_event),
            None => self.whole(piece, on_event),
        }
    }

    /// A call of its own.
    pub(super) fn whole(&mut self, piece: Piece<'_>, on_event: OnEvent<'_>) -> Result<(), Fault> {
        if self.slots.len() == BLOCKS_MAX {
            return Err(Fault::too_many_blocks());
        }
        self.slots.push(Slot {
            index: piece.index,
            id: piece.id.to_owned(),
            name: String::new(),
            arguments: String::new(),
        });
        self.add(self.slots.len() - 1, piece, on_event)
    }

    /// The index says it, or the last one is meant. Another id together with a name is another call
    /// even under the same index; an id alone is not, since some servers invent one per piece.
    fn slot_of(&self, piece: &Piece<'_>) -> Option<usize> {
        let at = match piece.index {
            Some(_) => self
                .slots
                .iter()
                .rposition(|slot| slot.index == piece.index)?,
            None => self.slots.len().checked_sub(1)?,
        };
        let slot = self.slots.get(at)?;
        let is_named = !piece.name.is_empty() && !slot.name.is_empty();
        let is_another = if piece.id.is_empty() {
            is_named && piece.index.is_none()
        } else {
            is_named && piece.id != slot.id
        };
        (!is_another).then_some(at)
    }

    fn add(&mut self, at: usize, piece: Piece<'_>, on_event: OnEvent<'_>) -> Result<(), Fault> {
        let Some(slot) = self.slots.get_mut(at) else {
            return Ok(());
        };
        if slot.id.is_empty() {
            slot.id.push_str(piece.id);
        }
        if slot.name.is_empty() && !piece.name.is_empty() {
            slot.name.push_str(piece.name);
            on_event(BrainEvent::ToolStarted {
                name: slot.name.clone(),
            });
        }
        match piece.arguments {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => slot.arguments.push_str(&text),
            Some(value) => slot.arguments.push_str(&value.to_string()),
        }
        if slot.arguments.len() > ARGUMENTS_BYTES_MAX {
            return Err(Fault::arguments_too_large());
        }
        Ok(())
    }

    pub(super) fn finish(self) -> impl Iterator<Item = Block> {
        let mut ids = self.ids;
        self.slots.into_iter().map(move |slot| {
            let is_usable = !slot.id.is_empty() && !ids.contains(&slot.id);
            let id = if is_usable { slot.id } else { new_id(&ids) };
            ids.insert(id.clone());
            Block::ToolCall(ToolCall {
                id,
                name: slot.name,
                arguments: Arguments::parse(slot.arguments),
            })
        })
    }
}

/// Ends, because one of `len + 1` names is not among `len`.
fn new_id(ids: &BTreeSet<String>) -> String {
    let mut names = (1..).map(|nth: usize| format!("call_{nth}"));
    names.find(|name| !ids.contains(name)).unwrap_or_default()
}
