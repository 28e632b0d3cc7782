//! Answers that never come back (I13): what happened is found in the host's journal, what did not
//! happen never will, and what cannot be known is called unknown.

use std::time::Duration;

use serde_json::json;
use void_channels::Evidence;
use void_domain::freezes::FreezeSwitch;
use void_testkit::processes::{Process, Signal, signal};

use crate::lab::{
    HOST, Lab, Listed, answer, beside, channels_with, done, failed, local_config, no_evidence,
    ssh_config, unknown, usual, wait_until, within,
};

/// Leaves its effect, then waits at the pipe, so that the moment is exact.
fn waiting(id: &str) -> Listed {
    let script = "\"$0\" begun; read _ < \"$1\"; echo late; exit \"$2\"";
    Listed::risky(
        id,
        json!(["/bin/sh", "-c", script, "@/effect", "@/marks/gate", "0"]),
    )
}

fn failing(id: &str) -> Listed {
    let mut listed = waiting(id);
    *listed.argv.as_array_mut().unwrap().last_mut().unwrap() = json!("3");
    listed
}

/// Breaks something between us and the running command.
type Break = fn(&Lab);

const BREAKS: [(&str, Break); 4] = [
    ("sshd's session", |lab| lab.sshd.cut()),
    ("our ssh", |lab| kill(lab.senders("stop-it"))),
    ("the shared connection", |lab| kill(lab.masters())),
    ("all three", |lab| {
        lab.sshd.cut();
        kill(lab.masters());
        kill(lab.senders("stop-it"));
    }),
];

