// @ts-check
// Commands of Void's, as they are typed on the machine where this server runs: it may have a data folder of its own.

import { home } from "./data.js";

/** What is written for any Void, for this one. @param {string} command */
export const typed = (command) => command.replace(/^void(?= [a-z])/gm, () => home.value?.setup.called || "void");
