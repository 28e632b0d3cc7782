//! Wakes this instance for commits of the others: `LISTEN`, with a look every second in case a
//! notification was lost with its connection.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use futures_util::future::poll_fn;
use tokio::sync::{mpsc, watch};
use tokio_postgres::AsyncMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::limits;
use super::writer::{heads_now, raise};
use crate::heads::Newest;

const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) fn start(
    settings: tokio_postgres::Config,
    tls: MakeRustlsConnect,
    pool: Pool,
    committed: Arc<watch::Sender<Newest>>,
) {
    let (wake, mut woken) = mpsc::channel::<()>(1);
    tokio::spawn(listen(settings, tls, wake));
    tokio::spawn(async move {
        while !committed.is_closed() {
            // Whether woken, timed out or without a listener: the answer is to look.
            let _ = tokio::time::timeout(LOOK_EVERY, woken.recv()).await;
            let looking = async { heads_now(pool.get().await?).await };
            if let Ok(heads) = limits::within(limits::READ_WITHIN, "a look", looking).await {
                raise(&committed, heads.newest());
            }
        }
    });
}

async fn listen(settings: tokio_postgres::Config, tls: MakeRustlsConnect, wake: mpsc::Sender<()>) {
    while !wake.is_closed() {
        // The limit on connecting ends with the socket; this one covers the greeting too.
        let connecting = async { Ok(settings.connect(tls.clone()).await?) };
        let connected = limits::within(limits::READ_WITHIN, "connecting", connecting).await;
        if let Ok((client, mut connection)) = connected {
            let subscribe = tokio::spawn(async move {
                let subscribed = client.batch_execute("LISTEN void_events").await;
                // The client must live as long as the connection is to be polled.
                if subscribed.is_ok() {
                    std::future::pending::<()>().await;
                }
            });
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                if let AsyncMessage::Notification(_) = message {
                    let _ = wake.try_send(());
                }
                if wake.is_closed() {
                    break;
                }
            }
            subscribe.abort();
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
