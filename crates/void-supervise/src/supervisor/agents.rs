//! One agent: from a wish that it runs to a wish that it does not, through as many processes as that takes.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::Shared;
use crate::lifelines::{ASLEEP, AWAKE, WAKE};
use crate::logs::Log;
use crate::orders::Order;
use crate::processes::{Heard, Process};
use crate::states::{Ending, ProcessState, ProcessStatus};

/// Between two words of one process, and between two reads of what it writes: a process that never stops talking does
/// not keep the server busy.
const WORDS_APART: Duration = Duration::from_millis(5);
/// For its last words, after its end.
const LOG_WITHIN: Duration = Duration::from_secs(5);
const PIECE_BYTES_MAX: usize = 16 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Start,
    Stop,
    Restart,
    /// A restart of what runs, and of nothing else.
    Renew,
    Wake,
}

pub(super) struct Asked {
    pub what: What,
    /// Told when it is so.
    pub done: oneshot::Sender<()>,
}

impl Asked {
    fn tell_done(self) {
        // Whoever asked need not wait.
        let _ = self.done.send(());
    }
}

/// Whether the process has a word of the server before it to which it has not said anything yet. Then another one waits:
/// a process that reads nothing cannot keep the server at writing to it, and no wake is lost.
#[derive(Default)]
struct Woken {
    is_told: bool,
    is_wanted_again: bool,
}

impl Woken {
    /// Whether the word is to be said now.
    fn want(&mut self) -> bool {
        self.is_wanted_again = self.is_told;
        !std::mem::replace(&mut self.is_told, true)
    }

    /// The process said something. Whether the word is to be said again.
    fn heard(&mut self) -> bool {
        self.is_told = std::mem::take(&mut self.is_wanted_again);
        self.is_told
    }
}

/// Why a process is no longer there.
enum Left {
    /// Somebody wants so; the server ends if it is nobody.
    Stop(Option<Asked>),
    Restart(Asked),
    Unasked(Ending),
}

pub(super) struct Supervised {
    shared: Arc<Shared>,
    name: String,
    asked: mpsc::Receiver<Asked>,
    status: ProcessStatus,
}

impl Supervised {
    pub(super) fn new(shared: Arc<Shared>, name: String, asked: mpsc::Receiver<Asked>) -> Self {
        Self {
            shared,
            name,
            asked,
            status: ProcessStatus::STOPPED,
        }
    }

    pub(super) async fn run(mut self) {
        while let Some(asked) = self.asked.recv().await {
            match asked.what {
                What::Stop | What::Renew | What::Wake => asked.tell_done(),
                What::Start | What::Restart => {
                    asked.tell_done();
                    self.keep_running().await;
                }
            }
        }
    }

    /// Until it is to stop.
    async fn keep_running(&mut self) {
        let mut failures = 0;
        loop {
            let begun = Instant::now();
            let left = match self.run_once().await {
                Left::Unasked(ending) => {
                    failures = self
                        .shared
                        .config
                        .restarts
                        .failures(failures, begun.elapsed());
                    self.pause(failures, ending).await
                }
                left => Some(left),
            };
            match left {
                // The pause is over.
                None | Some(Left::Unasked(_)) => {}
                Some(Left::Restart(asked)) => {
                    failures = 0;
                    self.status.state = ProcessState::Starting;
                    self.shared.note(&self.name, self.status.clone());
                    asked.tell_done();
                }
                Some(Left::Stop(asked)) => {
                    self.status = ProcessStatus::STOPPED;
                    self.shared.note(&self.name, self.status.clone());
                    if let Some(asked) = asked {
                        asked.tell_done();
                    }
                    return;
                }
            }
        }
    }

    /// One process, from its start to its end.
    async fn run_once(&mut self) -> Left {
        self.change(ProcessState::Starting, None).await;
        let started = tokio::select! {
            started = start(Arc::clone(&self.shared), &self.name) => started,
            // Dropped half-way, a process is killed.
            left = wanted(&mut self.asked, Renewed::Anew) => return left,
        };
        let (mut process, mut log) = match started {
            Ok(started) => started,
            Err(why) => return Left::Unasked(Ending::NotStarted(why)),
        };
        self.status.pid = process.pid();
        let left = self.accompany(&mut process).await;
        let ending = process.end().await;
        self.status.pid = None;
        // Everybody who could write into it is gone, or is nobody that this server can see.
        if let Err(late) = tokio::time::timeout(LOG_WITHIN, &mut log).await {
            tracing::warn!(%late, agent = self.name, "somebody still writes into the log of a process that ended");
            log.abort();
        }
        match left {
            // It ended by itself: how is known only now.
            Left::Unasked(Ending::Exit(_)) => Left::Unasked(ending),
            left => left,
        }
    }

