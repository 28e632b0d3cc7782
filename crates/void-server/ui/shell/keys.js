// @ts-check
// Keys: few, shown by `?`, and off if the owner wants. No key decides anything.

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { sheet } from "../parts/sheets.js";
import { goTo } from "./router.js";
import { shortcutsOn } from "./settings.js";

/** What `g` and a letter open. @type {Record<string, string>} */
const PLACES = {
  h: "#/home",
  i: "#/inbox",
  l: "#/lab",
  c: "#/chat",
  k: "#/knowledge",
  a: "#/agents",
  u: "#/audit",
  s: "#/settings",
};
const SECOND_KEY_MS = 1200;

/** @type {Record<string, () => unknown>} */
let ofPage = {};
let prefix = 0;

/** @param {Record<string, () => unknown>} [keys] */
export function setPageKeys(keys = {}) {
  ofPage = keys;
}

/** @param {{palette: () => void}} shell */
export function startKeys(shell) {
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      shell.palette();
      return;
    }
    const at = /** @type {HTMLElement} */ (event.target);
    const isTyping = at.closest("input, textarea, select, [contenteditable], dialog");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !shortcutsOn()) return;
    const act = keyAction(event.key, shell);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** @param {string} key @param {{palette: () => void}} shell */
function keyAction(key, shell) {
  const isSecond = Date.now() - prefix < SECOND_KEY_MS;
  prefix = 0;
  const place = PLACES[key];
  if (isSecond && place) return () => goTo(place);
  if (key === "g")
    return () => {
      prefix = Date.now();
    };
  if (key === "?") return showKeys;
  if (key === "/") return () => filterOr(shell.palette);
  return ofPage[key];
}

/** A page that has nothing to filter just now says so. @param {() => void} otherwise */
function filterOr(otherwise) {
  const filter = ofPage["/"];
  if (!filter || filter() === false) otherwise();
}

export function showKeys() {
  const rows = [
    ["g h", "nav.home"],
    ["g i", "nav.inbox"],
    ["g l", "nav.lab"],
    ["g c", "nav.chat"],
    ["g k", "nav.knowledge"],
    ["g a", "nav.agents"],
    ["g u", "nav.audit"],
    ["g s", "nav.settings"],
    ["Ctrl K", "keys.palette"],
    ["/", "keys.filter"],
    ["j k", "keys.move"],
    ["Enter", "keys.open"],
    ["a", "keys.approve"],
    ["r", "keys.reject"],
    ["e", "keys.done"],
    ["?", "keys.help"],
  ];
  sheet(
    t("keys.title"),
    el(
      "table",
      {},
      el(
        "tbody",
        {},
        rows.map(([keys = "", word = ""]) =>
          el(
            "tr",
            {},
            el(
              "th",
              { scope: "row" },
              keys.split(" ").map((key) => [el("kbd", {}, key), " "]),
            ),
            el("td", {}, t(word)),
          ),
        ),
      ),
    ),
    el("p", { class: "muted" }, t("keys.note")),
    el("p", {}, el("a", { href: "#/settings/appearance" }, t("keys.turn_off"))),
  );
}
