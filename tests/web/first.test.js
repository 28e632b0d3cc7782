// A first visit to a Void that has nothing: each page says which file to write, gives something to put into it and
// the command after that, and doing exactly so works. The other two ways of having nothing look otherwise.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { approve, axe, card, DESK, openPage, overflow, PHONE, rewrite, say, settled } from "./browsers.js";
import { LOCAL, runLocally, serve } from "./labs.js";
import { FOLDER } from "./packages.js";

const NARROW = 320;
/** Which file each page is about. */
const PAGES = /** @type {const} */ ({ home: "actions", lab: "services", "lab/actions": "actions" });
const COMMAND_MS = 60_000;

describe("a Void with nothing in it", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  const data = join(FOLDER, "first", "lab(1)&co");
  before(async () => {
    // A folder that a shell has to be told about carefully, and nothing in it but where this machine's list would be.
    await mkdir(data, { recursive: true, mode: 0o700 });
    await writeFile(join(data, "void.toml"), LOCAL);
    lab = await serve({ data, env: { ACTIONS_CONFIG: "", SERVICES_CONFIG: "" } });
  });
  after(() => lab?.stop());

  test("says the file, an example and the next command, light and dark, on a phone and on a desk", async () => {
    for (const width of [NARROW, PHONE, DESK]) {
      const { context, page, seen } = await openPage(lab, { width });
      for (const [place, what] of Object.entries(PAGES)) {
        await page.goto(`${lab.base}/#/${place}`);
        await settled(page, seen);
        const card = page.locator("main .first-steps");
        await card.getByRole("heading", { name: say(`first.${what}`) }).waitFor();
        assert.equal(await card.count(), 1, `${place}: one thing to do`);
        await card.getByText(join(data, `${what}.json`), { exact: true }).waitFor();
        assert.ok(JSON.parse(await card.getByLabel(say("first.example"), { exact: true }).innerText())[what].length === 1);
        assert.match(await card.getByLabel(say("first.command"), { exact: true }).innerText(), / actions lint &&\n.* reload$/);
        assert.equal(await overflow(page), 0, `${place} at ${width} px`);
        for (const button of await card.getByRole("button").all()) {
          const box = await button.boundingBox();
          assert.ok(box && box.height >= 32 && box.width >= 44, `${place} at ${width} px: a button that a finger finds`);
        }
        if (width === NARROW) continue;
        for (const theme of /** @type {const} */ (["light", "dark"])) {
          await page.emulateMedia({ colorScheme: theme });
          assert.deepEqual(await axe(page), [], `${place} ${width} ${theme}`);
        }
      }
      assert.deepEqual(seen.errors, []);
      await context.close();
    }
  });

  test("doing what it says works, and the page shows it by itself", async () => {
    const { context, page, seen } = await openPage(lab);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    /** What a button puts on the clipboard. @param {string} what */
    const copied = async (what) => {
      const button = page.getByRole("button", { name: say("settings.copy_what", { what }), exact: true });
      await button.click();
      await page.getByText(say("settings.copied")).first().waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    /** Follows the steps of the page that is open. */
    const follow = async () => {
      const path = await copied(say("first.path"));
      await writeFile(path, await copied(say("first.example")));
      const command = await copied(say("first.command"));
      await promisify(execFile)("/bin/sh", ["-c", command], { env: { PATH: process.env.PATH, HOME: FOLDER }, timeout: COMMAND_MS });
    };
    await page.goto(`${lab.base}/#/lab`);
    await page.locator(".first-steps").waitFor();
    // A file that is refused changes nothing, and the command says what is wrong with it.
    await writeFile(join(data, "services.json"), "{\"services\": [{}]}");
    const command = await copied(say("first.command"));
    await writeFile(join(data, "actions.json"), "{\"actions\": []}");
    const wrong = await promisify(execFile)("/bin/sh", ["-c", command], { env: { PATH: process.env.PATH, HOME: FOLDER }, timeout: COMMAND_MS }).then(() => "", (error) => `${error.stdout}${error.stderr}`);
    assert.match(wrong, /services\.json.*id/);
    assert.ok(await page.locator(".first-steps").isVisible());

    await follow();
    // The check of the example looks at a port where nobody has to be: what counts is that it is watched.
    await page.locator("main").getByText("caddy", { exact: true }).first().waitFor();
    await page.locator(".first-steps").waitFor({ state: "detached" });
    await page.goto(`${lab.base}/#/home`);
    await page.getByRole("heading", { name: say("first.actions") }).waitFor();
    await follow();
    await page.getByRole("heading", { name: say("first.actions") }).waitFor({ state: "detached" });
    // The file is read; what is left is the machine itself.
    await page.locator(".first-steps").getByRole("heading", { name: say("first.missing") }).waitFor();
    await page.goto(`${lab.base}/#/lab/actions`);
    await page.getByText("Restart caddy", { exact: true }).waitFor();
    // A browser writes down that the stream broke off while the next process took over.
    assert.deepEqual(seen.errors.filter((line) => !/api\/events|net::ERR/.test(line)), []);
    await context.close();
  });

  test("a link for another device has an address that leads here from there, or says that none does", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/settings/sign-in`);
    const make = page.getByRole("button", { name: say("setup_link.make") });
    const link = page.getByLabel(say("setup_link.made"), { exact: true }).locator("pre");
    await make.click();
    await page.getByText(say("setup_link.only_here")).waitFor();
    assert.match(await link.first().innerText(), /^http:\/\/localhost:\d+\/#\/setup\//);
    await page.getByRole("button", { name: say("settings.have_it") }).click();
    const elsewhere = ["http://192.0.2.7:3000/#/setup/x", "http://192.0.2.8:3000/#/setup/x"];
    await rewrite(page, "**/api/setup-links", (made) => ({ ...made, elsewhere }));
    await make.click();
    await page.getByText(elsewhere[1] ?? "", { exact: true }).waitFor();
    assert.equal(await link.first().innerText(), elsewhere[0]);
    assert.equal(await page.getByText(say("setup_link.only_here")).count(), 0);
    await context.close();
  });

  test("nothing to do and nothing known are told apart from nothing set up", async () => {
    const { context, page, seen } = await openPage(lab);
    await page.goto(`${lab.base}/#/inbox`);
    await settled(page, seen);
    const rest = page.locator("main .empty");
    await rest.getByText(say("inbox.quiet")).waitFor();
    assert.equal(await rest.locator(".blue").getAttribute("data-pose"), "resting");
    assert.ok(await rest.locator("time").isVisible(), "when it was last looked at");
    for (const [place, path] of [["lab/actions", "**/api/actions"], ["lab", "**/api/services"]]) {
      await page.route(path, (/** @type {any} */ route) => route.fulfill({ status: 500, json: { error: { code: "store", message: "the store cannot be read" } } }));
      await page.goto(`${lab.base}/#/home`);
      await page.reload();
      await page.goto(`${lab.base}/#/${place}`);
      const unsure = page.locator("main .empty");
      await unsure.getByText("The store cannot be read.").waitFor();
      assert.equal(await unsure.locator(".blue").getAttribute("data-pose"), "unsure");
      assert.ok(await unsure.getByRole("button", { name: say("retry") }).isVisible());
      assert.equal(await page.locator(".first-steps").count(), 0, `${place}: what cannot be read is not called empty`);
    }
    await context.close();
  });
});

