// @ts-check

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";

export function auditPage() {
  return { node: el("p", { class: "muted" }, t("loading")), title: t("nav.audit") };
}
