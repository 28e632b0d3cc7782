// The plan's server of actions: Express, a pool of PostgreSQL connections, one statement at a time, and an effect
// that does nothing. README.md says what it leaves out.
//   node actions.mjs CATALOGUE PORT          PGHOST, PGUSER, PGDATABASE and OWNER_TOKEN say the rest
import fs from "node:fs";
import crypto from "node:crypto";
import express from "express";
import pg from "pg";

const [file, port] = process.argv.slice(2);
const actions = JSON.parse(fs.readFileSync(file, "utf8")).actions;
const byId = new Map(actions.map((action) => [action.id, action]));
const ownerToken = Buffer.from(process.env.OWNER_TOKEN);
const pool = new pg.Pool();
let effects = 0;

await pool.query(`
CREATE TABLE agent_actions (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  action_id    text NOT NULL,
  params       jsonb NOT NULL DEFAULT '{}'::jsonb,
  agent_id     uuid,
  tier         text NOT NULL CHECK (tier IN ('safe','risky')),
  status       text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending','executed','failed','rejected')),
  result       jsonb,
  requested_by jsonb,
  resolved_by  jsonb,
  created_at   timestamptz NOT NULL DEFAULT now(),
  resolved_at  timestamptz
);
CREATE INDEX idx_agent_actions_pending ON agent_actions(status) WHERE status='pending';
CREATE TABLE audit_log (
  id        bigserial PRIMARY KEY,
  at        timestamptz NOT NULL DEFAULT now(),
  actor     jsonb,
  verb      text NOT NULL,
  entity    text NOT NULL,
  entity_id uuid,
  before    jsonb,
  after     jsonb
);`);

async function recordAudit(actor, verb, entity, entityId, before, after) {
  await pool.query(
    `INSERT INTO audit_log(actor, verb, entity, entity_id, before, after) VALUES($1,$2,$3,$4,$5,$6)`,
    [actor, verb, entity, entityId, before, after],
  );
}

const rows = {
  async create({ action_id, tier, params, agent_id, requested_by }) {
    const { rows: [row] } = await pool.query(
      `INSERT INTO agent_actions(action_id, tier, params, agent_id, requested_by)
       VALUES($1,$2,$3,$4,$5) RETURNING *`,
      [action_id, tier, params || {}, agent_id || null, requested_by || null],
    );
    await recordAudit(requested_by, "create", "agent_action", row.id, null, row);
    return row;
  },
  async getById(id) {
    const { rows: [row] } = await pool.query(`SELECT * FROM agent_actions WHERE id=$1`, [id]);
    return row;
  },
  async resolve(id, status, result, resolved_by) {
    const { rows: [row] } = await pool.query(
      `UPDATE agent_actions SET status=$1, result=$2, resolved_by=$3, resolved_at=now()
       WHERE id=$4 AND status='pending' RETURNING *`,
      [status, result || null, resolved_by || null, id],
    );
    if (row) await recordAudit(resolved_by, "update", "agent_action", id, null, row);
    return row;
  },
};

// Where the plan speaks to Proxmox or starts ssh.
async function execute() {
  effects += 1;
  return { ok: true, output: "restarted" };
}

async function run(action, actor, params) {
  if (action.tier === "risky") {
    const row = await rows.create({ action_id: action.id, tier: action.tier, params, requested_by: actor });
    return { queued: true, action_row_id: row.id };
  }
  const result = await execute(action);
  const row = await rows.create({ action_id: action.id, tier: action.tier, requested_by: actor });
  await rows.resolve(row.id, "executed", result, actor);
  return { executed: true, result };
}

async function approve(rowId, owner) {
  const row = await rows.getById(rowId);
  if (!row || row.status !== "pending") throw new Error("not a pending action");
  const action = byId.get(row.action_id);
  if (!action) throw new Error(`unknown action: ${row.action_id}`);
  return rows.resolve(rowId, "executed", await execute(action), owner);
}

function authenticate(request, response, next) {
  const token = Buffer.from((request.get("authorization") ?? "").replace(/^Bearer /, ""));
  if (token.length !== ownerToken.length || !crypto.timingSafeEqual(token, ownerToken)) {
    return response.status(401).json({ error: { code: "unauthorized" } });
  }
  request.actor = { kind: "user", id: null };
  next();
}

const app = express();
app.get("/readyz", (_request, response) => response.json({ ready: true }));
app.get("/bench/effects", (_request, response) => response.send(String(effects)));
app.use(express.json());
app.use("/api", authenticate);
app.get("/api/actions", (_request, response) => response.json({ actions }));
app.post("/api/actions/:id/run", async (request, response) => {
  const action = byId.get(request.params.id);
  if (!action) return response.status(404).json({ error: { code: "unknown_action" } });
  response.json(await run(action, request.actor, request.body.params));
});
app.post("/api/actions/pending/:rowId/approve", async (request, response) => {
  response.json(await approve(request.params.rowId, request.actor));
});
// Connections that wait for their turn in a comparison stay open.
app.listen(Number(port), "127.0.0.1").keepAliveTimeout = 600_000;
