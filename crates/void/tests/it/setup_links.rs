//! The way to a first credential: the link that a start prints, `void setup-link`, and the QR code for a phone.

use std::fs;
use std::net::SocketAddr;

use serde_json::json;
use void_testkit::{eventually_blocking, free_port};

use crate::lab::{Lab, call, word};

const BLACK_ON_WHITE: &str = "\u{1b}[38;5;16;48;5;231m";
const BLOCKS: [char; 3] = ['█', '▀', '▄'];

/// The status of a login with the code of this link.
fn follow(lab: &Lab, url: &str) -> u16 {
    let base = format!("http://localhost:{}/#/setup/", lab.address.port());
    let code = url
        .strip_prefix(&base)
        .unwrap_or_else(|| panic!("{url} does not begin with {base}"));
    let body = json!({"setup": code});
    let answer = call(lab.address, "POST", "/api/session", "", Some(&body));
    answer.unwrap().0
}

#[test]
fn a_first_start_prints_a_link_that_opens_a_session_once() {
    let lab = Lab::new();
    let serving = lab.start(&["serve"]);
    let link = eventually_blocking("the link to be printed", || {
        let lines = serving.lines();
        let mut links = lines.iter().filter_map(|line| line.split_once("hour: "));
        links.next().map(|(_, link)| link.to_owned())
    });
    eventually_blocking("the server to answer", || {
        let ready = call(lab.address, "GET", "/readyz", "", None);
        ready.filter(|(status, _)| *status == 200)
    });
    assert_eq!(follow(&lab, &link), 200);
    assert_eq!(follow(&lab, &link), 401);
}

#[test]
fn a_link_is_printed_at_any_time_for_people_and_programs() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let printed = lab.void(&["setup-link"]);
    let link = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(follow(&lab, link.trim()), 200);
    let said = String::from_utf8(printed.stderr).unwrap();
    assert!(said.contains("once, until "), "{said}");
    let made = lab.json(&["setup-link"], 0);
    assert_eq!(follow(&lab, word(&made, "url")), 200);
    assert!(made["expires_at"].is_string(), "{made}");
    // The code reaches neither the log nor the record.
    let (_, code) = link.trim().split_once("/#/setup/").unwrap();
    assert!(!lab.log().contains(code));
    lab.void(&["audit", "export", lab.path("record").to_str().unwrap()]);
    let record = fs::read_to_string(lab.path("record")).unwrap();
    assert!(record.contains("setup_link.created") && !record.contains(code));
}

/// The lines of a code among others, without what makes them black on white.
fn code_lines(text: &str) -> Vec<String> {
    let plain = text.replace(BLACK_ON_WHITE, "").replace("\u{1b}[0m", "");
    // The border above and below is found by the width of the rest.
    let is_code = |line: &&str| {
        let blocks = |letter: char| letter == ' ' || BLOCKS.contains(&letter);
        line.chars().count() > 20 && line.chars().all(blocks)
    };
    let lines = plain.lines().map(|line| line.trim_end_matches('\r'));
    lines.filter(is_code).map(str::to_owned).collect()
}

/// What a phone reads from the screen.
fn scanned(lines: &[String], is_colored: bool) -> String {
    const SCALE: usize = 4;
    let half = |line: &str, blocks: [char; 2]| -> Vec<bool> {
        let dark = |letter: char| blocks.contains(&letter) == is_colored;
        line.chars().map(dark).collect()
    };
    let rows: Vec<Vec<bool>> = lines
        .iter()
        .flat_map(|line| [half(line, ['█', '▀']), half(line, ['█', '▄'])])
        .collect();
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(
        rows[0].len() * SCALE,
        rows.len() * SCALE,
        |x, y| if rows[y / SCALE][x / SCALE] { 0 } else { 255 },
    );
    let grids = image.detect_grids();
    assert_eq!(grids.len(), 1, "one code in\n{}", lines.join("\n"));
    grids[0].decode().unwrap().1
}

/// A link that was printed.
fn printed_link<'a>(said: &'a str, base: &str) -> &'a str {
    let words = || said.split_whitespace();
    let mut links = words().filter(|word| word.starts_with(base) && word.contains("/#/setup/"));
    links
        .next()
        .unwrap_or_else(|| panic!("no link of {base}: {said}"))
}

