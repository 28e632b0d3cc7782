// I19: a foreign page in the owner's own browser, where the owner is signed in, drives nothing: not by
// scripts, forms, streams, pictures or frames, and not under a name that leads to this machine.

import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, test } from "node:test";
import { browser, openPage } from "./browsers.js";
import { ForeignSite } from "./foreign.js";
import { demo } from "./labs.js";
import { until } from "./waiting.js";

describe("foreign pages (I19)", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {ForeignSite} */
  let site;
  /** @type {any} */
  let row;
  before(async () => {
    lab = await demo();
    site = await ForeignSite.start();
    row = await lab.owner("GET", `/api/proposals/${lab.facts.waiting}`);
  });
  after(async () => {
    await lab.stop();
    await site.stop();
  });

  for (const host of ["127.0.0.1", "localhost", "evil.localhost", "evil.example"]) {
    test(`a page of ${host} at another port changes nothing and reads nothing`, async () => {
      const { context, page } = await openPage(lab);
      const head = await lab.head();
      await page.goto(site.at(host, "/attack", ""));
      const read = await page.evaluate(attack, { base: lab.base, id: row.id, code: row.code, digest: row.digest });
      assert.deepEqual(read, [], "nothing could be read");
      await formPosts(page);
      assert.equal(await lab.head(), head);
      assert.equal((await lab.owner("GET", `/api/proposals/${row.id}`)).status, "pending");
      await context.close();
    });
  }

  test("the page and a card cannot be framed", async () => {
    const { context, page } = await openPage(lab);
    const frames = ["/", `/inbox/${row.code}`, `/inbox/${row.id}`].map((path) => `<iframe src="${lab.base}${path}"></iframe><object data="${lab.base}${path}"></object><embed src="${lab.base}${path}">`).join("");
    await page.goto(site.at("evil.localhost", "/frames", frames));
    await page.waitForLoadState("load");
    await until("every frame was tried", () => page.frames().length >= 4);
    await until("every frame was refused", () => page.frames().slice(1).every((/** @type {any} */ frame) => frame.url().startsWith("chrome-error:")));
    await context.close();
  });

  test("a link from another site opens the page, and the cookie stays away from that visit", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(site.at("evil.example", "/link", `<a href="${lab.base}/inbox/${row.code}">See</a>`));
    const [answer] = await Promise.all([page.waitForResponse(`${lab.base}/inbox/${row.code}`), page.getByRole("link").click()]);
    assert.equal(answer.status(), 401, "who came was not said");
    // The page then asks from its own origin, with the cookie, and shows the card; it decides nothing.
    await page.getByRole("heading", { level: 1, name: row.label }).waitFor();
    assert.equal((await lab.owner("GET", `/api/proposals/${row.id}`)).status, "pending");
    await context.close();
  });

  test("a page whose name is bound anew to this machine is refused everywhere", async () => {
    // First the name and the port are the foreign site's; then Void is there, and the page still open.
    const mine = await ForeignSite.start();
    const context = await (await browser()).newContext();
    const page = await context.newPage();
    await page.goto(mine.at("rebind.example", "/wait", ""));
    await mine.stop();
    const bound = await demo({ port: mine.port });
    try {
      const asked = await bound.owner("GET", `/api/proposals/${bound.facts.waiting}`);
      const head = await bound.head();
      const answered = await page.evaluate(async (/** @type {any} */ { id, digest }) => {
        const json = { method: "POST", headers: { "content-type": "application/json" } };
        const asks = ["/", `/inbox/${id}`, "/ui/x/app.js", "/sw.js", "/manifest.webmanifest", "/api/home", "/api/events", "/api/session", "/healthz", "/mcp"].map((path) => fetch(path));
        asks.push(fetch(`/api/proposals/${id}/decide`, { ...json, body: JSON.stringify({ decision: "approve", digest }) }), fetch("/api/session", { ...json, body: '{"token":"x"}' }), fetch("/mcp", { ...json, body: "{}" }));
        return Promise.all(asks.map((ask) => ask.then((answer) => answer.status)));
      }, { id: asked.id, digest: asked.digest });
      assert.deepEqual([...new Set(answered)], [421]);
      assert.equal(await bound.head(), head);
    } finally {
      await bound.stop();
      await context.close();
    }
  });

  /** Forms of every encoding, each into a frame of its own. @param {any} page */
  async function formPosts(page) {
    const paths = [`/inbox/${row.id}`, `/inbox/${row.code}`, `/api/proposals/${row.id}/decide`, "/api/freeze", "/api/session", "/mcp"];
    const kinds = ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"];
    /** @type {string[]} */
    const answered = [];
    page.on("response", (/** @type {any} */ answer) => { if (answer.request().isNavigationRequest() && answer.request().method() === "POST") answered.push(`${new URL(answer.url()).pathname} ${answer.status()}`); });
    await page.evaluate((/** @type {any} */ { base, paths, kinds, digest }) => {
      for (const path of paths) {
        for (const kind of kinds) {
          const frame = Object.assign(document.createElement("iframe"), { name: path + kind });
          const form = Object.assign(document.createElement("form"), { method: "post", action: base + path, enctype: kind, target: path + kind });
          for (const [name, value] of [["digest", digest], ["decision", "approve"], ['{"decision":"approve","x":"', '"}']]) form.append(Object.assign(document.createElement("input"), { name, value }));
          document.body.append(frame, form);
          form.submit();
        }
      }
    }, { base: lab.base, paths, kinds, digest: row.digest });
    await until("every form was answered", () => answered.length === paths.length * kinds.length);
    assert.deepEqual(answered.filter((line) => !/ (403|415)$/.test(line)), []);
  }
});

