//! The rows of the floor: as many, as long and in the same tables as Void's for the same operation,
//! from ready-made text. `tests/it/floors.rs` compares them with what Void writes.

use rusqlite::{Connection, params};

/// What the stub channel of the subject answers.
pub(super) const RESULT: &str = r#"{"duration_ms":12,"exit":0,"output":"restarted"}"#;
const REASON: &str = "it does not answer since the upgrade";
const UNVERIFIED: &str = r#"{"reason":"no_check"}"#;
const TAINT: &str = "[]";
const ACTOR: &str = "owner-api";
const DEFINITION_SAFE: &str = r#"{"action":{"host":"local","id":"safe-17","kind":"service_restart","label":"Restart service 17 of the lab","service":"safe17","tier":"safe"},"host":{"address":"local","name":"local"},"risk":"nominal","tier":"safe"}"#;
const DEFINITION_RISKY: &str = r#"{"action":{"id":"risky-17","kind":"scale","label":"Scale service 17 of the lab","node":"local","params":{"n":{"max":1000000000,"min":0,"type":"integer"}},"service":"risky17","tier":"risky","via":"host"},"host":{"address":"local","name":"local"},"risk":"guarded","tier":"risky"}"#;
/// What the record says more when something was asked for, decided, ended.
const CREATED: &str = r#""expires_at":"2030-03-17T17:46:40.000Z","reason":"it does not answer since the upgrade","taint":[]"#;
const DECIDED: &str = r#""approved_by":"owner-api""#;
const ENDED: &str =
    r#""result":{"duration_ms":12,"exit":0,"output":"restarted"},"verification":"unverified""#;
const CATALOGUE: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
const EXEC_DIGEST: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const AT: i64 = 1_900_000_000_000;

const INSERT: &str = "INSERT INTO proposals (id, code, epoch, action_id, label, definition, params, tier, risk, target, \
    digest, exec_digest, requester_kind, requester_id, requester_name, reason, taint, asked_count, created_at, expires_at, \
    status, approved_by, approved_at) \
    VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'owner', '', 'owner', ?12, ?13, 1, ?14, ?14, ?15, ?16, ?17)";
const FACT: &str = "INSERT INTO facts (seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash, audience) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'people')";
const APPROVED: &str = "UPDATE proposals SET status = 'approved', approved_by = 'owner-api', approved_at = ?2 WHERE id = ?1 AND status = 'pending'";
const RUNNING: &str = "UPDATE proposals SET status = 'running', started_at = ?2, ticket_expires_at = ?2, lease_until = ?2 \
    WHERE id = ?1 AND status = 'approved'";
const EXECUTED: &str = "UPDATE proposals SET status = 'executed', ended_by = 'system', ended_at = ?2, result = ?3, \
    verification = 'unverified', verified_at = ?2, verification_detail = ?4 WHERE id = ?1 AND status = 'running'";
const HEADS: &str = "UPDATE heads SET audit_seq = ?1, audit_hash = ?2 WHERE id = 1";

/// One durable step of an operation.
pub(super) enum Step {
    /// A risky wish waits.
    Queue(FloorRequest),
    /// What waited is approved and running.
    Approve(String),
    /// A safe wish is approved by policy and running.
    Start(FloorRequest),
    /// What ran has ended.
    Finish(String, Tier),
}

pub(super) struct FloorRequest {
    pub id: String,
    pub number: u64,
    pub action: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    Safe,
    Risky,
}

impl Tier {
    pub(super) fn of(action: &str) -> Self {
        if action.starts_with("safe") {
            Self::Safe
        } else {
            Self::Risky
        }
    }

    /// What the record says of every wish of this tier.
    const fn detail(self) -> &'static str {
        match self {
            Self::Safe => {
                r#""label":"Restart service 17 of the lab","params":{},"requested_by":"owner","risk":"nominal","target":"host:local/safe17","tier":"safe""#
            }
            Self::Risky => {
                r#""label":"Scale service 17 of the lab","params":{"n":12},"requested_by":"owner","risk":"guarded","target":"node:local/risky17","tier":"risky""#
            }
        }
    }
}

/// Where the numbers stand.
#[derive(Default)]
pub(super) struct Heads {
    seq: i64,
}

impl Heads {
    pub(super) fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        let values = params![self.seq, hash(self.seq)];
        connection.prepare_cached(HEADS)?.execute(values)?;
        Ok(())
    }
}

