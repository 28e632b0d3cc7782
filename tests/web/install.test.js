// The page as an app: a manifest that browsers take, and a service worker that keeps the shell of this
// version and nothing of the API.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { debuggerOf, openPage, PHONE, say } from "./browsers.js";
import { demo } from "./labs.js";
import { proxy } from "./proxies.js";
import { until } from "./waiting.js";

describe("the page as an app", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("the manifest is valid, its icon is served, and Chromium would install it", async () => {
    const { context, page } = await openPage(lab, { serviceWorkers: "allow" });
    await page.goto(lab.base);
    const cdp = await debuggerOf(page);
    const { errors, data } = await cdp.send("Page.getAppManifest");
    assert.deepEqual(errors, []);
    const manifest = JSON.parse(data);
    for (const key of ["name", "short_name", "start_url", "scope", "display", "background_color", "theme_color", "icons"]) assert.ok(manifest[key], key);
    for (const icon of manifest.icons) {
      const answer = await fetch(lab.base + icon.src);
      assert.equal(answer.status, 200, icon.src);
      assert.equal(answer.headers.get("content-type"), icon.type);
    }
    const { installabilityErrors } = await cdp.send("Page.getInstallabilityErrors");
    assert.deepEqual(installabilityErrors.filter((/** @type {any} */ { errorId }) => errorId !== "in-incognito"), []);
    await context.close();
  });

  test("the service worker keeps the shell, and never an answer of the API or a page", async () => {
    const { context, page, seen } = await openPage(lab, { serviceWorkers: "allow", width: PHONE });
    await page.goto(`${lab.base}/#/home`);
    await ready(page);
    await page.reload();
    for (const place of ["inbox", "lab", "chat", "audit", "settings"]) {
      await page.goto(`${lab.base}/#/${place}`);
      await page.getByRole("heading", { level: 1, name: say(`nav.${place}`) }).waitFor();
    }
    await page.goto(`${lab.base}/inbox/${lab.facts.waiting}`);
    const kept = await keptPaths(page);
    assert.ok(kept.length > 0, "the shell is kept");
    assert.deepEqual(kept.filter((path) => !path.startsWith("/ui/")), []);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("after an upgrade the old version's files are forgotten and the page works", async () => {
    const version = /\/ui\/(\w+)\/app\.js/.exec(await (await fetch(lab.base)).text())?.[1] ?? "";
    let now = version;
    const way = await proxy(lab.base, (_, body) => body.replaceAll(version, now), (path) => path.replace(`/ui/${now}/`, `/ui/${version}/`));
    const { context, page, seen } = await openPage(lab, { serviceWorkers: "allow", base: way.base });
    try {
      await page.goto(`${way.base}/#/home`);
      await ready(page);
      assert.deepEqual(await page.evaluate(() => caches.keys()), [`void-${version}`]);
      now = "feedc0ffee00";
      await page.reload();
      await until("the new worker has tidied up", async () => (await page.evaluate(() => caches.keys())).join() === `void-${now}`);
      await page.reload();
      await page.getByRole("heading", { level: 1, name: say("nav.home") }).waitFor();
      const kept = await keptPaths(page);
      assert.deepEqual(kept.filter((path) => !path.startsWith(`/ui/${now}/`)), []);
      assert.deepEqual(seen.errors, []);
    } finally {
      await context.close();
      await way.stop();
    }
  });
});

/** @param {any} page */
async function ready(page) {
  await page.getByRole("heading", { level: 1, name: say("nav.home") }).waitFor();
  await until("the service worker is at work", () => page.evaluate(async () => Boolean((await navigator.serviceWorker.getRegistration())?.active)));
}

/** @param {any} page @returns {Promise<string[]>} */
const keptPaths = (page) => page.evaluate(async () => {
  const paths = [];
  for (const name of await caches.keys()) for (const request of await (await caches.open(name)).keys()) paths.push(new URL(request.url).pathname);
  return paths;
});