#[test]
fn a_phone_reads_the_link_from_the_terminal() {
    let mut lab = Lab::new();
    let public = (
        "VOID_PUBLIC_URL".to_owned(),
        "https://void.example".to_owned(),
    );
    lab.environment.push(public);
    let _server = lab.serve(&[]);
    let seen = lab.on_terminal(&["setup-link"], 80);
    let link = printed_link(&seen, "https://void.example");
    assert!(
        seen.contains(BLACK_ON_WHITE),
        "whatever the terminal's colours"
    );
    let lines = code_lines(&seen);
    assert_eq!(scanned(&lines, true), link);
    assert!(lines.iter().all(|line| line.chars().count() <= 80));
    assert_eq!(
        seen.matches(link).count(),
        1,
        "one address, one link: {seen}"
    );

    // Without colour for a dark terminal.
    lab.environment.push(("NO_COLOR".into(), "1".into()));
    let seen = lab.on_terminal(&["setup-link"], 80);
    assert!(!seen.contains('\u{1b}'), "{seen}");
    let link = printed_link(&seen, "https://void.example");
    assert_eq!(scanned(&code_lines(&seen), false), link);

    let narrow = lab.on_terminal(&["setup-link"], 30);
    assert!(
        narrow.contains("No QR code: it takes 41 columns, and here are 30."),
        "{narrow}"
    );
    for args in [["setup-link", "--no-qr"], ["setup-link", "--json"]] {
        let seen = lab.on_terminal(&args, 80);
        assert!(
            code_lines(&seen).is_empty() && !seen.contains("QR code"),
            "{seen}"
        );
    }
}

#[test]
fn a_code_is_drawn_for_nobody_but_a_person_or_by_request() {
    let mut lab = Lab::new();
    let public = (
        "VOID_PUBLIC_URL".to_owned(),
        "https://void.example".to_owned(),
    );
    lab.environment.push(public);
    // A first start without a terminal, as under systemd: the link, and no code.
    let serving = lab.start(&["serve"]);
    eventually_blocking("the link to be printed", || {
        let lines = serving.lines();
        lines
            .iter()
            .any(|line| line.contains("/#/setup/"))
            .then_some(())
    });
    eventually_blocking("the server to answer", || {
        let ready = call(lab.address, "GET", "/readyz", "", None);
        ready.filter(|(status, _)| *status == 200)
    });
    // A link may have any letters.
    let said = serving.lines();
    let said: Vec<&String> = said
        .iter()
        .filter(|line| !line.contains("/#/setup/"))
        .collect();
    let said = format!("{said:?}");
    assert!(!said.contains("QR") && !said.contains(BLOCKS), "{said}");
    let piped = lab.void(&["setup-link"]);
    let piped = String::from_utf8([piped.stdout, piped.stderr].concat()).unwrap();
    let piped: Vec<&str> = piped
        .lines()
        .filter(|line| !line.contains("/#/setup/"))
        .collect();
    let piped = format!("{piped:?}");
    assert!(!piped.contains("QR") && !piped.contains(BLOCKS), "{piped}");
    let asked = lab.void(&["setup-link", "--qr"]);
    let asked = String::from_utf8(asked.stdout).unwrap();
    let link = printed_link(&asked, "https://void.example");
    assert_eq!(scanned(&code_lines(&asked), false), link);
    for both in [["--qr", "--no-qr"], ["--qr", "--json"]] {
        let refused = lab.void(&[&["setup-link"], &both[..]].concat());
        assert_eq!(refused.status.code(), Some(2), "{both:?}");
    }
}

#[test]
fn a_link_that_only_this_machine_opens_is_not_drawn_and_says_why() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let seen = lab.on_terminal(&["setup-link"], 80);
    assert!(code_lines(&seen).is_empty(), "{seen}");
    let port = lab.address.port();
    let why = format!(
        "No QR code: only this machine opens http://localhost:{port}. For a phone set VOID_LISTEN=0.0.0.0:{port}, or VOID_PUBLIC_URL"
    );
    assert!(seen.contains(&why), "{seen}");
    let asked = lab.void(&["setup-link", "--qr"]);
    let asked = String::from_utf8(asked.stderr).unwrap();
    assert!(asked.contains(&why), "{asked}");
    assert_eq!(lab.json(&["setup-link"], 0)["elsewhere"], json!([]));
}