/// In the order of its number, as ids that begin with the time are.
pub(super) fn id(number: u64) -> String {
    let noise = mixed(number);
    format!(
        "{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}",
        number >> 16,
        number & 0xffff,
        noise & 0xfff,
        (noise >> 12) & 0xfff,
        noise >> 16
    )
}

pub(super) fn write(
    connection: &Connection,
    heads: &mut Heads,
    step: &Step,
) -> rusqlite::Result<()> {
    let mut page = Page { connection, heads };
    match step {
        Step::Queue(wish) => {
            page.insert(wish, None)?;
            page.record(
                &wish.id,
                Tier::Risky,
                "proposal.created",
                "pending",
                CREATED,
            )
        }
        Step::Approve(id) => {
            page.update(APPROVED, id)?;
            page.record(id, Tier::Risky, "proposal.approved", "approved", DECIDED)?;
            page.run(id, Tier::Risky)
        }
        Step::Start(wish) => {
            page.insert(wish, Some("policy"))?;
            page.record(
                &wish.id,
                Tier::Safe,
                "proposal.created",
                "approved",
                DECIDED,
            )?;
            page.record(
                &wish.id,
                Tier::Safe,
                "proposal.approved",
                "approved",
                DECIDED,
            )?;
            page.run(&wish.id, Tier::Safe)
        }
        Step::Finish(id, tier) => {
            page.finish(id)?;
            page.record(id, *tier, "proposal.executed", "executed", ENDED)
        }
    }
}

struct Page<'a> {
    connection: &'a Connection,
    heads: &'a mut Heads,
}

impl Page<'_> {
    fn insert(&self, wish: &FloorRequest, approved_by: Option<&str>) -> rusqlite::Result<()> {
        let FloorRequest { id, number, action } = wish;
        let (tier, risk, reason, status) = match approved_by {
            None => ("risky", "guarded", Some(REASON), "pending"),
            Some(_) => ("safe", "nominal", None, "approved"),
        };
        let (label, definition, params) = match Tier::of(action) {
            Tier::Safe => ("Restart service 17 of the lab", DEFINITION_SAFE, "{}"),
            Tier::Risky => (
                "Scale service 17 of the lab",
                DEFINITION_RISKY,
                r#"{"n":12}"#,
            ),
        };
        self.connection.prepare_cached(INSERT)?.execute(params![
            id,
            // Anywhere in its index, and never twice.
            format!("{:03X}{number:X}", mixed(*number) & 0xfff),
            action,
            label,
            definition,
            params,
            tier,
            risk,
            format!("host:local/{action}"),
            format!(
                "{:016x}{:016x}{EXEC_DIGEST:.32}",
                mixed(*number),
                mixed(number ^ 1)
            ),
            EXEC_DIGEST,
            reason,
            TAINT,
            AT,
            status,
            approved_by,
            approved_by.map(|_| AT),
        ])?;
        Ok(())
    }

    fn run(&mut self, id: &str, tier: Tier) -> rusqlite::Result<()> {
        self.update(RUNNING, id)?;
        self.record(id, tier, "proposal.started", "running", DECIDED)
    }

    fn finish(&self, id: &str) -> rusqlite::Result<()> {
        let values = params![id, AT, RESULT, UNVERIFIED];
        one(self.connection.prepare_cached(EXECUTED)?.execute(values)?)
    }

    fn update(&self, sql: &str, id: &str) -> rusqlite::Result<()> {
        one(self
            .connection
            .prepare_cached(sql)?
            .execute(params![id, AT])?)
    }

    /// An entry of the record.
    fn record(
        &mut self,
        id: &str,
        tier: Tier,
        verb: &str,
        status: &str,
        more: &str,
    ) -> rusqlite::Result<()> {
        self.heads.seq += 1;
        let seq = self.heads.seq;
        let detail = format!(
            r#"{{"action_id":"risky-17","by":"system","code":"7F3K","digest":"{CATALOGUE}","revision":0,"status":"{status}","waited_ms":17,{},{more}}}"#,
            tier.detail()
        );
        let (prev, hash) = (hash(seq - 1), hash(seq));
        let values = params![seq, AT, id, ACTOR, verb, id, detail, CATALOGUE, prev, hash];
        self.connection.prepare_cached(FACT)?.execute(values)?;
        Ok(())
    }
}

const fn one(changed: usize) -> rusqlite::Result<()> {
    if changed == 1 {
        Ok(())
    } else {
        Err(rusqlite::Error::QueryReturnedNoRows)
    }
}

fn hash(number: i64) -> String {
    format!("{number:064x}")
}

/// Spreads numbers evenly (`SplitMix64`), as random codes and digests are.
const fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
