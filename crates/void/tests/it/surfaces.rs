//! Yes on one surface and no on another, at the same moment: one decision, and both are told the truth.
//! Every pair of surfaces, with the real binary, a Bot API, an ntfy server and a real folder.

mod cards;
mod knowledge;

use std::fs;
use std::sync::Barrier;
use std::time::Duration;

use serde_json::Value;
use void_testkit::eventually_blocking;
use void_testkit::receivers::Receiver;
use void_testkit::telegram::{BotApi, Phone, TOKEN};

use crate::bridge::folder::Bridge;
use crate::lab::{Server, call, word};

const ROUNDS: u64 = if cfg!(feature = "deep") { 500 } else { 20 };
/// So few that messages are not gathered into one.
const ROUNDS_PER_LAB: u64 = 4;
/// A chat takes five messages at once and then one a second; a round has three.
const ROUNDS_PER_CHAT: u64 = 1;
const USER: i64 = 77;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Surface {
    Api,
    Cli,
    Telegram,
    Ntfy,
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Approve,
    Reject,
}

/// What a surface says to whoever used it. Some show it later, by what they show then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Yours,
    SomebodyElses,
    Later,
}

impl Surface {
    const fn name(self) -> &'static str {
        match self {
            Self::Api => "owner-api",
            Self::Cli => "owner-cli",
            Self::Telegram => "owner-telegram-77",
            Self::Ntfy => "owner-ntfy",
            Self::File => "owner-file",
        }
    }
}

struct Stage {
    bridge: Bridge,
    server: Server,
    api: BotApi,
    receiver: Receiver,
}

impl Stage {
    /// Only the surfaces that this pair needs, so that the others cost nothing.
    fn set<const N: usize>(pair: [Surface; N]) -> Self {
        Self::set_on(Bridge::with_decisions(), pair)
    }

    fn set_on<const N: usize>(mut bridge: Bridge, pair: [Surface; N]) -> Self {
        let (api, receiver) = (BotApi::start(), Receiver::start());
        let has = |surface| pair.contains(&surface);
        let mut set = |name: &str, value: String| {
            bridge.lab.environment.push((name.to_owned(), value));
        };
        if has(Surface::Telegram) {
            set("TELEGRAM_API_URL", api.url());
            set("TELEGRAM_BOT_TOKEN", TOKEN.to_owned());
            set("TELEGRAM_ALLOWED_USERS", USER.to_string());
            api.phone(USER).say("hello");
        }
        if has(Surface::Ntfy) {
            set("MY_NTFY", "tk_of_a_test".to_owned());
            set("VOID_PUBLIC_URL", "https://void.example.org".to_owned());
            let settings = bridge.lab.data().join("void.toml");
            let text = fs::read_to_string(&settings).unwrap();
            let ntfy = format!(
                "{text}[notify.ntfy]\nurl = \"{}/topic\"\ntoken = \"env:MY_NTFY\"\napprove = true\n",
                receiver.url()
            );
            fs::write(&settings, ntfy).unwrap();
        }
        let server = bridge.serve();
        Self {
            bridge,
            server,
            api,
            receiver,
        }
    }

    fn phone(&self) -> Phone {
        self.api.phone(USER)
    }

    fn row(&self, id: &str) -> Value {
        let path = format!("/api/proposals/{id}");
        self.server.call("GET", &path, None).1
    }

