// Makes the pictures of the README: real pages of the rehearsal lab, always of the same size.

import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { closeBrowser, closePages, card, openPage, PHONE, say, settled } from "./browsers.js";
import { demo } from "./labs.js";
import { PICTURES } from "./packages.js";
import { until } from "./waiting.js";

const BYTES_MAX = 120 * 1024;
const WIDE = { width: 1100, height: 700 };
const STOP = "Stop iVentoy (rehearsal)";

await mkdir(PICTURES, { recursive: true });
const lab = await demo();
try {
  await lab.owner("POST", "/api/actions/restart-jellyfin/run", { reason: "it stutters" });
  const { conversation_id: conversation } = await lab.owner("GET", "/api/agents/little-blue/conversation");
  await lab.owner("POST", `/api/conversations/${conversation}/messages`, { text: "why is caddy down?" });
  await until("she has answered", async () => (await lab.owner("GET", "/api/agents/little-blue/conversation")).messages.at(-1)?.turn?.status === "done");
  await take("home", { ...WIDE, theme: "light", kept: { "chat-folded": "yes" } }, "home");
  await take("card", { width: PHONE, theme: "dark" }, `inbox/${lab.facts.waiting}`, async (page) => {
    await card(page, STOP).getByRole("button", { name: say("card.approve"), exact: true }).click();
    await page.getByRole("button", { name: say("card.yes") }).click({ trial: true });
  });
  await take("chat", { width: PHONE, theme: "light" }, "chat");
} finally {
  await closePages();
  await closeBrowser();
  await lab.stop();
}

/** @param {string} name @param {any} how @param {string} place @param {(page: any) => Promise<void>} [act] */
async function take(name, how, place, act = async () => {}) {
  const { page, seen } = await openPage(lab, how);
  await page.goto(`${lab.base}/#/${place}`);
  await settled(page, seen);
  await page.locator(".live-dot", { hasText: say("live.live") }).waitFor();
  await act(page);
  const path = join(PICTURES, `${name}.png`);
  await page.screenshot({ path, animations: "disabled" });
  const { size } = await stat(path);
  console.log(`${path}: ${Math.round(size / 1024)} KB`);
  if (size > BYTES_MAX) throw new Error(`${path} is larger than ${BYTES_MAX} bytes`);
}