describe("a machine that was never set up to run anything", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  const RESTART = { id: "restart-web", label: "Restart web", kind: "service_restart", host: "local", service: "web", tier: "risky" };
  const WATCHED = { services: [{ id: "web", label: "Web", check: { kind: "tcp", address: "127.0.0.1:9" } }] };
  /** What is done of getting started. @param {any} page @returns {Promise<string[]>} */
  const ticked = (page) => page.locator(".checklist .ticked").evaluateAll((/** @type {HTMLElement[]} */ all) => all.map((one) => one.textContent ?? ""));
  const connected = `✓ ${say("setup.lab_connected")}${say("setup.done")}`;
  before(async () => { lab = await serve({ actions: { actions: [RESTART] }, services: WATCHED, settings: LOCAL }); });
  after(() => lab?.stop());

  test("Home names what sets it up, the failed card does, and the chat says it in words", async () => {
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/home`);
    const first = page.locator("main .first-steps");
    await first.getByRole("heading", { name: say("first.missing") }).waitFor();
    const command = await first.getByLabel(say("first.provision_command"), { exact: true }).innerText();
    assert.match(command, / provision local$/);
    assert.ok(command.includes(` --data ${lab.data} `), "it is for this Void, wherever its data is");
    assert.deepEqual(await ticked(page), [`✓ ${say("setup.actions_loaded")}${say("setup.done")}`], "a lab is not called connected beside it");
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);

    const asked = await lab.owner("POST", "/api/actions/restart-web/run", {});
    await page.goto(`${lab.base}/#/inbox/${asked.action_row_id}`);
    await approve(card(page, RESTART.label));
    const next = card(page, RESTART.label).locator(".next-command code");
    await next.waitFor();
    assert.equal(await next.innerText(), command);
    await page.getByText(say("result.next_script")).waitFor();

    await page.goto(`${lab.base}/#/chat`);
    await page.locator("main").getByRole("textbox").fill("why did it fail?");
    await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
    const said = page.locator("main .turn:not(.mine) .said").last();
    await said.getByText(/has no list of what may run there/).waitFor();
    assert.equal(await said.locator("code", { hasText: "provision local" }).innerText(), command);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("once it is set up, nothing more is said about it", async () => {
    await runLocally(lab, { "restart-web": ["/bin/true"] });
    const { context, page, seen } = await openPage(lab);
    await page.goto(`${lab.base}/#/home`);
    await settled(page, seen);
    assert.equal(await page.locator(".first-steps").count(), 0);
    assert.ok((await ticked(page)).includes(connected));
    await context.close();
  });
});
