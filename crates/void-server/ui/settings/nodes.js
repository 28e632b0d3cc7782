// @ts-check
// Nodes, which dial in for their work, and hosts, which Void dials: who is here, and which keys are trusted.

import { del, post } from "../lib/api.js";
import { said } from "../lib/commands.js";
import { hosts, lookAgain, LOOK_OFTEN_MS, nodes } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { snippet } from "../parts/copying.js";
import { empty, notice } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { asOneself } from "../parts/identity.js";
import { nodePill, pill } from "../parts/states.js";
import { code, fingerprint, part, quiet, secretOnce, sender, showing, source, twoStep } from "./pieces.js";

/** @import { CheckResponse, HostResponse, NodeResponse } from "../types/api.js" */

/** @returns {import("./pieces.js").Section} */
export function nodesSection() {
  const nodePlace = el("div", { class: "stack tight" });
  const hostPlace = el("div", { class: "stack tight" });
  const nodeList = el("div", { class: "stack tight" });
  const hostList = el("div", { class: "stack tight" });
  // Another page may have read them long ago.
  for (const known of [nodes, hosts]) if (known.value) known.refresh();
  const offNodes = showing(nodes, nodePlace, (value) => {
    if (value.nodes.length === 0) return mount(nodePlace, empty("resting", t("nodes.none")));
    if (nodeList.parentNode !== nodePlace) mount(nodePlace, nodeList);
    return keyed(
      nodeList,
      value.nodes,
      (node) => node.name,
      (node) => nodeCard(node, () => nodes.refresh()),
    );
  });
  const offHosts = showing(
    hosts,
    hostPlace,
    (value) => {
      if (value.hosts.length === 0) return mount(hostPlace, quiet(t("hosts.none")));
      if (hostList.parentNode !== hostPlace) mount(hostPlace, hostList);
      return keyed(
        hostList,
        value.hosts,
        (host) => host.name,
        (host) => hostCard(host, () => hosts.refresh()),
      );
    },
    { isSmall: true },
  );
  const node = el(
    "div",
    { class: "stack" },
    nodePlace,
    part(
      t("nodes.invite"),
      t("nodes.invite_about"),
      inviter(() => nodes.refresh()),
    ),
    part(t("hosts.title"), t("hosts.about"), hostPlace, source(t("hosts.source"))),
  );
  // A node that stays away says nothing by event.
  const offLook = lookAgain(() => nodes.refresh(), LOOK_OFTEN_MS);
  return {
    node,
    stop: () => {
      offLook();
      offNodes();
      offHosts();
    },
  };
}

/**
 * What is known of a node; it changes every few seconds, and a question that is open below it stays.
 * @param {NodeResponse} node
 * @param {() => void} refresh
 * @returns {HTMLElement & {update: (node: NodeResponse) => void}}
 */
function nodeCard(node, refresh) {
  const known = el("div", { class: "stack tight" });
  const ways = el("div", { class: "row-line" });
  const seen = el("span");
  const card = /** @type {HTMLElement & {update: (node: NodeResponse) => void}} */ (
    el("article", { class: "card" }, known, ways)
  );
  let [stamp, state] = ["", ""];
  card.update = (next) => {
    const now = JSON.stringify({ ...next, seen_at: null });
    // Said once, not at every look.
    if (now !== stamp) mount(known, nodeFacts(next, seen));
    if (next.state !== state) mount(ways, nodeWays(next, refresh));
    mount(seen, time(next.seen_at));
    [stamp, state] = [now, next.state];
  };
  card.update(node);
  return card;
}

/** @param {NodeResponse} node @param {HTMLElement} seen when it last said something */
function nodeFacts(node, seen) {
  return [
    el("div", { class: "row-line" }, el("h3", { class: "grow wrap" }, node.name), nodePill(node)),
    node.twin_at ? notice("problem", t("nodes.twin"), " ", time(node.twin_at)) : null,
    node.drift ? notice("caution", t("nodes.drift", { what: said(node.drift) })) : null,
    node.skew === "older" || node.skew === "newer" ? notice("caution", t(`nodes.skew_${node.skew}`)) : null,
    factList([
      [t("nodes.seen"), node.state === "joined" ? seen : null],
      [t("nodes.version"), node.version ? code(node.version) : null],
      [t("nodes.actions"), node.state === "joined" ? String(node.actions) : null],
      [t("nodes.fingerprint"), node.fingerprint ? fingerprint(node.fingerprint) : null],
      [t("settings.good_until"), node.invite_expires_at ? time(node.invite_expires_at, "until") : null],
    ]),
  ];
}

/** @param {NodeResponse} node @param {() => void} refresh */
function nodeWays(node, refresh) {
  return [
    node.state === "waiting"
      ? el("a", { class: "button small", href: `#/inbox/join-${encodeURIComponent(node.name)}` }, t("nodes.decide"))
      : null,
    twoStep({
      word: t("nodes.remove"),
      label: t("nodes.remove_named", { name: node.name }),
      ask: t(`nodes.remove_ask_${node.state}`, { name: node.name }),
      yes: t("nodes.remove_yes"),
      act: async () => {
        await asOneself(() => del(`/api/nodes/${encodeURIComponent(node.name)}`));
        refresh();
      },
    }),
  ];
}

