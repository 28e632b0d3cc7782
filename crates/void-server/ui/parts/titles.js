// @ts-check
// What a request is called: of a draft with the name of what it is about, which its label leaves out.

import { t } from "../lib/words.js";

/** @param {{label: string, change?: {about?: {title: string} | null} | null}} row */
export function rowTitle({ label, change }) {
  const title = change?.about?.title;
  return title ? t("row.titled", { label, title }) : label;
}
