//! The application: what handlers share, and the router made from the table.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use void_agent::turns::Talk;
use void_control::{Control, lanes};

use crate::budgets::{Account, Budgets};
use crate::doctor::Doctor;
use crate::errors::ApiError;
use crate::fence::Fence;
use crate::first_steps::FirstSteps;
use crate::metrics::Metrics;
use crate::pages::PAGES;
use crate::rate_limits::RateLimits;
use crate::routes::ROUTES;
use crate::table::{AS_A_PAGE, Route};
use crate::{access, fence, metered, metrics, takeovers};

pub struct ServerConfig {
    pub control: Control,
    pub talk: Talk,
    /// `https://void.example.org`, if the owner reaches Void by a name of their own.
    pub public_url: Option<String>,
    /// Further names by which Void may be addressed.
    pub allowed_hosts: Vec<String>,
    /// What the listener is bound to.
    pub listens_on: SocketAddr,
    pub first_steps: FirstSteps,
    pub doctor: Doctor,
}

#[derive(Clone)]
pub struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub control: Control,
    pub talk: Talk,
    pub public_url: Option<String>,
    pub listens_on: SocketAddr,
    pub first_steps: FirstSteps,
    pub fence: Fence,
    pub doctor: Doctor,
    /// Held while the record is walked.
    pub walks: tokio::sync::Mutex<()>,
    /// Held while the doctor looks. One of its own: the doctor has the record walked.
    pub looks: tokio::sync::Mutex<()>,
    pub rate_limits: RateLimits,
    pub budgets: Budgets,
    pub metrics: Metrics,
}

impl App {
    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    pub(crate) fn control(&self) -> &Control {
        &self.0.control
    }

    pub(crate) fn talk(&self) -> &Talk {
        &self.0.talk
    }
}

/// The router. Every route of the API comes from one table and carries its access rule, every page from
/// another; there is no other way to add one.
pub fn router(config: ServerConfig) -> Router {
    let metrics = Metrics::start(&config.control);
    let token_budgets = config.control.token_budgets();
    let app = App(Arc::new(Shared {
        control: config.control,
        talk: config.talk,
        fence: Fence::new(config.public_url.as_deref(), &config.allowed_hosts),
        doctor: config.doctor,
        walks: tokio::sync::Mutex::default(),
        looks: tokio::sync::Mutex::default(),
        rate_limits: RateLimits::default(),
        budgets: Budgets::new(token_budgets, metrics.held_back()),
        public_url: config.public_url,
        listens_on: config.listens_on,
        first_steps: config.first_steps,
        metrics,
    }));
    let mut router: Router<App> = Router::new();
    for route in ROUTES {
        let guard = middleware::from_fn_with_state((app.clone(), route), guarded);
        router = router.route(route.path, (route.handler)().layer(guard));
    }
    for page in PAGES {
        let guard = middleware::from_fn_with_state((app.clone(), &AS_A_PAGE), guarded);
        router = router.route(page.path, (page.handler)().layer(guard));
    }
    router
        .fallback(|| async { ApiError::not_found("there is nothing at this address") })
        .method_not_allowed_fallback(|| async { ApiError::method_not_allowed() })
        .layer(middleware::from_fn_with_state(app.clone(), metrics::count))
        .layer(middleware::from_fn_with_state(app.clone(), fence::check))
        .with_state(app)
}

/// Runs the handler within what its caller may use up.
async fn answer(app: &App, route: &Route, request: Request, next: Next) -> Response {
    let budgets = &app.shared().budgets;
    let Some(account) = request.extensions().get::<Arc<Account>>().cloned() else {
        // Whoever shows nothing asks the store as a stranger.
        return budgets.strangers_lane().run(next.run(request)).await;
    };
    if account.is_owner() {
        return next.run(request).await;
    }
    let opened = budgets.takes_answers(&account);
    let _open = match opened.and_then(|()| budgets.open(&account)) {
        Ok(open) => open,
        Err(error) => return error.into_response(),
    };
    let waits = route.query.iter().any(|parameter| parameter.name == "wait");
    let _turn = match fence::is_read(request.method()) && !waits {
        true => account.read_turn().await,
        false => None,
    };
    let request = request.map(|body| metered::upload(budgets, &account, body));
    let response = lanes::run_in(account.lane(), next.run(request)).await;
    let is_stream = takeovers::is_endless(&response) || fence::is_event_stream(response.headers());
    if !is_stream {
        return metered::meter(budgets, &account, response);
    }
    match budgets.stream(&account) {
        Ok(counted) => metered::keep(response, counted),
        Err(error) => error.into_response(),
    }
}

async fn guarded(
    axum::extract::State((app, route)): axum::extract::State<(App, &'static Route)>,
    mut request: Request,
    next: Next,
) -> Response {
    request.extensions_mut().insert(route);
    // Asking the store takes room that a request which waits (a node's, a stream's) gives back.
    let admitted = Box::pin(access::admit(&app, route, request)).await;
    let response = match admitted {
        Ok((request, kept)) => {
            let mut response = answer(&app, route, request, next).await;
            if let Some(cookie) = kept {
                // A handler that ends the session has the last word about its cookie.
                let headers = response.headers_mut();
                headers.entry(header::SET_COOKIE).or_insert(cookie);
            }
            response
        }
        Err(error) => error.into_response(),
    };
    let is_held_back = response.headers().contains_key(header::RETRY_AFTER);
    if is_held_back && response.status() == StatusCode::TOO_MANY_REQUESTS {
        app.shared().budgets.pause().await;
    }
    response
}