/** Runs in the foreign page: every way to reach out that needs no click. Tells what it could read. */
async function attack(/** @type {any} */ { base, id, code, digest }) {
  /** @type {string[]} */
  const read = [];
  const decide = JSON.stringify({ decision: "approve", digest });
  const paths = ["/", `/inbox/${code}`, "/api/home", "/api/inbox", `/api/proposals/${id}`, "/api/tokens", "/api/events", "/mcp", "/ui/x/app.js", "/metrics"];
  const bodies = [decide, `decision=approve&digest=${digest}`];
  const kinds = ["application/json", "text/plain", "application/x-www-form-urlencoded"];
  const writes = [`/api/proposals/${id}/decide`, `/inbox/${id}`, "/api/freeze", "/api/tokens", "/api/session", "/mcp"];
  const tries = [];
  for (const mode of /** @type {const} */ (["cors", "no-cors"])) {
    for (const path of paths) {
      tries.push(fetch(base + path, { mode, credentials: "include", signal: AbortSignal.timeout(1500) }).then(async (answer) => {
        const text = answer.type === "opaque" ? "" : await answer.text();
        if (text) read.push(`${mode} ${path}: ${text.slice(0, 80)}`);
      }).catch(() => {}));
    }
    for (const path of writes) {
      for (const kind of kinds) {
        for (const body of bodies) tries.push(fetch(base + path, { method: "POST", mode, credentials: "include", headers: { "content-type": kind }, body }).then((answer) => { if (answer.type !== "opaque") read.push(`POST ${path}`); }).catch(() => {}));
      }
      tries.push(Promise.resolve(navigator.sendBeacon(base + path, new Blob([decide], { type: "text/plain" }))));
    }
    for (const method of ["PUT", "DELETE", "PATCH"]) tries.push(fetch(`${base}/api/freeze`, { method, mode: "cors", credentials: "include" }).then(() => read.push(method)).catch(() => {}));
  }
  tries.push(new Promise((resolve) => {
    const stream = new EventSource(`${base}/api/events`, { withCredentials: true });
    stream.onopen = () => { read.push("EventSource opened"); resolve(null); };
    stream.onerror = () => { stream.close(); resolve(null); };
  }));
  for (const path of ["/api/events", "/mcp", "/"]) {
    tries.push(new Promise((resolve) => {
      const socket = new WebSocket(base.replace("http", "ws") + path);
      socket.onopen = () => { read.push(`WebSocket ${path}`); resolve(null); };
      socket.onerror = () => resolve(null);
    }));
  }
  for (const path of [...paths, `/api/proposals/${id}/card`]) {
    for (const [tag, way] of [["img", "src"], ["script", "src"], ["link", "href"]]) {
      tries.push(new Promise((resolve) => {
        const node = /** @type {any} */ (document.createElement(tag ?? ""));
        if (tag === "link") node.rel = "stylesheet";
        node.onload = () => { read.push(`${tag} ${path}`); resolve(null); };
        node.onerror = () => resolve(null);
        setTimeout(() => resolve(null), 1000);
        node[way ?? ""] = base + path;
        document.body.append(node);
      }));
    }
    for (const rel of ["prefetch", "preload", "prerender", "modulepreload"]) {
      const link = Object.assign(document.createElement("link"), { rel, href: base + path });
      if (rel === "preload") link.as = "fetch";
      document.head.append(link);
    }
  }
  await Promise.all(tries);
  return read;
}