/// The log of a server that listens on every address, with these settings.
fn log_of_an_open_server(lab: &Lab, settings: &[(&str, &str)]) -> String {
    let mut server = lab.serve(settings);
    server.terminate();
    let log = lab.log();
    fs::remove_file(lab.path("log")).unwrap();
    log
}

#[test]
fn listening_beyond_this_machine_says_what_the_fence_wants() {
    let mut lab = Lab::new();
    let port = free_port();
    let open = format!("0.0.0.0:{port}");
    lab.address = SocketAddr::from(([127, 0, 0, 1], port));
    lab.environment.push(("VOID_LISTEN".into(), open.clone()));
    let log = log_of_an_open_server(&lab, &[]);
    let warning = log
        .lines()
        .find(|line| line.contains("beyond this machine"));
    let warning = warning.unwrap_or_else(|| panic!("{log}"));
    for word in [
        "plain HTTP",
        "every name is refused",
        "VOID_PUBLIC_URL=https://NAME",
        lab.data().join("void.toml").to_str().unwrap(),
    ] {
        assert!(warning.contains(word), "{word}: {warning}");
    }
    assert_eq!(log.matches("beyond this machine").count(), 1);

    // What it says is so: a name is refused, and the setting opens the door for it.
    let named = |host: &str| {
        let by = format!("GET /readyz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let mut stream = std::net::TcpStream::connect(lab.address).unwrap();
        std::io::Write::write_all(&mut stream, by.as_bytes()).unwrap();
        std::io::read_to_string(stream).unwrap()
    };
    let server = lab.serve(&[]);
    let refused = named("void.lan");
    assert!(
        refused.starts_with("HTTP/1.1 421") && refused.contains("VOID_PUBLIC_URL"),
        "{refused}"
    );
    drop(server);
    let url = ("VOID_PUBLIC_URL", "https://void.lan");
    let server = lab.serve(&[url]);
    assert!(named("void.lan").starts_with("HTTP/1.1 200"));
    drop(server);
    fs::remove_file(lab.path("log")).unwrap();
    assert!(!log_of_an_open_server(&lab, &[url]).contains("beyond this machine"));
    // On loopback there is nothing to say.
    let log = log_of_an_open_server(&lab, &[("VOID_LISTEN", &lab.address.to_string())]);
    assert!(!log.contains("beyond this machine"), "{log}");

    // Every address that others can use is in the answer, and none that leads a phone to itself.
    let _server = lab.serve(&[]);
    let made = lab.json(&["setup-link"], 0);
    let here = format!("http://localhost:{port}/#/setup/");
    assert!(word(&made, "url").starts_with(&here), "{made}");
    for other in made["elsewhere"].as_array().unwrap() {
        let other = other.as_str().unwrap();
        assert!(other.contains(&format!(":{port}/#/setup/")), "{other}");
        assert!(
            !other.contains("127.0.0.1") && !other.contains("0.0.0.0"),
            "{other}"
        );
    }
}

#[test]
fn an_address_without_a_port_listens_at_the_usual_one() {
    let lab = Lab::new();
    let listen = |text: &str| {
        let mut command = lab.command();
        command.env("VOID_LISTEN", text);
        command.args(["config", "show", "--json"]);
        let output = command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    for (text, address) in [
        ("0.0.0.0", "0.0.0.0:3000"),
        ("127.0.0.1", "127.0.0.1:3000"),
        ("::", "[::]:3000"),
        ("[::1]", "[::1]:3000"),
        ("[::1]:4000", "[::1]:4000"),
    ] {
        let (code, shown) = listen(text);
        assert_eq!(code, Some(0), "{text}");
        assert!(shown.contains(&format!("\"{address}\"")), "{text}: {shown}");
    }
    for bad in [
        "localhost",
        "0.0.0.0:",
        "0.0.0.0:99999",
        ":3000",
        "3000",
        "[0.0.0.0",
        "::1]",
    ] {
        assert_eq!(listen(bad).0, Some(3), "{bad}");
    }
}
