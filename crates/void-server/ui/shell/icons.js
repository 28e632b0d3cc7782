// @ts-check
// The few pictures of the frame, as strokes.

import { svg } from "../lib/dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  home: "M3 9.500 10 3.500l7 6M5 8.500V16h10V8.500",
  inbox: "M3 11h4l1.500 2.500h3L13 11h4M3 11l2-7h10l2 7v5H3Z",
  lab: "M3 4h14v4.500H3ZM3 11.500h14V16H3ZM6 6.200h.1M6 13.800h.1",
  chat: "M3 4h14v9.500H9L5.500 17v-3.500H3Z",
  knowledge:
    "M3 4.500c2.500-1 5-.8 7 .7 2-1.500 4.500-1.700 7-.7v11c-2.500-1-5-.8-7 .7-2-1.500-4.500-1.700-7-.7ZM10 5.200v11",
  agents:
    "M10 3.500a2 2 0 1 1 0 4 2 2 0 0 1 0-4ZM5 12.500a2 2 0 1 1 0 4 2 2 0 0 1 0-4ZM15 12.500a2 2 0 1 1 0 4 2 2 0 0 1 0-4ZM10 7.500v2.500M5 12.500V10h10v2.500",
  audit: "M5 3h10v14H5ZM7.500 7h5M7.500 10h5M7.500 13h3",
  settings: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
  more: "M4 10h.1M10 10h.1M16 10h.1",
  search: "M9 3.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11ZM13 13l4 4",
  theme: "M10 3a7 7 0 1 0 0 14ZM10 3a7 7 0 0 1 0 14",
  freeze: "M10 2.500v15M3.500 6.200l13 7.600M16.500 6.200l-13 7.600",
};

/** @param {string} name */
export const icon = (name) =>
  svg(
    "svg",
    { viewBox: "0 0 20 20", width: 20, height: 20, class: "icon", "aria-hidden": "true" },
    svg("path", { d: PATHS[name] ?? "" }),
  );
