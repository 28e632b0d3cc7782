// @ts-check
// Whom one talks to here: beside the pages of a space whoever answers in it, elsewhere whoever one talked to last.

import { agents } from "../lib/data.js";
import { currentRoute } from "../shell/router.js";
import { agentOfSpace, chooseAgent, chooseAgentOfSpace, chosenSpace, lastTalk, onAgent } from "../shell/settings.js";
import { onPlace, placeNow } from "./context.js";
import { talkWith } from "./talks.js";

/** Whether somebody was chosen since the last page of a space was left. */
let isChosen = false;

/** The space whose page one is on, or was on before the chat filled the page. */
const spaceHere = () => (isChosen ? "" : (placeNow()?.space ?? ""));

/** @returns {import("./talks.js").Talk} */
export function talkHere() {
  const space = spaceHere();
  if (space) return talkWith(agentOfSpace(space), space);
  const last = lastTalk();
  return talkWith(last.slug, last.space);
}

/** Lets somebody else answer: in this space from now on, or wherever one is. @param {string} slug */
export function letAnswer(slug) {
  const space = spaceHere();
  if (space) return chooseAgentOfSpace(space, slug);
  const drafts = agents.value?.agents.find((agent) => agent.slug === slug)?.capabilities.includes("suggest");
  return chooseAgent(slug, drafts ? chosenSpace() : "");
}

/** @param {() => void} watcher called when it may be somebody else */
export function onTalk(watcher) {
  const offs = [onAgent(watcher), onPlace(watcher)];
  return () => {
    for (const off of offs) off();
  };
}

onAgent((isOfSpace) => {
  isChosen = !isOfSpace;
});
addEventListener("hashchange", () => {
  if (currentRoute().page !== "chat") isChosen = false;
});
