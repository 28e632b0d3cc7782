// @ts-check
// Who one is: proved with a passkey, a password or the owner's token, and proved again, in place, before
// something that may cut the owner off or change who comes in.

import { ApiError, get, post, put, sentence } from "../lib/api.js";
import { home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { passkeysWork, showPasskey } from "../lib/passkeys.js";
import { t } from "../lib/words.js";
import { notice } from "./empties.js";
import { sheet } from "./sheets.js";

/** @import { ConfirmRequest, LoginMethods } from "../types/api.js" */

/** @typedef {"passkey" | "password" | "token"} Way */
/** @typedef {(proof: ConfirmRequest) => Promise<unknown>} Prove */

const PASSWORD_BYTES_MIN = 12;
const PASSWORD_BYTES_MAX = 256;

/** The ways that there are here and now, the best first. @param {LoginMethods} methods @returns {Way[]} */
export function waysOf(methods) {
  const ways = /** @type {Way[]} */ (["passkey", "password", "token"]);
  return ways.filter((way) => way === "token" || (methods[way] && (way !== "passkey" || passkeysWork())));
}

/**
 * What went wrong with a proof, in words.
 * @param {unknown} error
 * @param {Way | "creation"} way creation: of a passkey
 */
export function proofProblem(error, way) {
  if (error instanceof DOMException) {
    if (error.name === "InvalidStateError") return t("identity.passkey_known");
    if (error.name === "SecurityError") return t("identity.passkey_address");
    return t(way === "creation" ? "identity.passkey_unmade" : "identity.passkey_unused");
  }
  if (error instanceof ApiError && error.status === 401 && way !== "creation") return t(`identity.wrong_${way}`);
  return sentence(error);
}

/**
 * The form of one way to prove who one is.
 * @param {Way} way
 * @param {{prove: Prove, done: () => void, go: string, isSecond?: boolean}} how
 * @returns {HTMLElement}
 */
export function proofForm(way, how) {
  const told = el("div", { class: "told", "aria-live": "assertive" });
  const button = /** @type {HTMLButtonElement} */ (
    el(
      "button",
      { class: `button wide${how.isSecond ? "" : " primary"}` },
      way === "passkey" ? t("identity.use_passkey") : how.go,
    )
  );
  const word = button.textContent ?? "";
  const field = /** @type {HTMLInputElement} */ (
    el("input", {
      type: "password",
      class: "input",
      required: true,
      name: way,
      maxLength: 512,
      autocomplete: way === "password" ? "current-password" : "off",
    })
  );
  /** @param {Event} event */
  const send = async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    mount(button, t(way === "passkey" ? "identity.waiting" : "identity.sending"));
    mount(told);
    try {
      await how.prove(
        way === "passkey"
          ? { passkey: await showPasskey() }
          : { [way]: way === "token" ? field.value.trim() : field.value },
      );
      how.done();
    } catch (error) {
      mount(told, notice("problem", proofProblem(error, way)));
      if (way !== "passkey") field.select();
    } finally {
      button.disabled = false;
      mount(button, word);
    }
  };
  return el(
    "form",
    { class: "stack tight", "data-way": way, onsubmit: (/** @type {Event} */ event) => void send(event) },
    // Password managers look for a name beside the password.
    way === "password"
      ? el("input", {
          type: "text",
          name: "username",
          value: "owner",
          autocomplete: "username",
          readOnly: true,
          hidden: true,
        })
      : null,
    way === "passkey" ? null : el("label", { class: "field" }, el("span", {}, t(`login.${way}`)), field),
    told,
    button,
  );
}

/** Where the owner's token is. Whoever is signed in is told the file. */
function tokenWhere() {
  const file = home.value?.setup.owner_token_file;
  return file ? [t("identity.token_file"), " ", el("code", { class: "wrap" }, file)] : t("identity.token_where");
}

/** @returns {Promise<boolean>} whether the server is satisfied */
export async function confirmIdentity() {
  const answer = await get("/api/login").catch(() => null);
  const [first = "token", ...others] = waysOf(answer?.methods ?? { passkey: false, password: false, token: true });
  return new Promise((resolve) => {
    let isSure = false;
    const how = {
      prove: (/** @type {ConfirmRequest} */ proof) => post("/api/session/confirm", proof),
      done: () => {
        isSure = true;
        dialog.close();
      },
      go: t("identity.confirm"),
    };
    const form = (/** @type {Way} */ way, isSecond = false) => [
      proofForm(way, { ...how, isSecond }),
      way === "token" ? el("p", { class: "muted small wrap" }, tokenWhere()) : null,
    ];
    const dialog = sheet(
      t("identity.title"),
      el("p", {}, t("identity.why")),
      form(first),
      others.length > 0
        ? el(
            "details",
            {},
            el("summary", {}, t("login.another_way")),
            el(
              "div",
              { class: "stack" },
              others.map((way) => form(way, true)),
            ),
          )
        : null,
      el("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("identity.cancel")),
    );
    dialog.addEventListener("close", () => resolve(isSure));
    /** @type {HTMLElement | null} */ (dialog.querySelector("form .input, form .button"))?.focus();
  });
}

/**
 * Does something; if the server wants a fresh proof first, asks for it and does it once more.
 * @template T
 * @param {() => Promise<T>} act
 * @returns {Promise<T | null>} null: the owner thought better of it
 */
export async function asOneself(act) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "fresh_login_needed") throw error;
    return (await confirmIdentity()) ? act() : null;
  }
}

/**
 * The form that sets a password. It is typed once and can be looked at, which is better than twice.
 * @param {{done: () => void, go: string}} how
 */
export function passwordForm({ done, go }) {
  const field = /** @type {HTMLInputElement} */ (
    el("input", {
      type: "password",
      class: "input",
      required: true,
      autocomplete: "new-password",
      name: "new-password",
      "aria-describedby": "password-rule",
    })
  );
  const told = el("div", { class: "told", "aria-live": "assertive" });
  const button = /** @type {HTMLButtonElement} */ (el("button", { class: "button primary" }, go));
  const look = el(
    "button",
    {
      type: "button",
      class: "button",
      "aria-pressed": "false",
      onclick: () => {
        const isShown = field.type === "text";
        field.type = isShown ? "password" : "text";
        look.setAttribute("aria-pressed", String(!isShown));
        mount(look, t(isShown ? "password.show" : "password.hide"));
      },
    },
    t("password.show"),
  );
  /** @param {Event} event */
  const send = async (event) => {
    event.preventDefault();
    const bytes = new TextEncoder().encode(field.value).length;
    if (bytes < PASSWORD_BYTES_MIN || bytes > PASSWORD_BYTES_MAX) {
      mount(told, notice("problem", t(bytes < PASSWORD_BYTES_MIN ? "password.short" : "password.long")));
      field.focus();
      return;
    }
    button.disabled = true;
    mount(button, t("identity.sending"));
    mount(told);
    try {
      if (await asOneself(() => put("/api/password", { password: field.value }))) return done();
    } catch (error) {
      mount(told, notice("problem", sentence(error)));
    } finally {
      button.disabled = false;
      mount(button, go);
    }
  };
  return el(
    "form",
    { class: "stack tight", onsubmit: (/** @type {Event} */ event) => void send(event) },
    el("input", {
      type: "text",
      name: "username",
      value: "owner",
      autocomplete: "username",
      readOnly: true,
      hidden: true,
    }),
    el("label", { class: "field" }, el("span", {}, t("password.new")), field),
    el("p", { class: "muted small", id: "password-rule" }, t("password.rule")),
    told,
    el("div", { class: "row-line" }, button, look),
  );
}