/** @param {() => void} refresh */
function inviter(refresh) {
  const place = el("div", { class: "stack tight" });
  const form = () => {
    const name = /** @type {HTMLInputElement} */ (
      el("input", {
        class: "input",
        required: true,
        maxLength: 63,
        pattern: "[a-z0-9][a-z0-9\\-]*",
        title: t("tokens.name_rule"),
        autocomplete: "off",
        autocapitalize: "none",
        spellcheck: false,
        placeholder: "nas",
      })
    );
    const told = el("div", { class: "told", "aria-live": "assertive" });
    const invite = async () => {
      const made = await asOneself(() => post("/api/nodes", { name: name.value.trim() }));
      if (!made) return;
      const command = `sudo -u voidnode void node join ${location.origin} --token ${made.token}`;
      mount(
        place,
        secretOnce({
          what: t("nodes.token_for", { name: made.name }),
          why: t("nodes.once"),
          text: command,
          more: el(
            "div",
            { class: "stack tight" },
            factList([[t("settings.good_until"), time(made.expires_at, "until")]]),
            isSecureContext ? null : el("p", { class: "small" }, t("nodes.plain_http"), " ", code("--plain-http")),
            el("p", { class: "small" }, t("nodes.then")),
          ),
          done: () => mount(place, form()),
        }),
      );
      refresh();
    };
    return el(
      "form",
      { class: "card form" },
      el("p", { class: "small" }, t("nodes.first")),
      snippet("void node install | sudo sh", t("nodes.install")),
      el(
        "label",
        { class: "field" },
        el("span", {}, t("nodes.name")),
        name,
        el("span", { class: "muted small plain-weight" }, t("tokens.name_rule")),
      ),
      told,
      el("p", {}, sender(t("nodes.make"), invite, { told, kind: "primary", submits: true })),
    );
  };
  mount(place, form());
  return place;
}

/** @param {HostResponse} host @param {() => void} refresh */
function hostCard(host, refresh) {
  const isLocal = host.address === "local";
  const told = el("div", { class: "stack tight told", "aria-live": "polite" });
  const check = async () => {
    const found = await post(`/api/hosts/${encodeURIComponent(host.name)}/check`);
    mount(told, ...verdict(found));
  };
  return el(
    "article",
    { class: "card" },
    el(
      "div",
      { class: "row-line" },
      el("h3", { class: "grow wrap" }, host.name),
      isLocal
        ? pill("up", "", t("hosts.local"))
        : host.trusted.length > 0
          ? pill("up", "ok", t("hosts.trusted"))
          : pill("stale", "waiting", t("hosts.untrusted")),
    ),
    factList([
      [t("hosts.address"), isLocal ? null : code(`${host.user}@${host.address}:${host.port}`)],
      [t("hosts.actions"), String(host.actions)],
      [
        t("hosts.keys"),
        isLocal
          ? null
          : host.trusted.length > 0
            ? el(
                "span",
                { class: "stack tight" },
                host.trusted.map((key) => code(key)),
                host.pinned ? el("span", { class: "muted small" }, t("hosts.pinned")) : null,
              )
            : t("hosts.no_key"),
      ],
    ]),
    told,
    el(
      "div",
      { class: "row-line" },
      sender(t("hosts.check"), check, { told, kind: "small", busy: t("hosts.checking") }),
    ),
    !isLocal && !host.pinned && host.trusted.length === 0 ? truster(host, refresh) : null,
  );
}

/** @param {CheckResponse} found */
function verdict(found) {
  if (!found.reachable)
    return [notice("problem", t("hosts.unreachable", { message: said(found.error?.message ?? "") }))];
  const fits = Object.keys(found.cannot).length === 0;
  return [
    found.drift
      ? notice("caution", t("nodes.drift", { what: said(found.drift) }))
      : fits
        ? notice("info", t("hosts.fits"))
        : null,
    Object.entries(found.cannot).map(([id, why]) => notice("problem", t("hosts.cannot", { id, why: said(why) }))),
    found.stopped ? notice("caution", t("hosts.stopped")) : null,
    factList([
      [t("nodes.version"), found.version ? code(found.version) : null],
      [t("hosts.list"), found.list ? code(found.list) : null],
    ]),
  ];
}

/** @param {HostResponse} host @param {() => void} refresh */
function truster(host, refresh) {
  const told = el("div", { class: "told", "aria-live": "assertive" });
  const print = /** @type {HTMLInputElement} */ (
    el("input", {
      class: "input",
      required: true,
      pattern: "SHA256:[A-Za-z0-9+\\/]{43}",
      title: t("hosts.print_rule"),
      placeholder: "SHA256:…",
      autocomplete: "off",
      spellcheck: false,
    })
  );
  const trust = async () => {
    await asOneself(() =>
      post(`/api/hosts/${encodeURIComponent(host.name)}/trust`, { fingerprint: print.value.trim() }),
    );
    refresh();
  };
  return el(
    "details",
    {},
    el("summary", {}, t("hosts.trust")),
    el(
      "form",
      { class: "stack tight" },
      el("p", { class: "small" }, t("hosts.trust_how")),
      snippet("ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub", t("hosts.trust")),
      el("label", { class: "field" }, el("span", {}, t("hosts.print")), print),
      told,
      el("p", {}, sender(t("hosts.trust_yes"), trust, { told, submits: true })),
    ),
  );
}
