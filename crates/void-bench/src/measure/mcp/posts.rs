//! A server over HTTP, and clients that call it one after the other on connections that stay.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::CALL;
use crate::Outcome;
use crate::http::Connection;
use crate::statistics::per_second;

const WARM_UP: usize = 50;

pub(super) struct Posts {
    address: SocketAddr,
    request: Vec<u8>,
}

impl Posts {
    pub(super) fn to(address: SocketAddr, token: Option<&str>) -> Self {
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n"));
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n{}content-type: application/json\r\naccept: \
             application/json, text/event-stream\r\nmcp-protocol-version: 2025-06-18\r\n\
             content-length: {}\r\n\r\n{CALL}",
            token.unwrap_or_default(),
            CALL.len()
        );
        Self {
            address,
            request: request.into_bytes(),
        }
    }

    pub(super) fn request(&self) -> &[u8] {
        &self.request
    }

    /// What the tool hands out.
    pub(super) async fn payload(&self) -> Outcome<Value> {
        let mut connection = Connection::open(self.address).await?;
        let mut answer: Value = serde_json::from_slice(connection.call(&self.request).await?.body)?;
        let payload = answer.pointer_mut("/result/structuredContent");
        Ok(payload.ok_or("no structured answer")?.take())
    }

    pub(super) async fn rate(&self, clients: usize, duration: Duration) -> Outcome<f64> {
        // All warm up at once: a connection that waits long for the others would be closed as idle.
        let warm = Arc::new(Barrier::new(clients));
        let mut calling = JoinSet::new();
        for _ in 0..clients {
            let mut connection = Connection::open(self.address).await?;
            let (request, warm) = (self.request.clone(), Arc::clone(&warm));
            calling.spawn(async move {
                for _ in 0..WARM_UP {
                    connection.call(&request).await?;
                }
                warm.wait().await;
                let (begun, mut calls) = (Instant::now(), 0);
                while begun.elapsed() < duration {
                    let status = connection.call(&request).await?.status;
                    if status != 200 {
                        return Err(std::io::Error::other(format!("answered {status}")));
                    }
                    calls += 1;
                }
                Ok((calls, begun.elapsed()))
            });
        }
        let (mut calls, mut longest) = (0, Duration::ZERO);
        while let Some(done) = calling.join_next().await {
            let (own, elapsed) = done??;
            calls += own;
            longest = longest.max(elapsed);
        }
        Ok(per_second(calls, longest))
    }
}
