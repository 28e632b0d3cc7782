// What scripts/test-web installed, and what it said. Packages are in the target folder, where an import
// by name does not look.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { WEB_PACKAGES, WEB_VOID, WEB_FOLDER, WEB_CHROMIUM, WEB_SCREENSHOTS, WEB_DEEP, WEB_ONLY, WEB_EXCEPT, WEB_PICTURES } = process.env;
if (!WEB_PACKAGES || !WEB_VOID || !WEB_FOLDER) throw new Error("run scripts/test-web");

const require = createRequire(join(WEB_PACKAGES, "package.json"));

export const { chromium } = require("playwright-core");
export const AXE_SOURCE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const VOID = WEB_VOID;
export const FOLDER = WEB_FOLDER;
export const CHROMIUM = WEB_CHROMIUM ?? "/usr/bin/chromium";
export const SCREENSHOTS = WEB_SCREENSHOTS ?? join(WEB_FOLDER, "screenshots");
export const PICTURES = WEB_PICTURES ?? "";
/** What is built for others is compressed and kept by browsers. */
export const IS_RELEASE = /\/release\//.test(VOID ?? "");
export const IS_DEEP = WEB_DEEP === "yes";
export const ONLY = (WEB_ONLY ?? "").split(",").filter(Boolean);
export const EXCEPT = (WEB_EXCEPT ?? "").split(",").filter(Boolean);
