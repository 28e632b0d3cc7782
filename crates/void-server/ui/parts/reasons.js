// @ts-check
// Why a service is not up, in words. A code that this page does not know is shown as it is.

import { t } from "../lib/words.js";

const REASONS = ["refused", "unreachable", "timed_out", "reset", "wrong_status", "not_http", "stopped", "unknown_name", "certificate", "proxmox", "local", "stale"];

/** @param {string | null | undefined} reason what a check says */
export const reasonWords = (reason) => !reason ? "" : REASONS.includes(reason) ? t(`reason.check.${reason}`) : reason;
