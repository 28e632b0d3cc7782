// @ts-check

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";

export function chatPage() {
  return { node: el("p", { class: "muted" }, t("loading")), title: t("nav.chat") };
}

export function chatPanel() {
  return { node: el("p", { class: "muted" }, t("loading")) };
}
