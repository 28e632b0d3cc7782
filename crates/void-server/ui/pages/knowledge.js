// @ts-check
// Knowledge: an address leads to a space, to something that is kept in one, to what it was, or to where it is written.

import { draftPage } from "../knowledge/drafted.js";
import { editPage, newPage } from "../knowledge/editor.js";
import { entityPage } from "../knowledge/entity.js";
import { filePage, filesPage } from "../knowledge/files.js";
import { historyPage } from "../knowledge/history.js";
import { anySpace, spaceHome } from "../knowledge/home.js";
import { binPage, listPage } from "../knowledge/lists.js";
import { searchPage } from "../knowledge/search.js";
import { KNOWLEDGE_STRINGS } from "../knowledge/strings.js";
import { tasksPage } from "../knowledge/tasks.js";
import { addStrings } from "../lib/words.js";
import { unknownPage } from "../parts/empties.js";

addStrings(KNOWLEDGE_STRINGS);

const KINDS = /** @type {const} */ ({ pages: "page", tasks: "task", refs: "ref", projects: "project" });
const NEW = /** @type {const} */ (["page", "task", "ref", "project", "space"]);

/** @param {import("../shell/router.js").Route} route @returns {import("../app.js").Shown} */
export function knowledgePage({ parts, query }) {
  const [what = "", id, more] = parts;
  if (what === "") return anySpace();
  if (what === "spaces" && id) return ofSpace(id, more, query);
  if (what === "attachments" && id) return filePage(id);
  if (what === "drafts" && id) return draftPage(id);
  if (what === "search") return searchPage(query);
  const writing = NEW.find((kind) => kind === id);
  if (what === "new" && writing) return newPage(writing, query);
  const kind = Object.hasOwn(KINDS, what) ? KINDS[/** @type {keyof typeof KINDS} */ (what)] : null;
  if (!kind || !id) return unknownPage();
  if (more === undefined) return entityPage(kind, id);
  if (more === "edit") return editPage(kind, id);
  return more === "history" ? historyPage(kind, id, query) : unknownPage();
}

/**
 * @param {string} id
 * @param {string | undefined} more
 * @param {URLSearchParams} query
 * @returns {import("../app.js").Shown}
 */
function ofSpace(id, more, query) {
  switch (more) {
    case undefined:
      return spaceHome(id);
    case "pages":
    case "refs":
    case "projects":
      return listPage(id, more);
    case "tasks":
      return tasksPage(id, query);
    case "bin":
      return binPage(id);
    case "files":
      return filesPage(id);
    case "edit":
      return editPage("space", id);
    case "history":
      return historyPage("space", id, query);
    default:
      return unknownPage();
  }
}
