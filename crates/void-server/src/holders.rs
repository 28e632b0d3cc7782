//! Who holds the connections, so that somebody can give way when there is no place left (I36).
//!
//! Strangers have a share of the places, which is what a new connection of the owner arrives in. As long as
//! they hold no more than it, the token with the most connections gives way, otherwise the address with the
//! most; each time with the oldest one. A connection on which the owner was let in never gives way.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use tokio::sync::oneshot;

use crate::budgets::Principal;

/// The part of all places that strangers have before tokens do: one in so many.
const STRANGERS_SHARE: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// Nobody has shown a good credential on it.
    Address(IpAddr),
    Account(Principal),
}

/// Told to a connection that has to go.
pub(crate) type Leave = oneshot::Receiver<()>;

#[derive(Default)]
pub(crate) struct Holders {
    connections: HashMap<Holder, BTreeMap<u64, oneshot::Sender<()>>>,
    strangers: usize,
}

impl Holders {
    /// Numbers rise, so that the smallest is the oldest.
    pub(crate) fn arrive(&mut self, number: u64, address: IpAddr) -> Leave {
        let (sender, leave) = oneshot::channel();
        self.put(number, Holder::Address(address), sender);
        leave
    }

    /// A connection is somebody else's from now on.
    pub(crate) fn pass(&mut self, number: u64, from: Holder, to: Holder) {
        if let Some(sender) = self.take(number, from) {
            self.put(number, to, sender);
        }
    }

    pub(crate) fn depart(&mut self, number: u64, holder: Holder) {
        self.take(number, holder);
    }

    /// Ends one connection for the sake of the newest. `false`: nobody gives way.
    pub(crate) fn make_room(&mut self, newest: u64, places: usize) -> bool {
        let is_stranger = |holder: &Holder| matches!(holder, Holder::Address(_));
        let is_token = |holder: &Holder| matches!(holder, Holder::Account(principal) if *principal != Principal::Owner);
        // One that cannot be told is leaving already; each round takes one away, so there is an end.
        loop {
            let chosen = match self.strangers > places / STRANGERS_SHARE {
                true => self.largest(newest, is_stranger),
                false => self
                    .largest(newest, is_token)
                    .or_else(|| self.largest(newest, is_stranger)),
            };
            let Some((holder, number)) = chosen else {
                return false;
            };
            let leave = self.take(number, holder);
            if leave.is_some_and(|leave| leave.send(()).is_ok()) {
                return true;
            }
        }
    }

    /// The oldest connection of whoever has the most of this kind.
    fn largest(&self, newest: u64, is_kind: impl Fn(&Holder) -> bool) -> Option<(Holder, u64)> {
        let holders = self
            .connections
            .iter()
            .filter(|(holder, _)| is_kind(holder));
        let with_oldest = holders.filter_map(|(holder, held)| {
            let oldest = held.keys().find(|number| **number != newest)?;
            Some((held.len(), *holder, *oldest))
        });
        with_oldest
            .max_by_key(|(count, ..)| *count)
            .map(|(_, holder, oldest)| (holder, oldest))
    }

    fn put(&mut self, number: u64, holder: Holder, sender: oneshot::Sender<()>) {
        self.strangers += usize::from(matches!(holder, Holder::Address(_)));
        let held = self.connections.entry(holder).or_default();
        held.insert(number, sender);
    }

    fn take(&mut self, number: u64, holder: Holder) -> Option<oneshot::Sender<()>> {
        let held = self.connections.get_mut(&holder)?;
        let sender = held.remove(&number)?;
        if held.is_empty() {
            self.connections.remove(&holder);
        }
        self.strangers -= usize::from(matches!(holder, Holder::Address(_)));
        Some(sender)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: usize = 16;

    fn address(n: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, n])
    }

    fn token(n: u8) -> Holder {
        let id = format!("01890000-0000-7000-8000-0000000000{n:02}");
        Holder::Account(Principal::Token(id.parse().unwrap()))
    }

    /// Connections `numbers` of this holder.
    fn seat(
        holders: &mut Holders,
        numbers: std::ops::Range<u64>,
        holder: Holder,
    ) -> Vec<(u64, Leave)> {
        let from = Holder::Address(address(200));
        numbers
            .map(|number| {
                let leave = holders.arrive(number, address(200));
                holders.pass(number, from, holder);
                (number, leave)
            })
            .collect()
    }

    fn told(seats: &mut [(u64, Leave)]) -> Vec<u64> {
        let told = seats.iter_mut().filter_map(|(number, leave)| {
            let is_told = leave.try_recv().is_ok();
            is_told.then_some(*number)
        });
        told.collect()
    }

    #[test]
    fn the_address_with_the_most_gives_way_with_its_oldest() {
        let mut holders = Holders::default();
        let mut crowd = seat(&mut holders, 0..10, Holder::Address(address(1)));
        let mut few = seat(&mut holders, 10..13, Holder::Address(address(2)));
        let mut known = seat(&mut holders, 13..16, token(1));
        let mut new = seat(&mut holders, 16..17, Holder::Address(address(3)));
        assert!(holders.make_room(16, PLACES) && holders.make_room(16, PLACES));
        assert_eq!(told(&mut crowd), [0, 1]);
        for kept in [&mut few, &mut known, &mut new] {
            assert!(told(kept).is_empty());
        }
    }

    #[test]
    fn tokens_give_way_before_strangers_fall_below_their_share() {
        let mut holders = Holders::default();
        let mut greedy = seat(&mut holders, 0..9, token(1));
        let mut modest = seat(&mut holders, 9..12, token(2));
        let mut strangers = seat(&mut holders, 12..16, Holder::Address(address(1)));
        // Four of sixteen are their share; with the new one they are more.
        let mut new = seat(&mut holders, 16..17, Holder::Address(address(1)));
        assert!(holders.make_room(16, PLACES));
        assert_eq!(told(&mut strangers), [12]);
        assert!(holders.make_room(16, PLACES) && holders.make_room(16, PLACES));
        assert_eq!(told(&mut greedy), [0, 1]);
        assert!(told(&mut modest).is_empty() && told(&mut new).is_empty());
    }

    #[test]
    fn the_owner_and_the_newest_never_give_way() {
        let mut holders = Holders::default();
        let owner = Holder::Account(Principal::Owner);
        let mut owners = seat(&mut holders, 0..20, owner);
        let mut new = seat(&mut holders, 20..21, Holder::Address(address(1)));
        assert!(!holders.make_room(20, PLACES));
        assert!(told(&mut owners).is_empty() && told(&mut new).is_empty());
        // What the owner used last is a token's once a token uses it, as behind a proxy.
        holders.pass(3, owner, token(1));
        assert!(holders.make_room(20, PLACES));
        assert_eq!(told(&mut owners), [3]);
    }

    #[test]
    fn whoever_left_is_forgotten() {
        let mut holders = Holders::default();
        drop(seat(&mut holders, 0..5, token(1)));
        let stranger = Holder::Address(address(1));
        drop(seat(&mut holders, 5..9, stranger));
        (0..5).for_each(|number| holders.depart(number, token(1)));
        (5..9).for_each(|number| holders.depart(number, stranger));
        holders.depart(5, stranger);
        assert!(holders.connections.is_empty());
        assert_eq!(holders.strangers, 0);
        assert!(!holders.make_room(9, PLACES));
    }
}