    /// Everything up to the last tap; what is returned does that.
    fn arm<'a>(
        &'a self,
        surface: Surface,
        wish: Wish,
        row: &Value,
    ) -> Box<dyn FnOnce() -> Told + Send + 'a> {
        let (id, code) = (word(row, "id").to_owned(), word(row, "code").to_owned());
        let verb = if wish == Wish::Approve {
            "approve"
        } else {
            "reject"
        };
        match surface {
            Surface::Api => {
                let body = serde_json::json!({"decision": verb, "digest": row["digest"]});
                Box::new(move || {
                    let path = format!("/api/proposals/{id}/decide");
                    match self.server.call("POST", &path, Some(&body)) {
                        (200, _) => Told::Yours,
                        (409, told) => {
                            assert_eq!(told["error"]["code"], "already_decided", "{told}");
                            assert!(told["error"]["row"]["resolved_by"].is_string(), "{told}");
                            Told::SomebodyElses
                        }
                        other => panic!("{other:?}"),
                    }
                })
            }
            Surface::Cli => Box::new(move || {
                let mut args = vec!["inbox", verb, &code];
                args.extend((wish == Wish::Approve).then_some("--yes"));
                let output = self.bridge.lab.void(&args);
                match output.status.code() {
                    // Ran and nobody checked is 9.
                    Some(0 | 9) => Told::Yours,
                    Some(8) => Told::SomebodyElses,
                    _ => panic!("{output:?}"),
                }
            }),
            Surface::Telegram => {
                let message = eventually_blocking("the card on the phone", || {
                    let messages = self.phone().messages();
                    messages
                        .into_iter()
                        .rev()
                        .find(|message| message.text.contains(&code))
                });
                let (first, second) = match wish {
                    Wish::Approve => ("Approve…", "Yes: "),
                    Wish::Reject => ("Reject", "Not now"),
                };
                let has = |label: &str| {
                    let message = self.phone().message(message.id);
                    message.is_some_and(|message| {
                        message
                            .labels()
                            .iter()
                            .any(|known| known.starts_with(label))
                    })
                };
                eventually_blocking("the first button", || has(first).then_some(()));
                self.phone().tap(message.id, first);
                eventually_blocking("the second button", || has(second).then_some(()));
                let shown = self.phone().message(message.id).unwrap();
                let (_, data) = shown
                    .buttons()
                    .into_iter()
                    .find(|(label, _)| label.starts_with(second))
                    .unwrap();
                Box::new(move || {
                    self.phone().send_tap(message.id, &data);
                    Told::Later
                })
            }
            Surface::Ntfy => {
                let label = if wish == Wish::Approve {
                    "Approve"
                } else {
                    "Reject"
                };
                let action = eventually_blocking("the push", || {
                    let newest = self.receiver.bodies().into_iter().rev();
                    let newest = newest
                        .into_iter()
                        .find(|body| body.to_string().contains(&code))?;
                    let actions = newest["actions"].as_array()?.clone();
                    actions.into_iter().find(|action| action["label"] == label)
                });
                let body: Value = serde_json::from_str(word(&action, "body")).unwrap();
                Box::new(move || {
                    let address = self.bridge.lab.address;
                    let path = "/api/notifications/act";
                    match call(address, "POST", path, "", Some(&body)) {
                        Some((200, _)) => Told::Yours,
                        Some((409, told)) => {
                            assert_eq!(told["error"]["code"], "already_decided", "{told}");
                            Told::SomebodyElses
                        }
                        other => panic!("{other:?}"),
                    }
                })
            }
            Surface::File => {
                self.bridge.wait_for("pending", &id);
                let place = if wish == Wish::Approve {
                    "approved"
                } else {
                    "rejected"
                };
                Box::new(move || {
                    // It may have been moved already: then it lies where the record says.
                    let _ = fs::rename(
                        self.bridge.path("pending", &id),
                        self.bridge.path(place, &id),
                    );
                    Told::Later
                })
            }
        }
    }

    /// What a surface shows once everything has settled.
    fn assert_shown(&self, surface: Surface, row: &Value) {
        let (id, code) = (word(row, "id"), word(row, "code"));
        let approved = word(row, "status") == "executed";
        match surface {
            Surface::Telegram => {
                let words = if approved {
                    "RAN, NOT CONFIRMED"
                } else {
                    "REJECTED"
                };
                eventually_blocking("the phone to show the outcome", || {
                    let messages = self.phone().messages();
                    let message = messages
                        .into_iter()
                        .rev()
                        .find(|message| message.text.contains(code))?;
                    (message.text.contains(words)
                        && message
                            .labels()
                            .iter()
                            .all(|label| !label.starts_with("Yes")))
                    .then_some(())
                });
            }
            Surface::File => {
                let place = if approved { "completed" } else { "rejected" };
                self.bridge.assert_only_in(place, id);
            }
            Surface::Api | Surface::Cli | Surface::Ntfy => {}
        }
    }
}

