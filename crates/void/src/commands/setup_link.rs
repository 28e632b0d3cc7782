//! `void setup-link`, and how a set-up link is shown wherever one is: as text, and as a QR code for a phone.

use serde_json::json;
use void_api::setup_links::SetupLinkResponse;

use super::Session;
use crate::cli::QrArgs;
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::Output;
use crate::qr::Code;

/// What a terminal has that does not say how wide it is.
const COLUMNS: usize = 80;

pub(super) async fn run(session: &Session<'_>, qr: QrArgs) -> Result<Exit, CommandError> {
    let made = session
        .client()?
        .post("/api/setup-links", &json!({}))
        .await?;
    let output = session.output;
    if output.json {
        output.value(made);
        return Ok(Exit::Done);
    }
    let made: SetupLinkResponse = read(made)?;
    let (url, elsewhere) = (&made.url, &made.elsewhere);
    output.line(url);
    output.note(format!(
        "It signs one browser in, once, until {}.",
        output.times.clock(&made.expires_at)
    ));
    for other in elsewhere.iter().filter(|other| *other != url) {
        output.note(format!("The same from elsewhere: {other}"));
    }
    let listen = format!(
        "VOID_LISTEN=0.0.0.0:{}",
        session.settings.listen.value.port()
    );
    show_code(output, qr, url, elsewhere, &way_out(&listen));
    Ok(Exit::Done)
}

/// What to set so that a phone gets in.
pub(super) fn way_out(listen: &str) -> String {
    format!(
        "For a phone set {listen}, or VOID_PUBLIC_URL to the address of a proxy in front, and start again."
    )
}

/// Draws the link for a phone, where somebody looks at a terminal or asked for it; if that does not go, a sentence
/// says why. The code is as secret as the link, so it goes where the link went and nowhere else.
pub(super) fn show_code(
    output: &Output,
    qr: QrArgs,
    here: &str,
    elsewhere: &[String],
    way_out: &str,
) {
    if qr.no_qr || !(qr.qr || output.is_terminal()) {
        return;
    }
    let Some(link) = elsewhere.first() else {
        let base = here.split("/#").next().unwrap_or_default();
        output.note(format!(
            "No QR code: only this machine opens {base}. {way_out}"
        ));
        return;
    };
    let columns = output.columns().unwrap_or(COLUMNS);
    match Code::of(link) {
        Some(code) if code.columns() <= columns => {
            for line in code.lines(output.is_styled()) {
                output.line(line);
            }
        }
        Some(code) => output.note(format!(
            "No QR code: it takes {} columns, and here are {columns}.",
            code.columns()
        )),
        None => output.note("No QR code: the link is too long for one."),
    }
}