    async fn accompany(&mut self, process: &mut Process) -> Left {
        let (mut begun, mut woken) = (Vec::new(), Woken::default());
        let ready_within = self.shared.config.patience.ready_within;
        let ready_until = tokio::time::Instant::now() + ready_within;
        loop {
            let is_starting = self.status.state == ProcessState::Starting;
            tokio::select! {
                heard = process.hear(&mut begun) => match heard {
                    Heard::Ended => return Left::Unasked(Ending::Exit(0)),
                    Heard::Garbled => return Left::Unasked(Ending::Garbled),
                    Heard::Word(word) => {
                        if !self.take(&word).await {
                            return Left::Unasked(Ending::Garbled);
                        }
                        if woken.heard() {
                            process.tell(WAKE).await;
                        }
                        tokio::time::sleep(WORDS_APART).await;
                    }
                },
                asked = self.asked.recv() => match asked {
                    Some(asked) if asked.what == What::Start => asked.tell_done(),
                    Some(asked) if asked.what == What::Wake => {
                        if self.shared.host.may_wake(&self.name).await && woken.want() {
                            process.tell(WAKE).await;
                        }
                        asked.tell_done();
                    }
                    asked => return of(asked),
                },
                () = tokio::time::sleep_until(ready_until), if is_starting => {
                    return Left::Unasked(Ending::Silent);
                }
            }
        }
    }

    /// Whether it is a word.
    async fn take(&mut self, word: &str) -> bool {
        let state = match word {
            ASLEEP => ProcessState::Asleep,
            AWAKE => ProcessState::Running,
            _ => return false,
        };
        if self.status.state == ProcessState::Starting {
            // That it came up is worth telling; that it naps is not.
            self.change(state, self.status.pid).await;
        } else {
            self.status.state = state;
            self.shared.note(&self.name, self.status.clone());
        }
        true
    }

    /// `None` when it is over.
    async fn pause(&mut self, failures: u32, ending: Ending) -> Option<Left> {
        self.status.ending = Some(ending);
        let pause = self.shared.config.restarts.pause(failures);
        let state = match pause {
            Some(_) => ProcessState::Crashed { failures },
            None => ProcessState::GivenUp { failures },
        };
        self.change(state, None).await;
        let over = async {
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = over => None,
            left = wanted(&mut self.asked, Renewed::Nothing) => Some(left),
        }
    }

    async fn change(&mut self, state: ProcessState, pid: Option<u32>) {
        self.status.state = state;
        self.status.pid = pid;
        self.shared.note(&self.name, self.status.clone());
        self.shared.host.changed(&self.name, &self.status).await;
    }
}

/// What there is to renew while there is no process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Renewed {
    /// One is being started, by what was true a moment ago.
    Anew,
    /// The next one is started by what is true then.
    Nothing,
}

/// While there is no process: to start now is to start anew.
async fn wanted(asked: &mut mpsc::Receiver<Asked>, renewed: Renewed) -> Left {
    loop {
        match asked.recv().await {
            Some(asked) if asked.what == What::Wake => asked.tell_done(),
            Some(asked) if asked.what == What::Renew && renewed == Renewed::Nothing => {
                asked.tell_done();
            }
            asked => return of(asked),
        }
    }
}

fn of(asked: Option<Asked>) -> Left {
    match asked {
        Some(asked) if asked.what != What::Stop => Left::Restart(asked),
        asked => Left::Stop(asked),
    }
}

type Started = (Process, JoinHandle<()>);

async fn start(shared: Arc<Shared>, name: &str) -> Result<Started, String> {
    let order = shared.host.order(name).await?;
    let launch = shared.config.driver.launch(&order);
    let launch = launch.map_err(|why| why.to_string())?;
    let cgroup = match &shared.config.cgroups {
        Some(cgroups) => cgroups.make(name).map_err(|why| why.to_string())?,
        None => None,
    };
    let started = Process::start(&launch, &order.token, cgroup).await;
    let (process, output) = started.map_err(|why| why.to_string())?;
    let host = Arc::clone(&shared);
    let log = tokio::spawn(async move {
        if let Err(error) = keep(&host, &order, output).await {
            tracing::warn!(%error, agent = order.facts.name, "what an agent writes cannot be kept");
        }
    });
    Ok((process, log))
}

/// Its output ends when everybody who could write into it is gone.
async fn keep(shared: &Shared, order: &Order, mut output: pipe::Receiver) -> io::Result<()> {
    let mut log = Log::open(&order.log, order.token.expose())?;
    let mut piece = vec![0_u8; PIECE_BYTES_MAX];
    loop {
        let count = output.read(&mut piece).await?;
        let at_ms = shared.host.now_ms();
        if count == 0 {
            return log.close(at_ms);
        }
        log.push(at_ms, piece.get(..count).unwrap_or_default())?;
        tokio::time::sleep(WORDS_APART).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_before_a_process_and_none_is_lost() {
        let mut woken = Woken::default();
        assert!(woken.want());
        for _ in 0..1_000 {
            assert!(!woken.want());
        }
        // It may have looked before the last of them.
        assert!(woken.heard());
        assert!(!woken.heard());
        assert!(woken.want());
    }
}