/// So many rounds of both at once; who says yes changes, and so does who is a little later.
fn race(one: Surface, other: Surface) {
    let mut seed = one.name().len() as u64 * 31 + other.name().len() as u64;
    let mut wins = [0_u32; 2];
    let per_lab = match [one, other].contains(&Surface::Telegram) {
        true => ROUNDS_PER_CHAT,
        false => ROUNDS_PER_LAB,
    };
    for begin in (0..ROUNDS).step_by(usize::try_from(per_lab).unwrap()) {
        let stage = Stage::set([one, other]);
        let mut effects = 0;
        for round in begin..(begin + per_lab).min(ROUNDS) {
            let pair = if round % 2 == 0 {
                [one, other]
            } else {
                [other, one]
            };
            let id = stage.bridge.queue(&stage.server, "risky-one");
            let row = stage.row(&id);
            let yes = stage.arm(pair[0], Wish::Approve, &row);
            let no = stage.arm(pair[1], Wish::Reject, &row);
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let pauses = [(seed >> 33) % 2_000, (seed >> 45) % 2_000].map(Duration::from_micros);
            let together = Barrier::new(2);
            let (said_yes, said_no) = std::thread::scope(|scope| {
                let act = |act: Box<dyn FnOnce() -> Told + Send>, pause: Duration| {
                    together.wait();
                    std::thread::sleep(pause);
                    act()
                };
                let yes = scope.spawn(move || act(yes, pauses[0]));
                let no = scope.spawn(move || act(no, pauses[1]));
                (yes.join().unwrap(), no.join().unwrap())
            });
            let ended = eventually_blocking("a decision and its end", || {
                let row = stage.row(&id);
                matches!(word(&row, "status"), "executed" | "rejected").then_some(row)
            });
            let context = format!("round {round} {pair:?} {said_yes:?} {said_no:?}: {ended}");
            let approved = word(&ended, "status") == "executed";
            let winner = if approved { pair[0] } else { pair[1] };
            assert_eq!(word(&ended, "resolved_by"), winner.name(), "{context}");
            let steps = ended["transitions"].as_array().unwrap();
            let decisions = steps
                .iter()
                .filter(|step| matches!(word(step, "to"), "approved" | "rejected"));
            assert_eq!(decisions.count(), 1, "{context}");
            for (said, is_winner) in [(said_yes, approved), (said_no, !approved)] {
                let expected = if is_winner {
                    Told::Yours
                } else {
                    Told::SomebodyElses
                };
                assert!(said == Told::Later || said == expected, "{context}");
            }
            effects += usize::from(approved);
            assert_eq!(stage.bridge.lab.effects().len(), effects, "{context}");
            for surface in pair {
                stage.assert_shown(surface, &ended);
            }
            wins[usize::from(winner == other)] += 1;
        }
    }
    println!("{one:?} won {} times, {other:?} {} times", wins[0], wins[1]);
}

macro_rules! races {
    ($($name:ident: $one:ident, $other:ident;)*) => {
        $(#[test]
        fn $name() {
            race(Surface::$one, Surface::$other);
        })*
    };
}

races! {
    api_and_cli_decide_once: Api, Cli;
    api_and_telegram_decide_once: Api, Telegram;
    api_and_ntfy_decide_once: Api, Ntfy;
    api_and_file_decide_once: Api, File;
    cli_and_telegram_decide_once: Cli, Telegram;
    cli_and_ntfy_decide_once: Cli, Ntfy;
    cli_and_file_decide_once: Cli, File;
    telegram_and_ntfy_decide_once: Telegram, Ntfy;
    telegram_and_file_decide_once: Telegram, File;
    ntfy_and_file_decide_once: Ntfy, File;
}
