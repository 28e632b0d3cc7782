//! Freezes that could not be recorded: nothing ends them but the owner, or a recorded one that has no end either.

use std::task::Poll;
use std::time::Duration;

use void_control::Ctx;
use void_control::freezes::{self, FreezeError};
use void_control::proposals::Proposed;
use void_domain::actors::Surface;
use void_domain::freezes::{Freeze, Frozen};
use void_domain::policy::Refusal;
use void_testkit::eventually;

use crate::callers::{agent, owner, owner_on};
use crate::planes::{Engine, Plane};
use crate::requests::request;

stories!(
    an_unrecorded_freeze_outlasts_recorded_ones_with_an_end,
    an_unrecorded_freeze_gives_way_to_the_owner_with_proof,
    a_freeze_whose_caller_has_gone_holds_though_it_cannot_be_recorded,
);

const HOUR: Duration = Duration::from_secs(60 * 60);

impl Plane {
    async fn freeze_as(&self, ctx: &Ctx, lasts: Option<Duration>) -> Result<Frozen, FreezeError> {
        let ctx = ctx.clone();
        let frozen =
            self.inside(async move |control, _| freezes::freeze(&control, &ctx, None, lasts).await);
        frozen.await.map(|freeze| match freeze {
            Freeze::Frozen(frozen) => frozen,
            Freeze::Thawed => panic!("it is not frozen"),
        })
    }

    async fn freeze_in_force(&self) -> Freeze {
        let current = self.inside(async |control, _| freezes::current(&control).await);
        current.await.unwrap()
    }

    /// From now on the database takes no freeze.
    fn refuse_freezes(&self) {
        self.edit(match self.engine {
            Engine::Sqlite => {
                "CREATE TRIGGER odd BEFORE UPDATE ON freezes BEGIN SELECT RAISE(ABORT, 'no'); END;"
            }
            Engine::Postgres(_) => {
                "CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$; \
                 CREATE TRIGGER odd BEFORE UPDATE ON freezes EXECUTE FUNCTION odd();"
            }
        });
    }

    fn accept_freezes(&self) {
        self.edit(match self.engine {
            Engine::Sqlite => "DROP TRIGGER odd;",
            Engine::Postgres(_) => "DROP TRIGGER odd ON freezes; DROP FUNCTION odd();",
        });
    }

    /// The owner freezes everything without an end, and that is not on the record.
    async fn freeze_unrecorded(&self) {
        self.refuse_freezes();
        let refused = self.freeze_as(&owner(), None).await;
        assert!(
            matches!(refused, Err(FreezeError::Unrecorded(_))),
            "{refused:?}"
        );
        self.accept_freezes();
    }
}

fn is_unrecorded(frozen: &Frozen) -> bool {
    let reason = frozen.reason.as_deref().unwrap_or_default();
    reason.contains("could not be recorded") && frozen.until.is_none()
}

async fn an_unrecorded_freeze_outlasts_recorded_ones_with_an_end(plane: &mut Plane) {
    plane.start().await;
    plane.freeze_as(&owner(), Some(HOUR)).await.unwrap();
    plane.freeze_unrecorded().await;
    // The one on the record stays, then it gets a later end: both end by themselves.
    let on_the_phone = owner_on(
        Surface::Telegram {
            user: 7,
            may_approve: true,
        },
        None,
    );
    for (ctx, lasts) in [(agent("blue"), None), (on_the_phone, Some(2 * HOUR))] {
        let frozen = plane.freeze_as(&ctx, lasts).await.unwrap();
        assert!(is_unrecorded(&frozen), "{frozen:?}");
        let shown = plane.freeze_in_force().await;
        assert_eq!(shown, Freeze::Frozen(frozen));
    }
    assert_eq!(plane.audited("freeze.lengthened").await.len(), 1);
    plane.pass(3 * HOUR);
    assert_eq!(plane.refused(&owner(), "touch-a").await.0, Refusal::Frozen);
    // This one has no end: it says the same, and on the record.
    let frozen = plane.freeze_as(&agent("blue"), None).await.unwrap();
    assert_eq!(
        (frozen.by.as_str(), frozen.until),
        ("agent-blue", None),
        "{frozen:?}"
    );
    assert_eq!(plane.freeze_in_force().await, Freeze::Frozen(frozen));
    assert_eq!(plane.refused(&owner(), "touch-a").await.0, Refusal::Frozen);
    plane.thaw().await;
    plane.run(&owner(), "touch-a").await;
}

async fn an_unrecorded_freeze_gives_way_to_the_owner_with_proof(plane: &mut Plane) {
    plane.start().await;
    plane.freeze_unrecorded().await;
    let frozen = plane.freeze_as(&owner(), Some(HOUR)).await.unwrap();
    assert!(frozen.until.is_some() && !is_unrecorded(&frozen));
    assert_eq!(plane.freeze_in_force().await, Freeze::Frozen(frozen));
    assert_eq!(plane.refused(&owner(), "touch-a").await.0, Refusal::Frozen);
    plane.pass(HOUR);
    // The next sweep lets go of the switch.
    eventually("it to go on", || async {
        let asked = plane.propose(&owner(), request("touch-a")).await;
        matches!(asked, Ok(Proposed::Started(_))).then_some(())
    })
    .await;
}

async fn a_freeze_whose_caller_has_gone_holds_though_it_cannot_be_recorded(plane: &mut Plane) {
    plane.start().await;
    plane.refuse_freezes();
    let is_pending = plane.inside(async |control, _| {
        let ctx = owner();
        let mut freezing = Box::pin(freezes::freeze(&control, &ctx, None, None));
        std::future::poll_fn(|cx| Poll::Ready(freezing.as_mut().poll(cx).is_pending())).await
    });
    assert!(is_pending.await, "its caller is gone before it ends");
    eventually("it to hold", || async {
        match plane.freeze_in_force().await {
            Freeze::Frozen(frozen) => is_unrecorded(&frozen).then_some(()),
            Freeze::Thawed => None,
        }
    })
    .await;
    plane.accept_freezes();
    assert_eq!(plane.refused(&owner(), "touch-a").await.0, Refusal::Frozen);
    plane.thaw().await;
    plane.run(&owner(), "touch-a").await;
}
