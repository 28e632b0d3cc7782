// @ts-check
// Signing in.

import { post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";

/**
 * @param {import("../shell/router.js").Route} _route
 * @param {() => void} done
 */
export function loginPage(_route, done) {
  const token = /** @type {HTMLInputElement} */ (el("input", { type: "password", class: "input", autocomplete: "current-password", required: true }));
  const told = el("div", { "aria-live": "assertive" });
  /** @param {Event} event */
  const send = async (event) => {
    event.preventDefault();
    try {
      await post("/api/session", { token: token.value });
      done();
    } catch (error) {
      mount(told, el("p", { class: "notice problem" }, sentence(error)));
    }
  };
  return { title: t("login.title"), node: el("main", { class: "alone" }, el("form", { class: "stack", onsubmit: (/** @type {Event} */ event) => void send(event) }, el("h1", {}, t("login.title")),
    el("label", { class: "field" }, el("span", {}, t("login.token")), token), told, el("button", { class: "button primary" }, t("login.go")))) };
}
