//! Models for programs that work in a turn: asked with the turn's pass, answered as the provider answers.

use axum::Extension;
use axum::body::Body as AnswerBody;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::post;
use futures_util::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use void_agent::gateway::{
    Asked, Forwarded, GATEWAY_BODY_BYTES_MAX, GatewayError, GatewayQuestion,
};
use void_domain::failures::FailureCode;

use crate::access::Admitted;
use crate::errors::ApiError;
use crate::requests::Body;
use crate::table::{Access, Content, Parameter, Route, json, schema};

const BETA: Parameter = Parameter {
    name: "beta",
    kind: "string",
    meaning: "programs of the provider say true here; nothing depends on it",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/gateway/anthropic/v1/messages",
        access: Access::Turn,
        operation: "forwardMessage",
        summary: "Ask the agent's model, as the provider would be asked, within what the turn has left",
        query: &[BETA],
        request: Some(schema::<ForwardRequest>),
        response: Content::Text("text/event-stream"),
        handler: || post(messages),
    },
    Route {
        method: "POST",
        path: "/gateway/anthropic/v1/messages/count_tokens",
        access: Access::Turn,
        operation: "forwardTokenCount",
        summary: "Ask how many tokens a prompt has, as the provider would be asked",
        query: &[BETA],
        request: Some(schema::<ForwardRequest>),
        response: json::<Map<String, Value>>(),
        handler: || post(count_tokens),
    },
];

/// A question as the provider takes it. Only some of its members are passed on.
#[derive(Deserialize, Default, JsonSchema)]
pub(crate) struct ForwardRequest {
    #[serde(default)]
    messages: Vec<Value>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

type Asking = Body<ForwardRequest, GATEWAY_BODY_BYTES_MAX>;

pub(crate) async fn messages(
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    Body(body): Asking,
) -> Result<Response, ApiError> {
    forward(admitted, GatewayQuestion::Message, &headers, body).await
}

pub(crate) async fn count_tokens(
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    Body(body): Asking,
) -> Result<Response, ApiError> {
    forward(admitted, GatewayQuestion::CountTokens, &headers, body).await
}

async fn forward(
    admitted: Admitted,
    question: GatewayQuestion,
    headers: &HeaderMap,
    body: ForwardRequest,
) -> Result<Response, ApiError> {
    // The rule of the route lets nobody through without one.
    let pass = admitted.pass.ok_or_else(ApiError::unauthenticated)?;
    let Some(gateway) = &pass.agent().gateway else {
        return Err(ApiError::not_found(
            "this agent's model is not reached through here",
        ));
    };
    let beta = headers
        .get("anthropic-beta")
        .and_then(|beta| beta.to_str().ok());
    let beta = beta.map(str::to_owned);
    let ForwardRequest { messages, others } = body;
    let mut body = others;
    body.insert("messages".to_owned(), Value::Array(messages));
    let forwarded = gateway.forward(&pass, question, Asked { beta, body }).await;
    forwarded.map(answer).map_err(refusal)
}

fn answer(forwarded: Forwarded) -> Response {
    let pieces = stream::unfold(forwarded.body, |mut body| async move {
        let piece = body.recv().await?;
        Some((piece, body))
    });
    let mut response = Response::new(AnswerBody::from_stream(pieces));
    *response.status_mut() =
        StatusCode::from_u16(forwarded.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in forwarded.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            let name = HeaderName::from_static(name);
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Programs ask again at some statuses and not at others, so what cannot get better is a plain 400.
fn refusal(error: GatewayError) -> ApiError {
    let message = error.to_string();
    match error {
        GatewayError::NoTokensLeft | GatewayError::NoCallsLeft => {
            ApiError::new(FailureCode::TurnLimit, message)
        }
        GatewayError::Over => ApiError::unauthenticated(),
        GatewayError::Invalid(problem) => ApiError::invalid_field("body", problem),
        GatewayError::Unanswered(error) => {
            tracing::warn!(code = %error.code(), %error, "a model could not be asked for a turn");
            ApiError::new(error.code(), message)
        }
    }
}
