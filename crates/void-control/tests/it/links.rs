//! The way between a control plane and its machine. The machine is real; what the network does to a ticket
//! and to its answer is the test's to say.

use std::sync::Arc;

use tokio::sync::watch;
use void_channels::{Channel, Channels, Evidence, Outcome};
use void_domain::executions::Execution;
use void_domain::failures::FailureCode;
use void_domain::permits::{Permit, Ticket};
use void_domain::proposals::Failure;
use void_store::BoxFuture;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    Up,
    /// What is sent stays on the way until it is up again.
    Stuck,
    /// What is sent arrives; no answer comes back, to nothing.
    Deaf,
    /// The machine is at something else, and says so.
    Busy,
    /// Nothing arrives, and nobody can tell.
    Down,
}

/// One per machine, over all starts of its control plane.
pub struct Link(watch::Sender<Network>);

impl Link {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(Network::Up)))
    }

    pub fn set(&self, network: Network) {
        self.0.send_replace(network);
    }
}

/// The link with the channels of one start at its end.
pub struct LinkedChannels {
    pub link: Arc<Link>,
    pub channels: Arc<Channels>,
}

impl LinkedChannels {
    /// Ends when an answer could no longer come back.
    async fn is_cut(&self) {
        let mut network = self.link.0.subscribe();
        let cut = |network: &Network| matches!(network, Network::Deaf | Network::Down);
        network.wait_for(cut).await.unwrap();
    }

    async fn is_not_stuck(&self) -> Network {
        let mut network = self.link.0.subscribe();
        let moves = |network: &Network| *network != Network::Stuck;
        *network.wait_for(moves).await.unwrap()
    }
}

fn lost() -> Failure {
    Failure::new(FailureCode::ConnectionLost, "the link broke")
}

impl Channel for LinkedChannels {
    fn execute(&self, permit: Permit) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            match self.is_not_stuck().await {
                Network::Up | Network::Stuck => {}
                Network::Deaf => {
                    self.channels.execute(permit).await;
                    return Outcome::Unknown(lost());
                }
                Network::Busy => {
                    let message = "another run holds the journal";
                    return Outcome::Busy(Failure::new(FailureCode::Busy, message));
                }
                Network::Down => return Outcome::Unknown(lost()),
            }
            // What the machine has begun it goes on with when nobody listens any more.
            tokio::select! {
                outcome = self.channels.execute(permit) => outcome,
                () = self.is_cut() => Outcome::Unknown(lost()),
            }
        })
    }

    fn settle<'a>(
        &'a self,
        execution: &'a Execution,
        ticket: &'a Ticket,
    ) -> BoxFuture<'a, Evidence> {
        Box::pin(async move {
            match *self.link.0.borrow() {
                Network::Up | Network::Busy => {}
                Network::Stuck | Network::Deaf | Network::Down => return Evidence::None(lost()),
            }
            self.channels.settle(execution, ticket).await
        })
    }
}
