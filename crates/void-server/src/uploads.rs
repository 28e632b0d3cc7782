//! Files as they are sent: raw bytes, larger than any other body, on the routes that say so and nowhere else. No form and no
//! foreign page can send this content type without being asked first whether it may.

use std::time::Duration;

use axum::http::{HeaderMap, Method, header};

pub(crate) const MEDIA_TYPE: &str = "application/octet-stream";
/// How many files are under way at once, each in memory; the next waits, and is not read meanwhile.
pub(crate) const UPLOADS_AT_ONCE_MAX: usize = 4;
/// A file that trickles in slower than this is not waited for.
pub(crate) const UPLOAD_TIMEOUT: Duration = Duration::from_secs(120);

/// The last words of the paths that take a file: `POST /api/spaces/{id}/…`.
const TAKES_FILES: [&str; 3] = ["attachments", "refs/file", "import/karakeep"];

/// Whether a route takes raw bytes.
pub(crate) fn takes_files(method: &Method, path: &str) -> bool {
    let below = path.strip_prefix("/api/spaces/");
    let words = below.and_then(|below| below.split_once('/'));
    *method == Method::POST && words.is_some_and(|(_, words)| TAKES_FILES.contains(&words))
}

/// Whether the body is called raw bytes, and nothing else beside it.
pub(crate) fn is_file(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return false;
    };
    kind.as_bytes().eq_ignore_ascii_case(MEDIA_TYPE.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::{ROUTES, Route};

    #[test]
    fn the_routes_that_take_files_are_those_that_say_so() {
        let takes = |route: &&Route| takes_files(&route.method.parse().unwrap(), route.path);
        let taking = ROUTES.iter().filter(takes).map(|route| route.operation);
        let mut taking: Vec<&str> = taking.collect();
        taking.sort_unstable();
        assert_eq!(taking, ["addAttachment", "importKarakeep", "keepFile"]);
        let post = Method::POST;
        for path in [
            "/api/spaces//x/attachments",
            "/api/spaces/x/attachments/",
            "/api/attachments",
        ] {
            assert!(!takes_files(&post, path), "{path}");
        }
    }
}
