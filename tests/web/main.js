// Runs every `*.test.js` of this folder in one process: one browser, one file after the other. A file
// that is there is run; none can be forgotten.

import { readdir } from "node:fs/promises";
import { after, afterEach } from "node:test";
import { closeBrowser, closePages } from "./browsers.js";
import { EXCEPT, ONLY } from "./packages.js";

const files = (await readdir(import.meta.dirname)).filter((name) => name.endsWith(".test.js")).sort();
const bare = (/** @type {string} */ name) => name.replace(".test.js", "");
const wanted = files.filter((name) => (ONLY.length === 0 || ONLY.includes(bare(name))) && !EXCEPT.includes(bare(name)));
if (wanted.length === 0) throw new Error(`there is none of ${ONLY} among ${files}`);
afterEach(closePages);
for (const name of wanted) await import(`./${name}`);
after(closeBrowser);