describe("header combinations (I19)", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("Host, Origin, Sec-Fetch-* and the content type decide on every surface of the page", async (t) => {
    const { port } = new URL(lab.base);
    const row = await lab.owner("GET", `/api/proposals/${lab.facts.waiting}`);
    const cookie = await lab.session();
    const head = await lab.head();
    const hosts = [[`127.0.0.1:${port}`, true], [`localhost:${port}`, true], [`evil.example:${port}`, false], [`localhost.evil.example:${port}`, false], ["", false]];
    const surfaces = [["GET", "/"], ["GET", `/inbox/${row.code}`], ["POST", `/inbox/${row.id}`], ["GET", "/ui/x/app.js"], ["GET", "/sw.js"], ["GET", "/manifest.webmanifest"], ["GET", "/api/session"], ["POST", "/api/session"], ["GET", "/api/events"], ["POST", "/mcp"], ["GET", "/mcp"]];
    const visits = [[undefined, undefined], ["navigate", "document"], ["navigate", "iframe"], ["cors", "empty"]];
    let combinations = 0;
    for (const [host, isHostOurs] of hosts) {
      const origins = [[undefined, true], [`http://${host}`, true], ["http://evil.example", false], ["null", false], ["http://127.0.0.1", false]];
      for (const [origin, isOriginOurs] of host === "" ? origins.slice(0, 1) : origins) {
        for (const [site, isSiteOurs] of [[undefined, true], ["same-origin", true], ["none", true], ["same-site", false], ["cross-site", false]]) {
          for (const [mode, dest] of visits) {
            for (const [method, path] of surfaces) {
              const isVisit = method === "GET" && (path === "/" || path?.startsWith("/inbox/")) && mode === "navigate" && dest === "document";
              const isOurs = isHostOurs && isOriginOurs && (isSiteOurs || isVisit);
              const headers = { host, origin, "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest, ...(path === "/mcp" ? {} : { cookie }) };
              const answer = await send(Number(port), /** @type {string} */ (method), /** @type {string} */ (path), headers);
              const said = `${method} ${path} ${JSON.stringify(headers)}: ${answer.status}`;
              const isRefused = ["foreign_origin", "unknown_host"].includes(answer.code);
              // A write that only a cookie vouches for has to show by an origin where it comes from.
              if (isOurs) assert.ok(!isRefused || (method === "POST" && !origin), said);
              else assert.ok(isRefused || (host === "" && answer.status === 400), said);
              assert.ok(!Object.keys(answer.headers).some((name) => name.startsWith("access-control-")), said);
              combinations += 1;
            }
          }
        }
      }
    }
    assert.equal(await lab.head(), head, "nothing was decided by any of them");
    t.diagnostic(`${combinations} combinations of headers`);
    assert.ok(combinations >= 300);
  });

  test("only the form of our own page, with an origin, may send a form, and no other type passes", async () => {
    const { port } = new URL(lab.base);
    const row = await lab.owner("GET", `/api/proposals/${lab.facts.waiting}`);
    const cookie = await lab.session();
    const head = await lab.head();
    const host = `127.0.0.1:${port}`;
    const body = `decision=approve&digest=${row.digest}`;
    for (const origin of [undefined, "null", "http://evil.example", `http://localhost:${port}`, "https://127.0.0.1"]) {
      const answer = await send(Number(port), "POST", `/inbox/${row.id}`, { host, origin, cookie, "content-type": "application/x-www-form-urlencoded" }, body);
      assert.equal(answer.status, 403, String(origin));
    }
    assert.equal(await lab.head(), head);
    for (const [more, status] of /** @type {[Record<string, string>, number][]} */ ([[{}, 401], [{ authorization: `Bearer ${lab.token}` }, 403]])) {
      const answer = await send(Number(port), "POST", `/inbox/${row.id}`, { host, origin: `http://${host}`, "content-type": "application/x-www-form-urlencoded", ...more }, body);
      assert.equal(answer.status, status);
    }
    // Who is known and tries is on the record; nothing else is.
    const [refused] = (await lab.owner("GET", "/api/audit?limit=1")).entries;
    assert.equal(refused.verb, "access.refused");
    const after = await lab.head();
    for (const kind of ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"]) {
      for (const path of ["/api/session", "/mcp", `/api/proposals/${row.id}/decide`]) {
        const answer = await send(Number(port), "POST", path, { host, origin: `http://${host}`, cookie, "content-type": kind }, body);
        assert.equal(answer.status, 415, `${path} ${kind}`);
      }
    }
    assert.equal(await lab.head(), after);
  });
});

/** @param {number} port @param {string} method @param {string} path @param {Record<string, any>} headers @param {string} [body] @returns {Promise<{status: number, code: string, headers: Record<string, any>}>} */
function send(port, method, path, headers, body = "") {
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, method, path, headers: { ...given, ...(body ? { "content-length": Buffer.byteLength(body) } : {}) }, setHost: false }, (answer) => {
      const { statusCode = 0, headers: said } = answer;
      const told = (/** @type {string} */ code) => resolve({ status: statusCode, code, headers: said });
      // What is not refused may be a stream without an end.
      if (/event-stream/.test(String(said["content-type"]))) {
        told("");
        answer.destroy();
        return;
      }
      let text = "";
      answer.on("data", (part) => { text += part; }).on("end", () => told(/"code":"(\w+)"/.exec(text)?.[1] ?? ""));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}