fn kill(processes: Vec<Process>) {
    for process in processes {
        signal(process.pid, Signal::KILL);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_whose_answer_is_lost_is_settled_as_done() {
    for (name, cut) in BREAKS {
        let lab = Lab::new(&[waiting("stop-it")]);
        let gate = lab.sshd.fifo("gate");
        let task = lab.start(&lab.running("stop-it", &json!({})));
        lab.wait_for_effects(1).await;
        cut(&lab);
        // The host has been asked and said that it began.
        wait_until("the question", || {
            lab.sshd.log().matches("Starting session").count() > 2
        })
        .await;
        lab.release(&gate);
        let result = done(within(20, task).await.unwrap());
        assert_eq!(result["stdout"], json!("late\n"), "{name}");
        assert_eq!(result["replayed"], json!(true), "{name}");
        assert_eq!(lab.effects(), ["@/effect|begun|"], "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_whose_answer_is_lost_is_settled_as_failed() {
    let lab = Lab::new(&[failing("stop-it")]);
    let gate = lab.sshd.fifo("gate");
    let task = lab.start(&lab.running("stop-it", &json!({})));
    lab.wait_for_effects(1).await;
    lab.sshd.cut();
    lab.release(&gate);
    let failure = failed(within(20, task).await.unwrap(), "command_failed");
    assert_eq!(failure.result.unwrap()["exit"], json!(3));
    assert_eq!(lab.effects().len(), 1);
}

/// The ticket has reached the machine but not `void-act`, and the connection is gone: the host says
/// that nothing happened, and the ticket that comes late finds the door shut.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_host_never_saw_never_runs_however_late_it_comes() {
    for (name, cut) in BREAKS {
        let lab = Lab::new(&usual());
        let gate = lab.hold("stop-it*").await;
        let running = lab.running("stop-it", &json!({}));
        let task = lab.start(&running);
        lab.wait_for_arrivals(1).await;
        cut(&lab);
        let failure = failed(within(20, task).await.unwrap(), "not_started");
        assert!(failure.message.contains("never will run"), "{failure:?}");
        lab.release(&gate);
        lab.wait_until_quiet().await;
        // Sent once more, word by word.
        lab.force(&lab.sshd.void_act()).await;
        let output = lab.say(&lab.arrived()[0]);
        assert_eq!(output.status.code(), Some(13), "{name}: {output:?}");
        assert_eq!(answer(&output).reason, Some(void_act::Reason::Settled));
        failed(lab.execute(&running).await, "refused_by_host");
        let Evidence::Failed(failure) = lab.settle(&running).await else {
            panic!("it never ran");
        };
        assert_eq!(failure.code, "not_started");
        assert_eq!(lab.effects(), [""; 0], "{name}");
    }
}

/// A host whose wrapper dies before `void-act` is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrapper_that_dies_before_void_act_has_done_nothing() {
    for death in ["kill -9 $$", "exit 255", "exit 1"] {
        let lab = Lab::new(&usual());
        let script = format!(
            "#!/bin/sh\ncase \"$SSH_ORIGINAL_COMMAND\" in stop-it*) {death} ;; esac\nexec {}\n",
            lab.sshd.void_act()
        );
        lab.force_script("dying", &script).await;
        failed(within(20, lab.run("stop-it")).await, "not_started");
        assert_eq!(lab.effects(), [""; 0], "{death}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_gone_after_sending_is_unknown_until_it_is_back() {
    beside(gone_and_back(true), gone_and_back(false)).await;
}

/// `begun` is whether the command was running when the host went away.
async fn gone_and_back(begun: bool) {
    let mut lab = Lab::new(&[waiting("stop-it")]);
    let running = lab.running("stop-it", &json!({}));
    let (gate, task) = if begun {
        let gate = lab.sshd.fifo("gate");
        let task = lab.start(&running);
        lab.wait_for_effects(1).await;
        (gate, task)
    } else {
        let gate = lab.hold("stop-it*").await;
        let task = lab.start(&running);
        lab.wait_for_arrivals(1).await;
        (gate, task)
    };
    lab.sshd.stop();
    let failure = unknown(within(40, task).await.unwrap());
    assert_eq!(failure.code, "connection_lost");
    assert_eq!(no_evidence(lab.settle(&running).await).code, "unreachable");
    lab.sshd.force(&lab.sshd.void_act());
    lab.sshd.restart();
    if begun {
        assert_eq!(lab.settle(&running).await, Evidence::Started);
        lab.release(&gate);
        let result = settled(&lab, &running).await;
        assert_eq!(result["stdout"], json!("late\n"));
    } else {
        let Evidence::Failed(failure) = lab.settle(&running).await else {
            panic!("it never ran");
        };
        assert_eq!(failure.code, "not_started");
        lab.release(&gate);
        lab.wait_until_quiet().await;
    }
    assert_eq!(lab.effects().len(), usize::from(begun));
}

async fn settled(lab: &Lab, running: &void_domain::proposals::Proposal) -> serde_json::Value {
    void_testkit::eventually("the end", || async {
        match lab.settle(running).await {
            Evidence::Done { result } => Some(result),
            _ => None,
        }
    })
    .await
}

/// `void-act` itself is killed: its journal has a start without an end, and nobody can say more.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_a_recorded_end_is_unknown_and_not_repeated() {
    beside(killed_in_the_middle(HOST), killed_in_the_middle("local")).await;
}

async fn killed_in_the_middle(way: &'static str) {
    let lab = Lab::new(&[waiting("stop-it").timeout_s(1).on(way)]);
    lab.sshd.fifo("gate");
    let running = lab.running("stop-it", &json!({}));
    let first = lab.start(&running);
    lab.wait_for_effects(1).await;
    // Whatever made a second permit, it starts nothing.
    let second = lab.start(&running);
    kill(lab.actors());
    for task in [first, second] {
        let failure = unknown(within(60, task).await.unwrap());
        assert_eq!(failure.code, "no_end", "{way}");
    }
    assert_eq!(lab.settle(&running).await, Evidence::Started);
    assert_eq!(lab.effects().len(), 1, "{way}");
}

/// The server's own task is gone, as in a crash: the command goes on, and its end is in the journal.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_nobody_waits_for_any_more_ends_and_is_found() {
    for way in [HOST, "local"] {
        let lab = Lab::new(&[waiting("stop-it").on(way)]);
        let gate = lab.sshd.fifo("gate");
        let running = lab.running("stop-it", &json!({}));
        let task = lab.start(&running);
        lab.wait_for_effects(1).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        wait_until("our ssh to be gone", || lab.senders("stop-it").is_empty()).await;
        lab.release(&gate);
        settled(&lab, &running).await;
        assert_eq!(lab.effects().len(), 1, "{way}");
    }
}

/// `ssh` whose shared connection is gone would make one of its own and send the command once more.
/// Ours cannot: it has no key and knows no host.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_travels_over_the_opened_connection_or_not_at_all() {
    let lab = Lab::new(&usual());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *' stop-it '*) for s in {}/*; do [ -S $s ] && mv $s $s.gone; done ;; esac\n\
         exec /usr/bin/ssh \"$@\"\n",
        lab.run_folder().display()
    );
    let mut config = ssh_config(&lab.sshd, lab.client.path());
    config.program = lab.sshd.install("ssh-without-socket", &script);
    let channels = channels_with(&lab.catalogue, config, local_config(&lab.sshd)).unwrap();
    let running = lab.running("stop-it", &json!({}));
    let permit = lab.permit(&running, FreezeSwitch::default());
    let outcome = within(20, void_channels::Channel::execute(&channels, permit)).await;
    failed(outcome, "not_started");
    // One for the list, one for the question what became of it; none with the command.
    assert_eq!(lab.sshd.logins(), 2, "{}", lab.sshd.log());
    assert_eq!(lab.effects(), [""; 0]);
}

/// A ticket that the host knows with other content says nothing about what its proposal did.
#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_that_the_host_knows_otherwise_is_unknown() {
    let lab = Lab::new(&usual());
    let running = lab.running("stop-it", &json!({}));
    done(lab.execute(&running).await);
    // The database was rolled back to before the claim, and the same proposal is claimed anew.
    let mut again = running.clone();
    if let void_domain::proposals::State::Running { run, .. } = &mut again.state {
        run.ticket_expires_at = run.ticket_expires_at.plus(Duration::from_millis(1));
    }
    let failure = unknown(within(5, lab.execute(&again)).await);
    assert!(failure.message.contains("other content"), "{failure:?}");
    no_evidence(lab.settle(&again).await);
    assert_eq!(lab.effects().len(), 1);
}

/// What answers for the host talks about another ticket, another action, another version.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_about_something_else_is_no_answer() {
    let lab = Lab::new(&usual());
    let other = "00000000-0000-7000-8000-000000000000";
    for (v, id, ours, outcome) in [
        (1, "stop-it", false, "done"),
        (1, "start-it", true, "done"),
        (2, "stop-it", true, "done"),
        (1, "stop-it", false, "refused"),
        (1, "stop-it", true, "unseen"),
        (1, "stop-it", true, "started"),
    ] {
        let running = lab.running("stop-it", &json!({}));
        let proposal = running.id.to_string();
        let ticket = if ours { &*proposal } else { other };
        let answer = json!({"v": v, "id": id, "ticket": ticket, "outcome": outcome, "replayed": false, "list": null});
        let script = format!(
            "#!/bin/sh\ncase \"$SSH_ORIGINAL_COMMAND\" in stop-it*) echo '{answer}'; exit ;; esac\nexec {}\n",
            lab.sshd.void_act()
        );
        lab.force_script("liar", &script).await;
        failed(within(20, lab.execute(&running)).await, "not_started");
        // It was the true void-act that said so, and it keeps its word.
        lab.force(&lab.sshd.void_act()).await;
        let failure = failed(lab.execute(&running).await, "refused_by_host");
        assert!(failure.message.contains("never ran"), "{failure:?}");
    }
    assert_eq!(lab.effects(), [""; 0]);
}
