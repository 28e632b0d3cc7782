//! What callers other than the owner may use up (I36): requests a second, requests and streams at a time,
//! connections, bytes of answers that were not taken yet. Asked before the store is, in bounded memory.
//!
//! A token has its own account, found by the hash of what it shows; whether the token is good is asked
//! afterwards, every time. Whoever shows nothing that was ever good counts for their address: behind a
//! proxy everybody has one, so an address never holds back a known credential, nor one that is new.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use void_control::callers::{Caller, Credential};
use void_control::lanes::Lane;
use void_domain::actors::Actor;
use void_domain::budgets::{self as bounds, Bucket, Rate, TokenBudgets};
use void_domain::digests::Digest;
use void_domain::ids::{AgentId, TokenId};

use crate::errors::ApiError;
use crate::metrics::HeldBack;

/// Credentials, tokens and addresses that are remembered, each.
const KEPT_MAX: usize = 4_096;

/// How long whoever is over a budget waits for the answer.
const PAUSE: Duration = Duration::from_millis(100);
/// Answers that are held so at a time.
const PAUSING_MAX: usize = 1_024;

/// Who an account belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Principal {
    Owner,
    Token(TokenId),
    /// A program in a turn of this agent: whoever holds the agent's token does not use up its turns.
    Turn(AgentId),
    /// The process of this agent.
    Process(AgentId),
}

/// What one principal uses.
pub(crate) struct Account {
    pub principal: Principal,
    bucket: Mutex<Bucket>,
    open: AtomicU32,
    streams: AtomicU32,
    connections: AtomicU32,
    bytes: AtomicUsize,
    reads: Arc<Semaphore>,
    lane: Lane,
}

impl Account {
    fn new(principal: Principal) -> Self {
        Self {
            principal,
            bucket: Mutex::default(),
            open: AtomicU32::new(0),
            streams: AtomicU32::new(0),
            connections: AtomicU32::new(0),
            bytes: AtomicUsize::new(0),
            reads: Arc::new(Semaphore::new(bounds::TOKEN_READS_AT_ONCE_MAX as usize)),
            lane: Lane::default(),
        }
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.principal == Principal::Owner
    }

    /// Where the store works for it; the owner has no lane and waits behind none.
    pub(crate) fn lane(&self) -> Option<Lane> {
        (!self.is_owner()).then(|| self.lane.clone())
    }

    /// The turn of one that reads; the owner needs none.
    pub(crate) async fn read_turn(&self) -> Option<OwnedSemaphorePermit> {
        match self.is_owner() {
            true => None,
            false => Arc::clone(&self.reads).acquire_owned().await.ok(),
        }
    }
}

/// One of a number of things that an account has open.
pub(crate) struct Counted {
    account: Arc<Account>,
    of: fn(&Account) -> &AtomicU32,
}

impl Counted {
    pub(crate) fn is_of(&self, account: &Arc<Account>) -> bool {
        Arc::ptr_eq(&self.account, account)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.of)(&self.account).fetch_sub(1, Ordering::Relaxed);
    }
}

/// Bytes that are kept for an account: of an answer that was not taken yet, or of a request that has not
/// arrived whole.
pub(crate) struct BytesHeld {
    account: Arc<Account>,
    all: Arc<AtomicUsize>,
    bytes: usize,
}

impl BytesHeld {
    /// Counts more of the same, whether or not there is room. Whether there was.
    pub(crate) fn add(&mut self, bytes: usize) -> bool {
        let own = self.account.bytes.fetch_add(bytes, Ordering::Relaxed);
        let all = self.all.fetch_add(bytes, Ordering::Relaxed);
        self.bytes = self.bytes.saturating_add(bytes);
        // One of any size fits where nothing else is held.
        let is_alone = own.saturating_add(bytes) == self.bytes;
        let is_own = is_alone || own.saturating_add(bytes) <= bounds::TOKEN_BYTES_IN_FLIGHT_MAX;
        is_own && all.saturating_add(bytes) <= bounds::BYTES_IN_FLIGHT_MAX
    }
}

