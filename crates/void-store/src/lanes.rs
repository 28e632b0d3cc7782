//! For whom the store works, so that one caller's reads and writes do not hold up everybody's (I36).
//!
//! Whoever serves a request of somebody other than the owner runs it inside that caller's [`Lane`]. A lane
//! reads with few connections at once and has few writes waiting; all lanes together leave
//! [`READERS_RESERVED`] connections to work outside of any lane: the owner's and Void's own. What takes a
//! processor for a while ([`work_away`]) a lane does one after another.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::errors::StoreError;

/// Connections that one lane reads with at a time; more of its reads wait.
pub const LANE_READS_MAX: usize = 2;
/// Use cases of one lane that wait for the writer; more wait outside.
pub const LANE_WRITES_MAX: usize = 16;
/// Long texts that are read or compared for one lane at a time; more of them wait.
pub const LANE_WORK_MAX: usize = 1;
/// Connections for reading that no lane gets.
pub const READERS_RESERVED: usize = 1;

tokio::task_local! {
    static LANE: Lane;
}

/// The reads and writes of one caller, or of all whom nobody knows. Clones are the same lane.
#[derive(Debug, Clone)]
pub struct Lane {
    reads: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    work: Arc<Semaphore>,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            reads: Arc::new(Semaphore::new(LANE_READS_MAX)),
            writes: Arc::new(Semaphore::new(LANE_WRITES_MAX)),
            work: Arc::new(Semaphore::new(LANE_WORK_MAX)),
        }
    }
}

impl Lane {
    /// Everything that `work` asks of the store counts for this lane. A task that it spawns is outside
    /// unless it is given the [`current`] lane.
    pub async fn run<T>(self, work: impl Future<Output = T>) -> T {
        LANE.scope(self, work).await
    }
}

/// The lane that this task runs in.
pub fn current() -> Option<Lane> {
    LANE.try_with(Lane::clone).ok()
}

/// Runs `work` in this lane, if there is one.
pub async fn run_in<T>(lane: Option<Lane>, work: impl Future<Output = T>) -> T {
    match lane {
        Some(lane) => lane.run(work).await,
        None => work.await,
    }
}

/// Does what takes a processor for a while away from the threads that serve everybody. The place in the lane is
/// held until the work is done: whoever asks and goes away does not begin the next meanwhile.
pub async fn work_away<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let place = match current() {
        None => None,
        Some(lane) => Some(lane.work.acquire_owned().await.map_err(|_| closed())?),
    };
    let working = tokio::task::spawn_blocking(move || {
        let _until_done = place;
        work()
    });
    working
        .await
        .map_err(|error| StoreError::Internal(error.to_string()))
}

/// The right to use a connection; held as long as it is used.
#[derive(Debug, Default)]
pub(crate) struct ReadTurn {
    _of_lane: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

/// What all lanes of a store share.
#[derive(Debug, Clone)]
pub(crate) struct Lanes {
    readers: Arc<Semaphore>,
}

impl Lanes {
    pub(crate) fn new(readers_max: usize) -> Self {
        let shared = readers_max.saturating_sub(READERS_RESERVED).max(1);
        Self {
            readers: Arc::new(Semaphore::new(shared)),
        }
    }

    /// The lane's own place first, so that whoever waits for it takes none of the others' places.
    pub(crate) async fn read(&self) -> Result<ReadTurn, StoreError> {
        let Some(lane) = current() else {
            return Ok(ReadTurn::default());
        };
        let own = lane.reads.acquire_owned().await;
        let shared = Arc::clone(&self.readers).acquire_owned().await;
        match (own, shared) {
            (Ok(own), Ok(shared)) => Ok(ReadTurn {
                _of_lane: Some((own, shared)),
            }),
            _ => Err(closed()),
        }
    }
}

/// A place in front of the writer; held until the use case has run.
pub(crate) async fn write() -> Result<Option<OwnedSemaphorePermit>, StoreError> {
    match current() {
        None => Ok(None),
        Some(lane) => match lane.writes.acquire_owned().await {
            Ok(place) => Ok(Some(place)),
            Err(_) => Err(closed()),
        },
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}
