// @ts-check
// Signing in, and setting up by a one-time link. What was on the screen before stays in the address, so
// one is back where one was.

import { ApiError, get, post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { deviceName, isAddress, isLoopback, makePasskey, passkeysWork } from "../lib/passkeys.js";
import { t } from "../lib/words.js";
import { blue } from "../parts/blue.js";
import { cannotTell, loading, notice } from "../parts/empties.js";
import { asOneself, passwordForm, proofForm, proofProblem, waysOf } from "../parts/identity.js";
import { setTheme, theme } from "../shell/settings.js";

/** @import { Content } from "../lib/dom.js" */
/** @import { ConfirmRequest, LoginMethods, LoginResponse } from "../types/api.js" */

/** Says, over a reload, that the link of this tab was spent and the session is open. */
const SETTING_UP = "setting-up";
const NAME_MAX = 64;

/**
 * @param {import("../shell/router.js").Route} route
 * @param {Promise<LoginResponse>} ways what `/api/login` says
 * @param {{opened: () => void, closed: () => void, already: () => void, done: () => void}} then the session is open,
 *   although the page still shows something; there is none; it was open before; the page may go
 */
export function loginPage(route, ways, { opened, closed, already, done }) {
  const head = el("div", { class: "login-head" });
  const body = el("div", { class: "stack", "aria-live": "polite" });
  const rest = [head, el("div", { class: "card" }, body), el("footer", { class: "login-foot" }, themes())];
  const node = el("main", { class: "login" }, loading());
  /** All at once, when it is known what there is: a card that grows pushes the rest about. @param {...Content} parts */
  const show = (...parts) => {
    mount(body, ...parts);
    if (!head.isConnected) mount(node, ...rest);
  };
  /** @param {Partial<LoginResponse>} login */
  const name = (login) =>
    mount(
      head,
      blue("resting", 64),
      el("h1", { tabIndex: -1 }, login.lab ?? "Void"),
      login.rehearsal ? el("p", {}, el("span", { class: "pill waiting" }, t("frame.rehearsal"))) : null,
      login.rehearsal ? el("p", { class: "muted small" }, t("login.rehearsal")) : null,
    );

  const signIn = async (/** @type {HTMLElement | null} */ why = null, known = ways) => {
    /** @type {LoginResponse} */
    let login;
    try {
      login = await known;
    } catch (error) {
      mount(head, el("h1", {}, "Void"));
      show(
        cannotTell(error, () => {
          mount(body, loading());
          void signIn(why, get("/api/login"));
        }),
      );
      return;
    }
    name(login);
    show(why, ...choices(login, done));
    if (!why) /** @type {HTMLElement | null} */ (body.querySelector("form .input, form .button"))?.focus();
  };
  const setUp = async () => {
    sessionStorage.setItem(SETTING_UP, "yes");
    opened();
    const login = await ways.catch(() => /** @type {Partial<LoginResponse>} */ ({}));
    name(login);
    const { methods } = login;
    show(
      ...offers({
        hasWay: Boolean(methods?.password || methods?.passkey),
        done: () => {
          sessionStorage.removeItem(SETTING_UP);
          done();
        },
      }),
    );
    /** @type {HTMLElement | null} */ (head.querySelector("h1"))?.focus();
  };
  if (route.page !== "setup") void signIn();
  else
    void spend(route.parts[0], { setUp: () => void setUp(), already }, async (problem) => {
      closed();
      const called = problem ? null : await ways.then((login) => login.called).catch(() => null);
      await signIn(problem ?? spent(called));
    });
  return { title: t(route.page === "setup" ? "setup_link.title" : "login.title"), node };
}

/**
 * Trades the code of a link for a session. The code leaves the address before anything else: it is a key. A code
 * that is not good any more takes nothing from whoever is signed in.
 * @param {string | undefined} code
 * @param {{setUp: () => void, already: () => void}} then
 * @param {(problem: HTMLElement | null) => void} otherwise null: the link is good for nothing any more
 */
async function spend(code, { setUp, already }, otherwise) {
  history.replaceState(null, "", "#/setup");
  try {
    if (code) await post("/api/session", { setup: code });
    else if (sessionStorage.getItem(SETTING_UP)) await get("/api/session");
    else throw new ApiError(401, {});
  } catch (error) {
    sessionStorage.removeItem(SETTING_UP);
    history.replaceState(null, "", "#/home");
    if (await isSignedIn()) return already();
    const isSpent = error instanceof ApiError && [401, 404].includes(error.status);
    return otherwise(isSpent ? null : notice("problem", sentence(error)));
  }
  setUp();
}

/** A browser that was never signed in is not asked for what it cannot have. */
const isSignedIn = () =>
  localStorage.getItem("signed-in") === "yes" &&
  get("/api/session").then(
    () => true,
    () => false,
  );

/** Where the next link comes from. @param {string | null} called as the program is called, where that is said */
const spent = (called) =>
  notice(
    "caution",
    el("p", {}, t("setup_link.spent")),
    el("p", { class: "wrap" }, t("setup_link.new"), " ", el("code", {}, `${called ?? "void"} setup-link`)),
    called === null ? el("p", { class: "small" }, t("setup_link.new_flags")) : null,
  );

/** @param {LoginResponse} login @param {() => void} done */
function choices({ methods, called }, done) {
  const how = { prove: (/** @type {ConfirmRequest} */ proof) => post("/api/session", proof), done, go: t("login.go") };
  const ways = waysOf(methods);
  const shown = ways
    .filter((way) => way !== "token" || ways.length === 1)
    .map((way, at) => proofForm(way, { ...how, isSecond: at > 0 }));
  const or = () => el("p", { class: "or muted small", "aria-hidden": "true" }, t("login.or"));
  const token = el(
    "div",
    { class: "stack tight" },
    proofForm("token", { ...how, isSecond: ways.length > 1 }),
    called === null
      ? el("p", { class: "muted small" }, t("login.token_where"))
      : el("p", { class: "muted small wrap" }, t("login.token_demo"), " ", el("code", {}, `${called} setup-link`)),
  );
  if (ways.length === 1) return [token, addressNote()];
  return [
    ...shown.flatMap((form, at) => (at > 0 ? [or(), form] : [form])),
    addressNote(),
    el("details", { class: "another" }, el("summary", {}, t("login.another_way")), token),
  ];
}

/** Why there are no passkeys here, calmly. */
function addressNote() {
  if (passkeysWork()) return null;
  if (isLoopback())
    return el(
      "p",
      { class: "muted small" },
      t("login.by_loopback"),
      " ",
      el(
        "a",
        { href: `${location.protocol}//localhost${location.port ? `:${location.port}` : ""}/${location.hash}` },
        t("login.open_localhost"),
      ),
    );
  return el(
    "p",
    { class: "muted small" },
    t(!isSecureContext ? "login.plain_http" : isAddress() ? "login.by_address" : "login.no_passkeys"),
  );
}

/**
 * What a new browser is offered once it is in. Who has a way to sign in already is asked for nothing.
 * @param {{hasWay: boolean, done: () => void}} how
 */
function offers({ hasWay, done }) {
  const told = el("div", { class: "told", "aria-live": "assertive" });
  const called = /** @type {HTMLInputElement} */ (
    el("input", { class: "input", maxLength: NAME_MAX, required: true, value: deviceName(), autocomplete: "off" })
  );
  const make = /** @type {HTMLButtonElement} */ (el("button", { class: "button primary wide" }, t("passkey.create")));
  /** @param {Event} event */
  const create = async (event) => {
    event.preventDefault();
    make.disabled = true;
    mount(make, t("identity.waiting"));
    mount(told);
    try {
      if (await asOneself(() => makePasskey(called.value.trim() || deviceName()))) done();
    } catch (error) {
      mount(told, notice("problem", proofProblem(error, "creation")));
    } finally {
      make.disabled = false;
      mount(make, t("passkey.create"));
    }
  };
  const passkey = el(
    "form",
    { class: "stack tight", onsubmit: (/** @type {Event} */ event) => void create(event) },
    el("p", {}, t("passkey.what")),
    el("label", { class: "field" }, el("span", {}, t("passkey.name")), called),
    told,
    make,
  );
  const password = passwordForm({ done, go: t("password.set") });
  const later = el("button", { type: "button", class: "button quiet wide", onclick: done }, t("setup_link.later"));
  const welcome = [
    el("h2", {}, t("setup_link.welcome")),
    el("p", { class: "muted" }, t(hasWay ? "setup_link.has_way" : "setup_link.what")),
  ];
  if (hasWay) {
    const go = el("button", { type: "button", class: "button primary wide", onclick: done }, t("setup_link.go"));
    const forms = passkeysWork() ? [passkey, password] : [password, addressNote()];
    return [
      ...welcome,
      go,
      el("details", { class: "another" }, el("summary", {}, t("setup_link.another_way")), ...forms),
    ];
  }
  if (!passkeysWork()) return [...welcome, password, addressNote(), later];
  return [
    ...welcome,
    passkey,
    el("details", { class: "another" }, el("summary", {}, t("setup_link.password_instead")), password),
    later,
  ];
}

/** System, light, dark: the page outside is as the owner likes it too. */
function themes() {
  const all = /** @type {const} */ (["system", "light", "dark"]);
  const row = el("div", { class: "segmented", role: "group", "aria-label": t("appearance.theme") });
  const draw = () =>
    mount(
      row,
      all.map((one) =>
        el(
          "button",
          { type: "button", "aria-pressed": String(theme() === one), onclick: () => choose(one) },
          t(`appearance.theme_${one}`),
        ),
      ),
    );
  /** @param {import("../shell/settings.js").Theme} next */
  const choose = (next) => {
    setTheme(next);
    draw();
    /** @type {HTMLElement | null} */ (row.querySelector("[aria-pressed=true]"))?.focus();
  };
  draw();
  return row;
}
