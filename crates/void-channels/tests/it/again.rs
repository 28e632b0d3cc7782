//! Tickets that name a list, hosts of other versions, and hosts that are busy: the same ticket is sent again only
//! where the host said that it did not start it.

use serde_json::{Value, json};
use void_channels::{Channel as _, Channels, Evidence, Outcome};
use void_domain::freezes::FreezeSwitch;
use void_domain::proposals::{Proposal, State};

use crate::lab::{
    Lab, Listed, answer, channels_with, done, failed, local_config, ssh_config, usual, wait_until,
    within,
};

/// Notes each command in `marks/arrived`, then does what `then` says.
async fn noted(lab: &Lab, name: &str, then: &str) {
    let script = format!(
        "#!/bin/sh\nmarks=\"${{0%/*}}/marks\"\necho \"$SSH_ORIGINAL_COMMAND\" >> \"$marks/arrived\"\n{then}\nexec {}\n",
        lab.sshd.void_act()
    );
    lab.force_script(name, &script).await;
}

/// A `void-act` from before tickets named lists, as the server sees it: its list does not say that they may, and
/// such a ticket is none.
fn from_before(act: &str) -> String {
    let refusal = json!({"v": 1, "id": "stop-it", "ticket": null, "outcome": "refused", "reason": "bad_ticket", "stderr": "the ticket is not a JSON object of p, d, e, a, x and s", "replayed": false, "list": null});
    format!(
        "case \"$SSH_ORIGINAL_COMMAND\" in\n\
         void-list) {act} | sed 's/\"names_list\":true,*//; s/,}}/}}/'; exit ;;\n\
         *v1.*) if printf %s \"${{SSH_ORIGINAL_COMMAND#* v1.}}\" | tr _- /+ | base64 -d 2>/dev/null | grep -q '\"l\":'; then echo '{refusal}'; exit 13; fi ;;\n\
         esac"
    )
}

/// The first words of what came to the host since.
fn words(lab: &Lab, since: usize) -> Vec<String> {
    let arrived = lab.arrived();
    let commands = arrived.get(since..).unwrap_or_default().iter();
    commands
        .map(|command| command.split(' ').next().unwrap().to_owned())
        .collect()
}

fn named_list(command: &str) -> Option<String> {
    let word = command.split(' ').nth(1).unwrap();
    let ticket = void_act::Ticket::decode(word).unwrap();
    ticket.list().map(str::to_owned)
}

/// The machine that Void lives on: `void-act` is a child, behind a script that notes what it is started for.
struct Here {
    lab: Lab,
    channels: Channels,
}

impl Here {
    fn new() -> Self {
        Self::with(&here())
    }

    fn with(listed: &[Listed]) -> Self {
        let lab = Lab::new(listed);
        let program = lab.sshd.path("noted");
        let mut local = local_config(&lab.sshd);
        *local.args.last_mut().unwrap() = program.into_os_string();
        let ssh = ssh_config(&lab.sshd, lab.client.path());
        let channels = channels_with(&lab.catalogue, ssh, local).unwrap();
        let here = Self { lab, channels };
        here.install("");
        here
    }

    fn install(&self, then: &str) {
        let act = self.lab.sshd.path("void-act");
        let script = format!(
            "#!/bin/sh\necho \"$SSH_ORIGINAL_COMMAND\" >> \"${{0%/*}}/marks/arrived\"\n{then}\nexec {} \"$@\"\n",
            act.display()
        );
        self.lab.sshd.install("noted", &script);
    }

    async fn run(&self, id: &str) -> Outcome {
        self.run_with(id, &json!({})).await
    }

    async fn run_with(&self, id: &str, params: &Value) -> Outcome {
        let running = self.lab.running(id, params);
        let permit = self.lab.permit(&running, FreezeSwitch::default());
        within(30, self.channels.execute(permit)).await
    }
}

