//! Who calls, and what they are answered. Every answer is looked at twice before a test sees it: it
//! holds no secret, and it is what the OpenAPI document says.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::leaks::Secrets;
use crate::openapi;

#[derive(Debug, Clone)]
pub enum Shows {
    Nothing,
    Bearer(String),
    /// `name=value`, sent as our own page would.
    Cookie(String),
    /// Header lines as they are.
    Headers(Vec<(&'static str, String)>),
}

impl Shows {
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Bearer(token) => vec![("authorization", format!("Bearer {token}"))],
            Self::Cookie(pair) => vec![
                ("cookie", pair.clone()),
                ("sec-fetch-site", "same-origin".to_owned()),
            ],
            Self::Headers(headers) => headers.clone(),
        }
    }
}

#[derive(Clone)]
pub struct Caller {
    pub http: reqwest::Client,
    pub address: SocketAddr,
    pub secrets: Arc<Secrets>,
    pub shows: Shows,
}

pub fn client() -> reqwest::Client {
    // The second test of a process finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

impl Caller {
    pub async fn get(&self, path: &str) -> HttpResponse {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> HttpResponse {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn post_nothing(&self, path: &str) -> HttpResponse {
        self.send(Method::POST, path, None).await
    }

    pub async fn put(&self, path: &str, body: Value) -> HttpResponse {
        self.send(Method::PUT, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> HttpResponse {
        self.send(Method::DELETE, path, None).await
    }

    pub async fn run(&self, action: &str) -> HttpResponse {
        self.post_nothing(&format!("/api/actions/{action}/run"))
            .await
    }

    /// Decides about a row as it was seen.
    pub async fn decide(&self, row: &Value, decision: &str) -> HttpResponse {
        let path = format!("/api/proposals/{}/decide", row["id"].as_str().unwrap());
        let body = serde_json::json!({"decision": decision, "digest": row["digest"]});
        self.post(&path, body).await
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> HttpResponse {
        let body = body.map(|body| (body.to_string().into_bytes(), "application/json"));
        self.send_bytes(method, path, body).await
    }

    pub async fn send_bytes(
        &self,
        method: Method,
        path: &str,
        body: Option<(Vec<u8>, &str)>,
    ) -> HttpResponse {
        let mut request = self.request(method.clone(), path);
        if let Some((bytes, kind)) = body {
            if !kind.is_empty() {
                request = request.header("content-type", kind);
            }
            request = request.body(bytes);
        }
        let response = request.send().await.unwrap();
        let answer = HttpResponse::read(response).await;
        self.secrets
            .assert_absent(&method, path, &answer, &self.shows);
        openapi::assert_described(&method, path, &answer);
        answer
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let url = format!("http://{}{path}", self.address);
        let mut request = self.http.request(method, url);
        for (name, value) in self.shows.headers() {
            request = request.header(name, value);
        }
        request
    }
}

#[derive(Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl HttpResponse {
    async fn read(response: reqwest::Response) -> Self {
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().await.unwrap(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    /// The body of a 200.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        self.json()
    }

    /// `error` of an answer with this status and code.
    pub fn error(&self, status: u16, code: &str) -> Value {
        let error = self.json()["error"].clone();
        let seen = (self.status, error["code"].as_str());
        assert_eq!(seen, (status, Some(code)), "{}", self.text);
        error
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}
