//! `/api/hosts`: the machines behind the catalogue.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use void_api::hosts::{
    CheckError, CheckResponse, HostResponse, HostsResponse, TrustRequest, TrustedResponse,
};
use void_control::hosts::{self, TrustError};
use void_domain::failures::FailureCode;
use void_domain::hosts::{HostName, Reach};

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/hosts",
        access: Access::Owner,
        operation: "listHosts",
        summary: "The machines of the catalogue and the keys that are trusted for them",
        query: &[],
        request: None,
        response: json::<HostsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/hosts/{name}/check",
        access: Access::Owner,
        operation: "checkHost",
        summary: "Ask a host for its list, and compare it with the catalogue",
        query: &[],
        request: None,
        response: json::<CheckResponse>(),
        handler: || post(check),
    },
    Route {
        method: "POST",
        path: "/api/hosts/{name}/trust",
        access: Access::OwnerRecent,
        operation: "trustHost",
        summary: "Trust the host key with this fingerprint, if that is what the host shows",
        query: &[],
        request: Some(schema::<TrustRequest>),
        response: json::<TrustedResponse>(),
        handler: || post(trust),
    },
];

pub(crate) async fn list(State(app): State<App>) -> Json<HostsResponse> {
    let hosts = hosts::list(app.control()).into_iter().map(|view| {
        let trusted = view
            .trusted
            .into_iter()
            .map(|key| key.fingerprint)
            .collect();
        let name = view.host.name.to_string();
        match view.host.reach {
            Reach::Local => HostResponse {
                name,
                address: HostName::LOCAL.to_owned(),
                port: None,
                user: None,
                pinned: false,
                trusted,
                actions: view.actions,
            },
            Reach::Ssh(ssh) => HostResponse {
                name,
                address: ssh.address,
                port: Some(ssh.port),
                user: Some(ssh.user),
                pinned: ssh.host_key.is_some(),
                trusted,
                actions: view.actions,
            },
        }
    });
    Json(HostsResponse {
        hosts: hosts.collect(),
    })
}

pub(crate) async fn check(
    State(app): State<App>,
    Segment(name): Segment,
) -> Result<Json<CheckResponse>, ApiError> {
    let known = HostName::parse(&name).and_then(|name| app.control().catalogue().host(&name));
    let Some(host) = known else {
        return Err(
            ApiError::not_found("the catalogue has no host of that name").hint("void hosts ls"),
        );
    };
    let checked = hosts::check(app.control(), host).await?;
    let name = host.name.to_string();
    Ok(Json(match checked.answer {
        Ok(list) => CheckResponse {
            name,
            reachable: true,
            list: Some(list.digest),
            version: Some(list.version),
            stopped: Some(list.stopped),
            drift: checked.drift,
            cannot: list.cannot,
            error: None,
        },
        Err(failure) => CheckResponse {
            name,
            reachable: false,
            list: None,
            version: None,
            stopped: None,
            drift: None,
            cannot: BTreeMap::new(),
            error: Some(CheckError {
                code: failure.code.to_string(),
                message: failure.message,
            }),
        },
    }))
}

pub(crate) async fn trust(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
    Body(request): Body<TrustRequest>,
) -> Result<Json<TrustedResponse>, ApiError> {
    match hosts::trust(app.control(), &ctx, &name, &request.fingerprint).await {
        Ok(key) => Ok(Json(TrustedResponse {
            name,
            fingerprint: key.fingerprint,
        })),
        Err(TrustError::OwnerOnly) => Err(ApiError::owner_only()),
        Err(error @ TrustError::NotFound) => {
            Err(ApiError::not_found(error.to_string()).hint("void hosts ls"))
        }
        Err(error @ (TrustError::NoKey | TrustError::Pinned)) => {
            Err(ApiError::new(FailureCode::NotNeeded, error.to_string()))
        }
        Err(TrustError::InvalidFingerprint) => Err(ApiError::invalid_field(
            "fingerprint",
            "must be SHA256: and 43 characters, as ssh-keygen -lf prints it",
        )),
        Err(error @ TrustError::Mismatch(_)) => Err(ApiError::new(
            FailureCode::HostKeyMismatch,
            error.to_string(),
        )),
        Err(error @ TrustError::Unwritable(_)) => {
            tracing::error!(%error, "a trusted key could not be stored");
            Err(ApiError::new(
                FailureCode::Unavailable,
                "the known-hosts file cannot be written",
            ))
        }
        Err(TrustError::Store(error)) => Err(error.into()),
    }
}