fn here() -> Vec<Listed> {
    let usual = usual().into_iter();
    usual.map(|listed| listed.on("local")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_fits_is_asked_for_once_and_then_named() {
    let here_now = Here::new();
    let lab = &here_now.lab;
    done(here_now.run("stop-it").await);
    assert_eq!(words(lab, 0), ["void-list", "stop-it"]);
    let first = named_list(&lab.arrived()[1]);
    assert!(first.is_some());
    // From now on a run is one process; a safe one stands by its own entry.
    done(here_now.run("stop-it").await);
    done(here_now.run("start-it").await);
    assert_eq!(words(lab, 2), ["stop-it", "start-it"]);
    assert_eq!(named_list(&lab.arrived()[2]), first);
    assert_eq!(named_list(&lab.arrived()[3]), None);
    // Another list that fits: the ticket that names the old one is refused, and comes again.
    let mut list = lab.list(&here());
    let extra = json!({"id": "more", "argv": ["/bin/true"], "tier": "risky"});
    list["entries"].as_array_mut().unwrap().push(extra);
    lab.write_list(&list);
    done(here_now.run("stop-it").await);
    assert_eq!(words(lab, 4), ["stop-it", "void-list", "stop-it"]);
    assert_ne!(named_list(&lab.arrived()[6]), first);
    assert_eq!(lab.effects().len(), 4);
    // Another entry drifted: the risky one waits, the safe one does not.
    let mut list = lab.list(&here());
    list["entries"][1]["def"] = json!("0".repeat(64));
    lab.write_list(&list);
    let failure = failed(here_now.run("stop-it").await, "drift");
    assert!(
        failure.message.contains("start-it was made for another"),
        "{failure:?}"
    );
    assert_eq!(words(lab, 7), ["stop-it", "void-list"]);
    lab.write_list(&lab.list(&here()));
    done(here_now.run("stop-it").await);
    lab.sshd.write("stop", "", 0o644);
    for id in ["stop-it", "start-it"] {
        failed(here_now.run(id).await, "stopped_on_host");
    }
    assert_eq!(lab.effects().len(), 5);
}

/// A risky action with so many words that its ticket may have no room for the name of a list.
fn wordy() -> Listed {
    let text = json!({"type": "pattern", "pattern": "^[a-z]+$", "max_len": 1024});
    let argv = json!(["@/effect", {"param": "a"}, {"param": "b"}, {"param": "c"}]);
    let params = json!({"a": text, "b": text, "c": text});
    Listed::risky("say-it", argv).params(params).on("local")
}

/// The longest words for it that any ticket has room for.
fn longest(lab: &Lab) -> Value {
    let words =
        |c: usize| json!({"a": "a".repeat(1000), "b": "b".repeat(1000), "c": "c".repeat(c)});
    let fits = |params: &Value| {
        let running = lab.running("say-it", params);
        let ticket = void_domain::permits::Ticket::of(&running).unwrap();
        void_channels::run_command("say-it", &ticket).is_some()
    };
    (1..=1024).rev().map(words).find(fits).unwrap()
}

/// What cannot name the list that it was judged by goes out after a look at the list that is there, as by any other way.
#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_without_room_for_the_list_is_sent_after_a_look_at_it() {
    let listed = [here(), vec![wordy()]].concat();
    let here = Here::with(&listed);
    let lab = &here.lab;
    let (short, longest) = (json!({"a": "x", "b": "x", "c": "x"}), longest(lab));
    done(here.run_with("say-it", &short).await);
    done(here.run_with("say-it", &short).await);
    assert_eq!(words(lab, 0), ["void-list", "say-it", "say-it"]);
    assert!(named_list(&lab.arrived()[2]).is_some());
    done(here.run_with("say-it", &longest).await);
    assert_eq!(words(lab, 3), ["void-list", "say-it"]);
    assert_eq!(named_list(&lab.arrived()[4]), None);
    // Another entry drifted since the list was found to fit.
    let mut list = lab.list(&listed);
    list["entries"][1]["def"] = json!("0".repeat(64));
    lab.write_list(&list);
    let failure = failed(here.run_with("say-it", &longest).await, "drift");
    assert!(
        failure.message.contains("start-it was made for another"),
        "{failure:?}"
    );
    assert_eq!(words(lab, 5), ["void-list"]);
    assert_eq!(lab.effects().len(), 3);
}

/// Whichever question finds it out, asked or sent at once, the answer says what puts it right.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_cannot_be_used_is_said_with_the_command_that_mends_it() {
    let here = Here::new();
    let lab = &here.lab;
    done(here.run("stop-it").await);
    lab.write_list(&json!("no list"));
    for id in ["stop-it", "start-it"] {
        let failure = failed(here.run(id).await, "refused_by_host");
        let command = void_domain::hosts::mending_command(&failure.message);
        assert_eq!(command, Some("void provision local"), "{failure:?}");
    }
    assert_eq!(words(lab, 2), ["stop-it", "start-it"]);
    lab.write_list(&lab.list(&self::here()));
    done(here.run("stop-it").await);
    assert_eq!(lab.effects().len(), 2);
}

