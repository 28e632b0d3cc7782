//! What the file bridge has to know: which file a proposal came from, what is offered, what was refused.

use void_domain::bridge::{DroppedDetails, InstanceId, NOTES_MAX, Note, StatusFolder};
use void_store::{StoreError, bridge, proposals};
use void_testkit::proposals::{NOW, pending};

use crate::engines;

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_file_is_found_by_its_name_and_by_its_proposal() {
    for engine in engines::both().await {
        let (created, instance) = (pending(1), InstanceId::parse("deploy-1").unwrap());
        let id = created.proposal.id;
        let details = DroppedDetails {
            image: Some("web:2".into()),
            diff: Some("- a\n+ b \u{1F600}".into()),
            ..DroppedDetails::default()
        };
        let (name, words) = (instance.clone(), details.clone());
        let written = engine.store.write(move |tx| {
            Box::pin(async move {
                proposals::insert(tx, 1, &created).await?;
                bridge::insert(tx, &name, id, &words).await
            })
        });
        written.await.unwrap();
        let read = engine.store.read(move |tx| {
            Box::pin(async move {
                let of = bridge::find_of(tx, id).await?;
                Ok::<_, StoreError>((bridge::find(tx, &instance).await?, of))
            })
        });
        let (named, of) = read.await.unwrap();
        assert_eq!(named, of, "{}", engine.name);
        let found = named.unwrap();
        assert_eq!((found.proposal_id, found.details), (id, Some(details)));
        assert_eq!((found.offered_at, found.notes.len()), (None, 0));
        // Neither a name nor a proposal is taken twice.
        let (twin, other) = (pending(2), InstanceId::parse("deploy-2").unwrap());
        let twice = engine.store.write(move |tx| {
            Box::pin(async move {
                proposals::insert(tx, 1, &twin).await?;
                bridge::insert(tx, &other, id, &DroppedDetails::default()).await
            })
        });
        assert!(
            matches!(twice.await, Err(StoreError::Constraint(_))),
            "{}",
            engine.name
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_holds_its_target_until_it_is_over() {
    for engine in engines::both().await {
        let created = pending(1);
        let (id, target) = (created.proposal.id, created.proposal.subject.target.clone());
        let approved = created.proposal.clone().approve("owner-cli", NOW).unwrap();
        let seen = engine.store.write(move |tx| {
            Box::pin(async move {
                proposals::insert(tx, 1, &created).await?;
                proposals::advance(tx, &approved).await?;
                let mut seen = vec![proposals::is_target_busy(tx, &target).await?];
                bridge::set_offered(tx, id, Some(NOW)).await?;
                seen.push(proposals::is_target_busy(tx, &target).await?);
                seen.push(proposals::is_target_busy(tx, "node:n1/other").await?);
                bridge::set_offered(tx, id, None).await?;
                seen.push(proposals::is_target_busy(tx, &target).await?);
                Ok::<_, StoreError>(seen)
            })
        });
        assert_eq!(
            seen.await.unwrap(),
            [false, true, false, false],
            "{}",
            engine.name
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_moves_are_noted_up_to_a_bound() {
    for engine in engines::both().await {
        let created = pending(1);
        let id = created.proposal.id;
        let noted = engine.store.write(move |tx| {
            Box::pin(async move {
                proposals::insert(tx, 1, &created).await?;
                let mut noted = 0;
                for n in 0..NOTES_MAX + 5 {
                    let note = Note {
                        from: StatusFolder::Approved,
                        to: StatusFolder::Pending,
                        at_ms: 1,
                        note: format!("{n}"),
                    };
                    noted += usize::from(bridge::add_note(tx, id, &note).await?);
                }
                let known = bridge::find_of(tx, id).await?.unwrap();
                Ok::<_, StoreError>((noted, known.notes.len(), known.instance.to_string()))
            })
        });
        assert_eq!(
            noted.await.unwrap(),
            (NOTES_MAX, NOTES_MAX, id.to_string()),
            "{}",
            engine.name
        );
    }
}
