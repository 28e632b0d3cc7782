// @ts-check
// About: which Void this is, by which catalogue it acts, and how far its record has come.

import { get } from "../lib/api.js";
import { Resource } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { factList } from "../parts/facts.js";
import { copyButton } from "../parts/copying.js";
import { code, part, showing } from "./pieces.js";

/** @returns {import("./pieces.js").Section} */
export function aboutSection() {
  const status = new Resource(() => get("/api/status"), /^(freeze|proposal)\./);
  const place = el("div", { class: "stack" });
  const off = showing(status, place, (value) =>
    mount(
      place,
      part(
        "Void",
        null,
        factList([
          [t("about.version"), code(value.version)],
          [
            t("about.mode"),
            value.rehearsal ? el("span", { class: "pill waiting" }, t("frame.rehearsal")) : t("about.real"),
          ],
          [t("about.address"), code(location.origin)],
          [t("about.read"), time(value.at)],
        ]),
      ),
      part(
        t("about.catalogue"),
        t("about.catalogue_about"),
        factList([
          [t("about.actions"), el("a", { href: "#/lab/actions" }, t("about.count", { n: value.actions }))],
          [t("about.digest"), copied(value.catalogue_digest, t("about.digest"))],
          [
            t("about.commit"),
            value.catalogue_commit ? copied(value.catalogue_commit, t("about.commit")) : t("card.no_commit"),
          ],
        ]),
      ),
      part(
        t("about.audit"),
        t("about.audit_about"),
        factList([
          [t("about.entries"), el("a", { href: "#/audit" }, String(value.audit_seq))],
          [t("about.head"), value.audit_head ? copied(value.audit_head, t("about.head")) : "–"],
        ]),
      ),
    ),
  );
  return { node: place, stop: off };
}

/** @param {string} text @param {string} what */
const copied = (text, what) => el("span", { class: "copied" }, code(text), copyButton(text, what));