/// By SSH a connection may be gone without anybody knowing: the list is asked for each time, and named as well.
#[tokio::test(flavor = "multi_thread")]
async fn by_ssh_the_list_is_asked_for_each_time_and_named() {
    let lab = Lab::new(&usual());
    noted(&lab, "noted", "").await;
    for _ in 0..2 {
        done(lab.run("stop-it").await);
    }
    assert_eq!(
        words(&lab, 0),
        ["void-list", "stop-it", "void-list", "stop-it"]
    );
    assert!(named_list(&lab.arrived()[3]).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_from_before_is_asked_for_its_list_each_time() {
    let lab = Lab::new(&usual());
    noted(&lab, "before", &from_before(&lab.sshd.void_act())).await;
    for _ in 0..2 {
        done(lab.run("stop-it").await);
    }
    assert_eq!(
        words(&lab, 0),
        ["void-list", "stop-it", "void-list", "stop-it"]
    );
    for command in [1, 3] {
        assert_eq!(named_list(&lab.arrived()[command]), None);
    }
    assert_eq!(lab.effects().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_was_put_back_refuses_and_is_asked_again() {
    let here = Here::new();
    let lab = &here.lab;
    done(here.run("stop-it").await);
    let act = format!("{} \"$@\"", lab.sshd.path("void-act").display());
    here.install(&from_before(&act));
    for _ in 0..2 {
        done(here.run("stop-it").await);
    }
    assert_eq!(
        words(lab, 2),
        ["stop-it", "void-list", "stop-it", "void-list", "stop-it"]
    );
    assert_eq!(lab.effects().len(), 3);
}

/// A server from before asks for the list, whatever it finds there, and sends a ticket without it.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_from_before_is_served_as_ever() {
    let lab = Lab::new(&usual());
    let listed = answer(&lab.say("void-list"));
    assert!(listed.list.is_some() && listed.defs.is_some());
    let ran = answer(&lab.say(&lab.command("stop-it")));
    assert_eq!(ran.outcome, void_act::Outcome::Done);
    assert_eq!(lab.effects().len(), 1);
}

/// Answers `busy` as often as a number in `marks/busy` says.
const BUSY: &str = "left=$(cat \"$marks/busy\" 2>/dev/null || echo 0)\n\
     case \"$SSH_ORIGINAL_COMMAND\" in stop-it*) if [ \"$left\" -gt 0 ]; then echo $((left - 1)) > \"$marks/busy\"; \
     echo '{\"v\":1,\"id\":\"stop-it\",\"ticket\":null,\"outcome\":\"refused\",\"reason\":\"busy\",\"stderr\":\"another run holds the journal\",\"replayed\":false,\"list\":null}'; exit 13; fi ;; esac";

fn make_busy(lab: &Lab, times: u32) {
    std::fs::write(lab.sshd.work().join("busy"), times.to_string()).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(lab.sshd.work().join("busy"), mode).unwrap();
}

fn good_for(running: &mut Proposal, seconds: u64) {
    if let State::Running { run, .. } = &mut running.state {
        let lasts = std::time::Duration::from_secs(seconds);
        run.ticket_expires_at = run.started_at.plus(lasts);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_host_is_asked_again_with_the_same_ticket() {
    let lab = Lab::new(&usual());
    noted(&lab, "busy", BUSY).await;
    make_busy(&lab, 3);
    done(within(20, lab.run("stop-it")).await);
    let mut tickets = lab.arrived();
    tickets.retain(|command| command.starts_with("stop-it"));
    assert_eq!(tickets.len(), 4);
    assert!(tickets.iter().all(|ticket| *ticket == tickets[0]));
    assert_eq!(lab.effects().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_stays_busy_starts_nothing_and_that_is_said() {
    let lab = Lab::new(&usual());
    noted(&lab, "busy", BUSY).await;
    make_busy(&lab, 1_000_000);
    let mut running = lab.running("stop-it", &json!({}));
    good_for(&mut running, 16);
    let Outcome::Busy(failure) = within(60, lab.execute(&running)).await else {
        panic!("it is known that it did not start");
    };
    assert_eq!(failure.code, "busy");
    assert!(failure.message.contains("another run holds"), "{failure:?}");
    assert!(lab.arrived().len() >= 3, "{:?}", lab.arrived());
    let sent = lab.arrived().len();
    make_busy(&lab, 0);
    assert!(matches!(
        lab.settle(&running).await,
        Evidence::Failed(failure) if failure.code == "not_started"
    ));
    assert_eq!((lab.arrived().len(), lab.effects().len()), (sent + 1, 0));
}

/// A freeze holds back what waits for a busy host, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_ends_the_asking() {
    let lab = Lab::new(&usual());
    noted(&lab, "busy", BUSY).await;
    make_busy(&lab, 1_000_000);
    let freeze_switch = FreezeSwitch::default();
    let running = lab.running("stop-it", &json!({}));
    let permit = lab.permit(&running, freeze_switch.clone());
    let channels = std::sync::Arc::clone(&lab.channels);
    let task = tokio::spawn(async move { channels.execute(permit).await });
    wait_until("it to be asked again", || lab.arrived().len() > 3).await;
    freeze_switch.pull();
    failed(within(20, task).await.unwrap(), "frozen");
    assert_eq!(lab.effects(), [""; 0]);
}