impl Drop for BytesHeld {
    fn drop(&mut self) {
        self.account.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

pub(crate) struct Budgets {
    began: Instant,
    of_token: TokenBudgets,
    owner: Arc<Account>,
    /// By the hash of what was shown and was good.
    known: Mutex<HashMap<Digest, Arc<Account>>>,
    accounts: Mutex<HashMap<Principal, Arc<Account>>>,
    strangers: Mutex<HashMap<IpAddr, Bucket>>,
    /// Where the store is asked who somebody is whom nobody knows yet.
    strangers_lane: Lane,
    bytes: Arc<AtomicUsize>,
    pausing: Semaphore,
    held_back: HeldBack,
}

impl Budgets {
    pub(crate) fn new(of_token: TokenBudgets, held_back: HeldBack) -> Self {
        Self {
            began: Instant::now(),
            of_token,
            owner: Arc::new(Account::new(Principal::Owner)),
            known: Mutex::default(),
            accounts: Mutex::default(),
            strangers: Mutex::default(),
            strangers_lane: Lane::default(),
            bytes: Arc::default(),
            pausing: Semaphore::new(PAUSING_MAX),
            held_back,
        }
    }

    /// Lets whoever is over a budget wait a little for being told so: a program that asks again at once
    /// costs less then. Beyond a bound nobody is made to wait.
    pub(crate) async fn pause(&self) {
        if let Ok(_place) = self.pausing.try_acquire() {
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub(crate) fn strangers_lane(&self) -> Lane {
        self.strangers_lane.clone()
    }

    /// The account of whoever showed this before and was let in.
    pub(crate) fn known(&self, shown: Digest) -> Option<Arc<Account>> {
        lock(&self.known).get(&shown).cloned()
    }

    /// Remembers whose this is, and gives the account.
    pub(crate) fn remember(&self, shown: Digest, caller: &Caller) -> Arc<Account> {
        let account = self.account_of(caller);
        let mut known = lock(&self.known);
        make_room(&mut known, |_| false);
        known.insert(shown, Arc::clone(&account));
        account
    }

    pub(crate) fn forget(&self, shown: Digest) {
        lock(&self.known).remove(&shown);
    }

    pub(crate) fn account_of(&self, caller: &Caller) -> Arc<Account> {
        match (&caller.actor, caller.credential) {
            (Actor::Owner { .. }, _) | (_, Credential::OwnerToken | Credential::Session { .. }) => {
                Arc::clone(&self.owner)
            }
            (_, Credential::Token(id)) => self.account(Principal::Token(id)),
            (_, Credential::Turn(id)) => self.account(Principal::Turn(id)),
            (_, Credential::Process(id)) => self.account(Principal::Process(id)),
        }
    }

    pub(crate) fn account(&self, principal: Principal) -> Arc<Account> {
        if principal == Principal::Owner {
            return Arc::clone(&self.owner);
        }
        let mut accounts = lock(&self.accounts);
        let now = self.began.elapsed();
        // Nobody holds it and it has nothing to make up for: it would be made anew as it is.
        make_room(&mut accounts, |account| {
            Arc::strong_count(account) > 1 || !lock(&account.bucket).is_even(now)
        });
        let made = || Arc::new(Account::new(principal));
        Arc::clone(accounts.entry(principal).or_insert_with(made))
    }

    /// Counts a request.
    pub(crate) fn request(&self, account: &Account) -> Result<(), ApiError> {
        let rate = match account.is_owner() {
            true => Rate::per_second(bounds::OWNER_REQUESTS_PER_S, bounds::OWNER_REQUESTS_BURST),
            false => self.of_token.requests,
        };
        let now = self.began.elapsed();
        let taken = lock(&account.bucket).take(rate, now);
        taken.map_err(|wait| self.refuse("requests", "this token makes too many requests", wait))
    }

    /// Counts a request of whoever is not known, by address.
    pub(crate) fn stranger(&self, address: IpAddr) -> Result<(), ApiError> {
        let rate = Rate::per_second(
            bounds::STRANGER_REQUESTS_PER_S,
            bounds::STRANGER_REQUESTS_BURST,
        );
        let now = self.began.elapsed();
        let taken = {
            let mut strangers = lock(&self.strangers);
            make_room(&mut strangers, |bucket| !bucket.is_even(now));
            strangers.entry(address).or_default().take(rate, now)
        };
        taken.map_err(|wait| self.refuse("strangers", "too many requests from there", wait))
    }

    /// Opens a request; it is closed when this is dropped.
    pub(crate) fn open(&self, account: &Arc<Account>) -> Result<Counted, ApiError> {
        let text = "this token has too many requests open";
        let max = bounds::TOKEN_REQUESTS_OPEN_MAX;
        self.count(account, |account| &account.open, max, ("open", text))
    }

    /// Opens a stream; it is closed when this is dropped.
    pub(crate) fn stream(&self, account: &Arc<Account>) -> Result<Counted, ApiError> {
        let text = "this token has too many streams open";
        let max = self.of_token.streams;
        self.count(account, |account| &account.streams, max, ("streams", text))
    }

    /// A connection is this principal's from now on.
    pub(crate) fn connection(&self, account: &Arc<Account>) -> Result<Counted, ApiError> {
        let text = "this token has too many connections open";
        let max = bounds::TOKEN_CONNECTIONS_MAX;
        let of: fn(&Account) -> &AtomicU32 = |account| &account.connections;
        self.count(account, of, max, ("connections", text))
    }

    /// A long answer has cost more than a short one: the next requests wait for it.
    pub(crate) fn charge(&self, account: &Account, bytes: usize) {
        let times = u32::try_from(bytes / bounds::ANSWER_BYTES_PER_REQUEST).unwrap_or(u32::MAX);
        if times > 0 && !account.is_owner() {
            let now = self.began.elapsed();
            lock(&account.bucket).charge(self.of_token.requests, now, times);
        }
    }

    /// Holds the bytes of an answer until it was taken.
    pub(crate) fn answer(
        &self,
        account: &Arc<Account>,
        bytes: usize,
    ) -> Result<BytesHeld, ApiError> {
        let mut held = self.held(account);
        match held.add(bytes) {
            true => Ok(held),
            false => Err(self.too_many_bytes("answers are waiting that nobody takes")),
        }
    }

    /// Nothing yet; more is added as it arrives.
    pub(crate) fn held(&self, account: &Arc<Account>) -> BytesHeld {
        BytesHeld {
            account: Arc::clone(account),
            all: Arc::clone(&self.bytes),
            bytes: 0,
        }
    }

    pub(crate) fn too_many_bytes(&self, text: &str) -> ApiError {
        self.refuse("bytes", text, Duration::from_secs(1))
    }

    /// Whether an account may be answered at all, asked before anything is read for it.
    pub(crate) fn takes_answers(&self, account: &Account) -> Result<(), ApiError> {
        let own = account.bytes.load(Ordering::Relaxed);
        let all = self.bytes.load(Ordering::Relaxed);
        if own < bounds::TOKEN_BYTES_IN_FLIGHT_MAX && all < bounds::BYTES_IN_FLIGHT_MAX {
            return Ok(());
        }
        Err(self.too_many_bytes("answers are waiting that nobody takes"))
    }

    fn count(
        &self,
        account: &Arc<Account>,
        of: fn(&Account) -> &AtomicU32,
        max: u32,
        (what, text): (&'static str, &'static str),
    ) -> Result<Counted, ApiError> {
        let before = of(account).fetch_add(1, Ordering::Relaxed);
        let counted = Counted {
            account: Arc::clone(account),
            of,
        };
        if before < max || account.is_owner() {
            return Ok(counted);
        }
        Err(self.refuse(what, text, Duration::from_secs(1)))
    }

    fn refuse(&self, what: &'static str, text: &str, wait: Duration) -> ApiError {
        self.held_back.count(what);
        ApiError::held_back(text, wait)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drops what need not be kept; if that is not enough, everything but what must be.
fn make_room<K: Eq + Hash + Clone, V>(map: &mut HashMap<K, V>, must_stay: impl Fn(&V) -> bool) {
    if map.len() < KEPT_MAX {
        return;
    }
    map.retain(|_, value| must_stay(value));
    // Full of fresh ones is a flood: any of them is forgotten, and who is new is not kept out.
    if map.len() >= KEPT_MAX
        && let Some(any) = map.keys().next().cloned()
    {
        map.remove(&any);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets() -> Budgets {
        Budgets::new(TokenBudgets::default(), HeldBack::default())
    }

    fn token() -> Principal {
        Principal::Token("01890000-0000-7000-8000-000000000001".parse().unwrap())
    }

    #[test]
    fn streams_end_at_their_bound_and_come_back() {
        let budgets = budgets();
        let account = budgets.account(token());
        let open: Vec<Counted> = (0..bounds::TOKEN_STREAMS_MAX)
            .map(|_| {
                budgets
                    .stream(&account)
                    .unwrap_or_else(|_| panic!("it fits"))
            })
            .collect();
        assert!(budgets.stream(&account).is_err());
        assert!(budgets.stream(&budgets.account(Principal::Owner)).is_ok());
        drop(open);
        assert!(budgets.stream(&account).is_ok());
    }

    #[test]
    fn answers_that_nobody_takes_end_at_their_bound() {
        let budgets = budgets();
        let account = budgets.account(token());
        let held = budgets.answer(&account, bounds::TOKEN_BYTES_IN_FLIGHT_MAX);
        assert!(held.is_ok());
        assert!(budgets.answer(&account, 1).is_err());
        assert!(budgets.takes_answers(&account).is_err());
        drop(held);
        assert!(budgets.takes_answers(&account).is_ok());
        assert!(budgets.answer(&account, 1).is_ok());
        assert_eq!(budgets.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_flood_of_addresses_is_forgotten() {
        let budgets = budgets();
        for n in 0..20_000_u32 {
            let address = IpAddr::from(n.to_be_bytes());
            assert!(budgets.stranger(address).is_ok());
        }
        assert!(lock(&budgets.strangers).len() <= KEPT_MAX);
    }
}
