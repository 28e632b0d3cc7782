//! A Bot API and a phone on this machine, to watch the nod without Telegram:
//!
//! ```text
//! cargo run -p void-testkit --example fake-telegram            # prints its address
//! void demo --telegram-base http://127.0.0.1:8081          # prints a link
//! ```
//!
//! Type the link to pair, `tap Approve` to tap a button of the newest message, `tap ID Approve` for an
//! older one; everything else is sent as a message.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::sync::mpsc;
use std::time::Duration;

use void_testkit::telegram::{BotApi, Phone};

const PORT: u16 = 8081;
const USER: i64 = 1;

fn main() {
    let api = BotApi::on(PORT, "");
    println!("The Bot API is at {}; you are user {USER}.", api.url());
    println!(
        "In another terminal: void demo --telegram-base {}",
        api.url()
    );
    let phone = api.phone(USER);
    let (lines, typed) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    let mut shown: BTreeMap<i64, (String, Vec<String>)> = BTreeMap::new();
    loop {
        match typed.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => act(&phone, line.trim()),
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        for message in phone.messages() {
            let now = (message.text.clone(), message.labels());
            if shown.get(&message.id) != Some(&now) {
                println!("\n--- message {}\n{}", message.id, message.text);
                if !now.1.is_empty() {
                    println!("[ {} ]", now.1.join(" ]  [ "));
                }
                shown.insert(message.id, now);
            }
        }
    }
}

fn act(phone: &Phone, line: &str) {
    if line.is_empty() {
        return;
    }
    if line.contains("?start=") {
        return phone.open(line);
    }
    let Some(rest) = line.strip_prefix("tap ") else {
        return phone.say(line);
    };
    let (id, label) = match rest
        .split_once(' ')
        .map(|(id, label)| (id.parse().ok(), label))
    {
        Some((Some(id), label)) => (Some(id), label),
        _ => (phone.messages().last().map(|message| message.id), rest),
    };
    let message = id.and_then(|id| phone.message(id));
    let found = message.as_ref().and_then(|message| {
        let labels = message.labels();
        labels.into_iter().find(|known| known.starts_with(label))
    });
    match (message, found) {
        (Some(message), Some(label)) => _ = phone.tap(message.id, &label),
        _ => println!("there is no such button"),
    }
}
