// @ts-check
// Being asked again who one is, in place, before something that may cut the owner off.

import { get, post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { sheet } from "./sheets.js";

/** @returns {Promise<boolean>} whether the server is satisfied */
export async function confirmIdentity() {
  const { methods } = await get("/api/login").catch(() => ({ methods: { token: true } }));
  return new Promise((resolve) => {
    let done = false;
    const word = /** @type {HTMLInputElement} */ (el("input", { type: "password", class: "input", required: true, autocomplete: "current-password" }));
    const told = el("div", { "aria-live": "assertive" });
    /** @param {Event} event */
    const send = async (event) => {
      event.preventDefault();
      try {
        await post("/api/session/confirm", methods.password ? { password: word.value } : { token: word.value });
        done = true;
        dialog.close();
      } catch (error) {
        mount(told, el("p", { class: "notice problem" }, sentence(error)));
      }
    };
    const dialog = sheet(t("identity.title"), el("p", {}, t("identity.why")),
      el("form", { class: "stack", onsubmit: (/** @type {Event} */ event) => void send(event) },
        el("label", { class: "field" }, el("span", {}, t(methods.password ? "login.password" : "login.token")), word), told,
        el("button", { class: "button primary" }, t("identity.confirm"))));
    dialog.addEventListener("close", () => resolve(done));
    word.focus();
  });
}
