//! The router made from the tables of routes and pages, and what every request goes through before its handler.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use void_control::lanes;

use crate::app::{App, ServerConfig};
use crate::budgets::Account;
use crate::errors::ApiError;
use crate::pages::PAGES;
use crate::routes::ROUTES;
use crate::table::{AS_A_PAGE, Route};
use crate::{access, fence, metered, takeovers};

/// The router. Every route of the API comes from one table and carries its access rule, every page from
/// another; there is no other way to add one.
pub fn router(config: ServerConfig) -> Router {
    let app = App::new(config);
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
        .layer(middleware::from_fn_with_state(app.clone(), count))
        .layer(middleware::from_fn_with_state(app.clone(), check))
        .with_state(app)
}

/// The fence stands in front of everything, and its headers are on every answer.
async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    match app.shared().fence.check(&request) {
        Ok(()) => fence::with_headers(next.run(request).await),
        Err(error) => fence::with_headers(error.into_response()),
    }
}

async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let pattern = request.extensions().get::<MatchedPath>();
    let route = pattern.map_or("other", MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    app.shared().metrics.count_answer(route, response.status());
    response
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
    State((app, route)): State<(App, &'static Route)>,
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
