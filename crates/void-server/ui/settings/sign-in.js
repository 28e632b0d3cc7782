// @ts-check
// Sign-in: passkeys, the password, the browsers that are in, and a link for a new one. What changes who
// comes in asks for a fresh proof first.

import { del, get, post, signedOut } from "../lib/api.js";
import { LOOK_OFTEN_MS, Resource } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { deviceName, isAddress, makePasskey, passkeysWork } from "../lib/passkeys.js";
import { setTime, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { snippet } from "../parts/copying.js";
import { notice } from "../parts/empties.js";
import { asOneself, passwordForm, proofProblem } from "../parts/identity.js";
import { pill } from "../parts/states.js";
import { part, quiet, secretOnce, sender, showing, source, twoStep } from "./pieces.js";

/** @import { ListedSession, Passkey, SetupLinkResponse } from "../types/api.js" */

const NAME_MAX = 64;

/** @returns {import("./pieces.js").Section} */
export function signInSection() {
  const login = new Resource(() => get("/api/login"));
  const passkeys = new Resource(() => get("/api/passkeys"));
  const sessions = new Resource(() => get("/api/sessions"), /^access\./, LOOK_OFTEN_MS);
  const again = () => {
    login.refresh();
    passkeys.refresh();
  };
  const keyPlace = el("div", { class: "stack tight" });
  const keyList = el("ul", { class: "list" });
  const wordPlace = el("div", { class: "stack tight" });
  const password = passwordPart(again);
  const openPlace = el("div", { class: "stack tight" });
  const openList = el("ul", { class: "list" });
  const offs = [
    showing(
      passkeys,
      keyPlace,
      (value) => {
        if (keyList.parentNode !== keyPlace) mount(keyPlace, keyList, adder(again));
        if (value.passkeys.length === 0) mount(keyList, el("li", {}, quiet(t("passkey.none"))));
        else
          keyed(
            keyList,
            value.passkeys,
            (one) => one.id,
            (one) => passkeyRow(one, again),
          );
      },
      { isSmall: true },
    ),
    showing(
      login,
      wordPlace,
      (value) => {
        if (password.node.parentNode !== wordPlace) mount(wordPlace, password.node);
        password.update(value.methods.password);
      },
      { isSmall: true },
    ),
    showing(
      sessions,
      openPlace,
      (value) => {
        if (openList.parentNode !== openPlace) mount(openPlace, openList);
        if (value.sessions.length === 0) mount(openList, el("li", {}, quiet(t("sessions.none"))));
        else
          keyed(
            openList,
            value.sessions,
            (one) => one.id,
            (one) => sessionRow(one, () => sessions.refresh()),
          );
      },
      { isSmall: true },
    ),
  ];
  const leaveTold = el("div", { class: "told", "aria-live": "polite" });
  const node = el(
    "div",
    { class: "stack" },
    part(t("passkey.title"), t("passkey.about"), keyPlace),
    part(t("password.title"), t("password.about"), wordPlace),
    part(
      t("sessions.title"),
      t("sessions.about"),
      openPlace,
      leaveTold,
      el("p", {}, sender(t("sessions.leave"), leave, { told: leaveTold })),
    ),
    part(t("setup_link.another"), t("setup_link.another_about"), linker()),
    source(t("sessions.token"), " ", el("code", {}, "owner.token"), "."),
  );
  return {
    node,
    stop: () => {
      for (const off of offs) off();
    },
  };
}

async function leave() {
  await del("/api/session");
  signedOut();
}

/** @param {Passkey} one @param {() => void} again */
function passkeyRow(one, again) {
  return el(
    "li",
    {},
    el(
      "div",
      { class: "item tall" },
      el(
        "span",
        { class: "grow" },
        el("strong", { class: "line wrap" }, one.name),
        el(
          "span",
          { class: "muted small line" },
          t("passkey.made"),
          " ",
          time(one.created_at),
          " · ",
          one.last_used_at ? [t("passkey.used"), " ", time(one.last_used_at)] : t("passkey.unused"),
        ),
      ),
      twoStep({
        word: t("passkey.remove"),
        label: t("passkey.remove_named", { name: one.name }),
        ask: t("passkey.remove_ask", { name: one.name }),
        yes: t("passkey.remove_yes"),
        act: () => asOneself(() => del(`/api/passkeys/${one.id}`)).then(done(again)),
      }),
    ),
  );
}

/** @param {() => void} again */
function adder(again) {
  if (!passkeysWork())
    return el(
      "p",
      { class: "muted small" },
      t(!isSecureContext ? "login.plain_http" : isAddress() ? "login.by_address" : "login.no_passkeys"),
    );
  const called = /** @type {HTMLInputElement} */ (
    el("input", { class: "input", maxLength: NAME_MAX, required: true, value: deviceName(), autocomplete: "off" })
  );
  const told = el("div", { class: "told", "aria-live": "assertive" });
  const make = async () => {
    try {
      if (!(await asOneself(() => makePasskey(called.value.trim() || deviceName())))) return;
    } catch (error) {
      mount(told, notice("problem", proofProblem(error, "creation")));
      return;
    }
    mount(told, notice("info", t("passkey.added")));
    again();
  };
  return el(
    "form",
    { class: "card form" },
    el("label", { class: "field" }, el("span", {}, t("passkey.name")), called),
    told,
    el(
      "p",
      {},
      sender(t("passkey.create"), make, { told, kind: "primary", submits: true, busy: t("identity.waiting") }),
    ),
  );
}

/** Reads again what was changed, if it was. @param {() => void} again */
const done = (again) => (/** @type {unknown} */ answer) => {
  if (answer !== null) again();
  return answer;
};

/** @param {() => void} again */
function passwordPart(again) {
  const node = el("div", { class: "stack tight", "aria-live": "polite" });
  let isSet = false;
  /** @type {string | null} */
  let said = null;
  let isOpen = false;
  const rest = () => {
    isOpen = false;
    mount(
      node,
      said ? notice("info", said) : null,
      el(
        "div",
        { class: "row-line" },
        isSet ? pill("up", "ok", t("password.is_set")) : pill("stale", "", t("password.not_set")),
        el(
          "button",
          { type: "button", class: "button small", onclick: change },
          t(isSet ? "password.change" : "password.set"),
        ),
        isSet
          ? twoStep({
              word: t("password.remove"),
              ask: t("password.remove_ask"),
              yes: t("password.remove_yes"),
              act: () =>
                asOneself(() => del("/api/password")).then(
                  done(() => {
                    said = t("password.removed");
                    again();
                  }),
                ),
            })
          : null,
      ),
    );
  };
  const change = () => {
    isOpen = true;
    said = null;
    const stored = () => {
      isSet = true;
      said = t("password.stored");
      rest();
      again();
    };
    mount(
      node,
      el(
        "div",
        { class: "card form" },
        passwordForm({ go: t("password.set"), done: stored }),
        el("p", {}, el("button", { type: "button", class: "button quiet", onclick: rest }, t("settings.cancel"))),
      ),
    );
    /** @type {HTMLElement | null} */ (node.querySelector("[name=new-password]"))?.focus();
  };
  return {
    node,
    update: (/** @type {boolean} */ is) => {
      isSet = is;
      if (!isOpen) rest();
    },
  };
}

/**
 * A row that stays while it is looked at again: a question that is open in it stays too.
 * @param {ListedSession} one
 * @param {() => void} again
 */
function sessionRow(one, again) {
  const seen = /** @type {HTMLTimeElement} */ (time(one.last_seen_at));
  const ends = /** @type {HTMLTimeElement} */ (time(one.expires_at, "until"));
  const node = el(
    "li",
    {},
    el(
      "div",
      { class: "item tall" },
      el(
        "span",
        { class: "grow" },
        el(
          "span",
          { class: "row-line" },
          el("strong", { class: "wrap sentence" }, one.device || t("sessions.some_device")),
          one.current ? pill("up", "ok", t("sessions.this")) : null,
        ),
        el(
          "span",
          { class: "muted small line" },
          t(`sessions.by_${one.method}`),
          " · ",
          t("sessions.ends"),
          " ",
          ends,
          " · ",
          t("sessions.seen"),
          " ",
          seen,
        ),
      ),
      one.current
        ? null
        : twoStep({
            word: t("sessions.end"),
            label: t("sessions.end_named", { name: one.device }),
            ask: t("sessions.end_ask", { name: one.device }),
            yes: t("sessions.end_yes"),
            act: async () => {
              await asOneself(() => del(`/api/sessions/${one.id}`));
              again();
            },
          }),
    ),
  );
  return Object.assign(node, {
    update: (/** @type {ListedSession} */ next) => {
      setTime(seen, next.last_seen_at);
      setTime(ends, next.expires_at);
    },
  });
}

/**
 * Until when a link is good, and who can open it: another device needs an address that leads here.
 * @param {SetupLinkResponse} made
 */
const reach = (made) =>
  el(
    "div",
    { class: "stack tight" },
    el("p", { class: "small" }, t("settings.good_until"), " ", time(made.expires_at, "until")),
    made.elsewhere.length === 0 ? el("p", { class: "small" }, t("setup_link.only_here")) : null,
    ...made.elsewhere.slice(1).map((other) => snippet(other, t("setup_link.by_another"))),
  );

function linker() {
  const place = el("div", { class: "stack tight" });
  const told = el("div", { class: "told", "aria-live": "assertive" });
  const make = async () => {
    const made = await asOneself(() => post("/api/setup-links"));
    if (made)
      mount(
        place,
        secretOnce({
          what: t("setup_link.made"),
          why: t("setup_link.made_why"),
          text: made.elsewhere[0] ?? made.url,
          more: reach(made),
          done: () => mount(place, rest()),
        }),
      );
  };
  const rest = () =>
    el("div", { class: "stack tight" }, told, el("p", {}, sender(t("setup_link.make"), make, { told })));
  mount(place, rest());
  return place;
}
