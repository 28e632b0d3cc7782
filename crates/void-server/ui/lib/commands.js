// @ts-check
// Commands of Void's, as they are typed on the machine where this server runs: its program may be one that no shell
// finds by name, and it may have a data folder of its own. The server knows; `void …` is how they are written here
// and in its sentences.

import { withTimes } from "./time.js";

/** The first word of each command, as `void --help` lists them. */
export const COMMANDS =
  "demo serve reload status actions run inbox freeze thaw services chat conversations agents kb hosts node audit \
setup-link token mcp notify backup quarantine bridge clock config provision service doctor completions version \
help-exit-codes help-codes help";
/** A command in a text, not the word "void" in a sentence, nor the end of a path. */
const WRITTEN = new RegExp(`(^|[^\\w./-])void(?= (?:${COMMANDS.split(" ").join("|")})(?![\\w-]))`, "gm");

let program = "void";
let called = program;

/** @param {{called: string, program: string}} setup as the server was started */
export function noteCalled(setup) {
  program = setup.program || "void";
  called = setup.called || "void";
}

/** The program alone, for what has the rest of it elsewhere. */
export const ownProgram = () => program;

/** What is written for any Void, for this one. @param {string} text */
export const typed = (text) => text.replace(WRITTEN, (_, before) => `${before}${called}`);

/**
 * A sentence of the server's, as it is read here: its commands can be pasted, its times are the reader's.
 * @param {string} text
 */
export const said = (text) => typed(withTimes(text));

/**
 * The same as the beginning of a sentence; a command, a setting and a file begin as they are typed.
 * @param {string} text
 */
export const begun = (text) =>
  said(/^(?:void |\S+[._]\w)/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1));
