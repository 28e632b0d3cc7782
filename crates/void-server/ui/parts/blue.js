// @ts-check
// Little Blue: one small creature in the colour of the text, six poses, each tied to something the
// server said. Whoever wants a plain voice gets a dot.

import { el, svg } from "../lib/dom.js";
import { isPlainVoice } from "../lib/words.js";
import { isWorry } from "./states.js";

/** @import { Home } from "../types/api.js" */

/** @typedef {"resting" | "looking" | "holding" | "worried" | "unsure" | "asleep"} Pose */

const BODY = "M16 3c5 6.200 9 10.600 9 16a9 9 0 0 1-18 0c0-5.400 4-9.800 9-16Z";
const FIN = "M25 21.500c2.200.2 3.800 1.500 4.500 3.500-2.400.6-4.600.2-6.300-1.200";

/** @type {Record<Pose, {eyes: string, more?: string, tilt?: number}>} */
const POSES = {
  resting: { eyes: "M11.300 19h3M17.700 19h3" },
  looking: { eyes: "M13.500 18.500v1M19.800 18.500v1", tilt: 8 },
  holding: { eyes: "M12.800 18.500v1M19.200 18.500v1", more: "M3.500 20.500h6v5h-6ZM5 22.500h3" },
  worried: { eyes: "M12.800 19v1M19.200 19v1M11 16.800l2.600-1M21 16.800l-2.600-1" },
  unsure: { eyes: "M11.300 18.500v1M17.700 18.500v1", tilt: -6 },
  asleep: { eyes: "M11.300 19.500q1.500 1 3 0M17.700 19.500q1.500 1 3 0", more: "M25 6h4l-4 5h4" },
};

/**
 * @param {Pose} pose
 * @param {number} [size]
 * @param {boolean} [hasTurned] into this pose just now; only then something moves
 */
export function blue(pose, size = 32, hasTurned = false) {
  if (isPlainVoice()) return el("span", { class: "plain-dot", "aria-hidden": "true" });
  const { eyes, more, tilt = 0 } = POSES[pose];
  const lines = [svg("path", { d: BODY }), svg("path", { d: FIN }), svg("path", { d: eyes, class: "eyes" })];
  if (more) lines.push(svg("path", { d: more }));
  const drawn = svg("g", { transform: `rotate(${tilt} 16 18)` }, ...lines);
  return svg(
    "svg",
    {
      viewBox: "0 0 32 32",
      width: size,
      height: size,
      class: hasTurned ? "blue ripple" : "blue",
      "aria-hidden": "true",
      "data-pose": pose,
    },
    drawn,
  );
}

/**
 * The pose and the sentence that the facts give; the worst comes first.
 * @param {Home} home what `/api/home` said
 * @param {boolean} isLive
 * @param {boolean} isRead whether the last reading succeeded
 * @returns {{pose: Pose, key: string, values: Record<string, string | number>}}
 */
export function mood(home, isLive, isRead) {
  const { status, freeze, services } = home;
  const down = services.services.filter(isWorry);
  const unseen = services.services.filter((one) => one.status === "unknown");
  if (!isLive) return { pose: "unsure", key: "mood.offline", values: {} };
  if (!isRead) return { pose: "unsure", key: "mood.unread", values: {} };
  const waits = status.waiting + home.inbox.counts.join;
  // Until when is said above, beside the way out.
  if (freeze.frozen)
    return { pose: "asleep", key: waits > 0 ? "mood.frozen_waits" : "mood.frozen", values: { n: waits } };
  if (down.length > 0 || status.unknown > 0) {
    const worries = down.length + status.unknown;
    if (waits > 0) return { pose: "worried", key: "mood.waits_and_worries", values: { waits, n: worries } };
    if (down[0] && down.length === 1 && status.unknown === 0)
      return { pose: "worried", key: "mood.down_one", values: { name: down[0].label } };
    return { pose: "worried", key: "mood.worries", values: { n: worries } };
  }
  if (waits > 0) return { pose: "holding", key: "mood.waits", values: { n: waits } };
  if (unseen[0]) return { pose: "unsure", key: "mood.unseen", values: { n: unseen.length, name: unseen[0].label } };
  if (status.actions === 0 && services.services.length === 0)
    return { pose: "looking", key: "mood.nothing_set_up", values: {} };
  return { pose: "resting", key: services.services.length > 0 ? "mood.quiet" : "mood.quiet_unwatched", values: {} };
}
