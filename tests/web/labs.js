// The real program: a rehearsal lab, or a server with files of a test's own. Each has its own folders and
// is ended by its process id.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { FOLDER, VOID } from "./packages.js";
import { until } from "./waiting.js";

const START_MS = 20_000;
const STOP_MS = 10_000;
/** The server writes too. */
const ALTER_MS = 5000;

/** @typedef {Awaited<ReturnType<typeof demo>>} Lab */

/** The rehearsal lab, with the link that it prints. @param {{telegram?: string, port?: number}} [how] */
export async function demo(how = {}) {
  const folder = await mkdtemp(join(FOLDER, "demo-"));
  const more = how.telegram ? ["--telegram-base", how.telegram] : [];
  const running = run(["demo", "--port", String(how.port ?? 0), "--json", ...more], { TMPDIR: folder });
  const facts = JSON.parse(await running.firstLine());
  const token = (await readFile(join(facts.data, "owner.token"), "utf8")).trim();
  // By the address, so that no resolver is asked; the printed link says localhost, where passkeys work.
  return lab(running, `http://127.0.0.1:${new URL(facts.url).port}`, token, facts);
}

/**
 * A server with a catalogue and services of one's own, none if left out. `data` and `port` let it start
 * again where it was.
 * @param {{actions?: any, services?: any, env?: Record<string, string>, settings?: string, data?: string, port?: number}} [how]
 */
export async function serve(how = {}) {
  const data = how.data ?? await mkdtemp(join(FOLDER, "serve-"));
  await mkdir(data, { recursive: true, mode: 0o700 });
  if (!how.data) {
    await writeFile(join(data, "actions.json"), JSON.stringify(how.actions ?? { actions: [] }));
    await writeFile(join(data, "services.json"), JSON.stringify(how.services ?? { services: [] }));
    if (how.settings) await writeFile(join(data, "void.toml"), how.settings);
  }
  const env = { ACTIONS_CONFIG: join(data, "actions.json"), SERVICES_CONFIG: join(data, "services.json"), VOID_DATA: data, TMPDIR: data, ...how.env };
  const running = run(["serve", "--listen", `127.0.0.1:${how.port ?? 0}`], env);
  const line = await running.firstLine();
  const base = /http:\/\/\S+/.exec(line)?.[0] ?? "";
  const token = (await readFile(join(data, "owner.token"), "utf8")).trim();
  return lab(running, new URL(base).origin, token, { data, url: base, waiting: null, telegram: null });
}

/** @param {string[]} args @param {Record<string, string>} env */
function run(args, env) {
  const { PATH = "", HOME = "", VOID_UI_DIR } = process.env;
  const child = spawn(VOID, args, { env: { PATH, HOME, ...(VOID_UI_DIR ? { VOID_UI_DIR } : {}), ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (part) => { out += part; });
  child.stderr.on("data", (part) => { err += part; });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return {
    firstLine: async () => {
      await until("the program says where it is", () => out.includes("\n") || child.exitCode !== null, START_MS);
      if (!out.includes("\n")) throw new Error(`void ${args.join(" ")} ended: ${err}`);
      return out.slice(0, out.indexOf("\n"));
    },
    /** @param {NodeJS.Signals} signal */
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended;
      clearTimeout(late);
    },
    said: () => err,
  };
}

/** @param {ReturnType<typeof run>} running @param {string} base @param {string} token @param {any} facts */
function lab(running, base, token, facts) {
  /** The cookie of the one session that the tests' pages share, by host. @type {Map<string, Promise<string>>} */
  const sessions = new Map();
  const owner = caller(base, token);
  return {
    base, token, facts,
    data: String(facts.data),
    /** Set while the program prints one: the link that signs a browser in. */
    setupLink: /#\/setup\//.test(facts.url) ? String(facts.url) : null,
    owner,
    /** Somebody who may look and ask. @param {string} name @param {string[]} [capabilities] */
    agent: async (name, capabilities = ["read", "act"]) => {
      const made = await owner("POST", "/api/tokens", { kind: "agent", name, capabilities });
      return caller(base, made.token);
    },
    /** @param {string} [at] the address by which a page comes */
    session: (at = base) => {
      const known = sessions.get(at) ?? signIn(at, token);
      sessions.set(at, known);
      return known;
    },
    head: async () => (await owner("GET", "/api/status")).audit_head,
    stop: () => running.end("SIGINT"),
    kill: () => running.end("SIGKILL"),
    said: running.said,
  };
}

/** @param {string} base @param {string} token */
async function signIn(base, token) {
  const answer = await fetch(`${base}/api/session`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token }) });
  if (!answer.ok) throw new Error(`signing in: ${answer.status} ${await answer.text()}`);
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

/** Calls the API with a token and expects it to work. @param {string} base @param {string} token */
export function caller(base, token) {
  /** @param {string} method @param {string} path @param {any} [body] */
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const answer = await fetch(base + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  };
}

/** The settings of a lab whose host `local` is this machine, with the list that `runLocally` writes. */
export const LOCAL = '[local]\nlist = "list.json"\ntrust_own_list = true\n';

/**
 * Lets actions of the host `local` run here, each as one program.
 * @param {Lab} lab
 * @param {Record<string, string[]>} programs by action
 */
export async function runLocally(lab, programs) {
  const { actions } = await lab.owner("GET", "/api/actions");
  const entries = Object.entries(programs).map(([id, argv]) => {
    const { tier, exec_digest: def } = actions.find((/** @type {any} */ action) => action.id === id);
    return { id, argv, tier, def };
  });
  await writeFile(join(lab.data, "list.json"), JSON.stringify({ version: 1, host: "local", stop_file: join(lab.data, "stop"), entries }), { mode: 0o600 });
}

/**
 * Changes what the lab has stored, as time or a crash would, while it runs.
 * @param {Lab} lab
 * @param {string} sql
 * @param {...(string | number)} values
 */
export function alter(lab, sql, ...values) {
  const database = new DatabaseSync(join(lab.data, "void.db"), { timeout: ALTER_MS });
  try {
    if (!database.prepare(sql).run(...values).changes) throw new Error(`nothing was changed by ${sql}`);
  } finally {
    database.close();
  }
}

/** A port that was free a moment ago. @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
