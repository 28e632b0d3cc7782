//! Rows that older versions wrote and that this one no longer makes.

use serde_json::json;
use void_domain::actors::ActorKind;
use void_domain::capabilities::Capability;
use void_domain::digests::Digest;
use void_domain::facts::NewFact;
use void_domain::ids::TokenId;
use void_store::tokens::{self, Token};
use void_store::{StoreError, agents as stored, facts};

use super::{App, Holder};
use crate::callers::Shows;

impl App {
    /// A viewer's or a node's token with capabilities, which older versions stored and which open nothing.
    pub(super) async fn holder_as_before(
        &self,
        kind: &str,
        name: &str,
        all: Vec<Capability>,
    ) -> Holder {
        let text = format!("void_{kind}_as-before-with-capabilities-{name}");
        let at = self.control.clock().now();
        let token = Token {
            id: TokenId::new(
                at,
                *if kind == "node" {
                    b"as-before?"
                } else {
                    b"as-before!"
                },
            ),
            kind: ActorKind::parse(kind).unwrap(),
            agent_id: None,
            name: name.to_owned(),
            hash: Digest::of(text.as_bytes()),
            capabilities: all.into_iter().collect(),
            created_at: at,
            last_used_at: None,
            revoked_at: None,
            resident: false,
        };
        let id = token.id.to_string();
        let written: Result<(), StoreError> = self
            .store
            .write(move |tx| {
                Box::pin(async move {
                    tokens::insert(tx, &token).await?;
                    let entry = NewFact {
                        request_id: None,
                        actor: "owner-cli".to_owned(),
                        verb: "token.created",
                        subject: Some(token.id.to_string()),
                        detail: json!({"kind": token.kind.as_str(), "name": token.name,
                            "capabilities": token.capabilities, "resident": false}),
                        catalogue: None,
                        audience: None,
                    };
                    facts::append(tx, at, entry).await?;
                    Ok(())
                })
            })
            .await;
        written.unwrap();
        self.secrets.add(&text);
        Holder {
            id,
            caller: self.caller(Shows::Bearer(text)),
        }
    }

    /// Capabilities that are not granted any more, as agents from before have them.
    pub(super) async fn grant_as_before(&self, name: &str, capabilities: Vec<Capability>) {
        let name = name.parse().unwrap();
        let at = self.control.clock().now();
        let written: Result<(), StoreError> = self
            .store
            .write(move |tx| {
                Box::pin(async move {
                    let agent = stored::find_named(tx, &name).await?.unwrap();
                    let capabilities = capabilities.into_iter().collect();
                    assert!(stored::set_capabilities(tx, agent.id, &capabilities).await?);
                    let entry = NewFact {
                        request_id: None,
                        actor: "owner-cli".to_owned(),
                        verb: "agent.changed",
                        subject: Some(agent.id.to_string()),
                        detail: json!({"name": agent.name, "capabilities": capabilities}),
                        catalogue: None,
                        audience: None,
                    };
                    facts::append(tx, at, entry).await?;
                    Ok(())
                })
            })
            .await;
        written.unwrap();
    }
}
