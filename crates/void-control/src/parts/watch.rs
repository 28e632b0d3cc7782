//! The services that are watched, and the readings of each.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use void_domain::services::{Health, Monitor, Service, ServiceId, Services};
use void_domain::time::Timestamp;

/// Looks that are under way at the same time, so that a thousand dead services hold no thousand sockets.
/// Guests take no place: they are read together, over one connection.
pub(crate) const AT_ONCE: usize = 64;

/// A reading that disagrees with what is shown is looked at again after this, unless the service flaps.
pub(crate) const IN_DOUBT: Duration = Duration::from_secs(2);

pub(crate) struct Watch {
    pub(crate) watched: Vec<Watched>,
    pub(crate) places: Semaphore,
}

pub(crate) struct Watched {
    pub(crate) service: Service,
    pub(crate) state: Mutex<ServiceWatch>,
    /// Readings are taken in and recorded one after the other.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

pub(crate) struct ServiceWatch {
    pub(crate) monitor: Monitor,
    /// What the table says last, as far as we know.
    pub(crate) recorded: Option<Health>,
}

impl Watch {
    pub(crate) fn new(services: &Services, at: Timestamp) -> Self {
        let watched = services.iter().map(|service| Watched {
            service: service.clone(),
            state: Mutex::new(ServiceWatch {
                monitor: Monitor::new(at),
                recorded: None,
            }),
            turn: tokio::sync::Mutex::default(),
        });
        Self {
            watched: watched.collect(),
            places: Semaphore::new(AT_ONCE),
        }
    }

    /// What is watched, without how it is.
    pub(crate) fn services(&self) -> Vec<Service> {
        let watched = self.watched.iter();
        watched.map(|watched| watched.service.clone()).collect()
    }

    pub(crate) fn is_watched(&self, id: &ServiceId) -> bool {
        self.get(id.as_str()).is_some()
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Watched> {
        let mut all = self.watched.iter();
        all.find(|watched| watched.service.id.as_str() == id)
    }
}

impl Watched {
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut ServiceWatch) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// From one look to the next. A service that flaps is not looked at more often for it.
    pub(crate) fn pause(&self, now: Timestamp) -> Duration {
        let interval = self.service.interval;
        self.with(|state| {
            if state.monitor.is_in_doubt() && !state.monitor.is_flapping(now) {
                interval.min(IN_DOUBT)
            } else {
                interval
            }
        })
    }
}
