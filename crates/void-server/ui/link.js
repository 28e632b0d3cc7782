// @ts-check
// Beside the card that came by a link: times in the reader's own clock, and the state as it changes. The
// page works without any of this.

const article = /** @type {HTMLElement | null} */ (document.querySelector("[data-id]"));
const ENDED = ["executed", "failed", "rejected", "expired", "cancelled", "unknown", "refused"];
const LOOK_MS = 1000;

for (const node of document.querySelectorAll("time")) {
  node.title = node.dateTime;
  node.textContent = new Date(node.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

// Signed in, but come from another site: the cookie travels with the next step.
if (document.querySelector("[data-state=signed-out]") && !sessionStorage.getItem("came")) {
  sessionStorage.setItem("came", "yes");
  fetch("/api/session", { cache: "no-store" })
    .then((answer) => {
      if (answer.ok) location.reload();
    })
    .catch(() => {});
} else sessionStorage.removeItem("came");

for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", () => {
    for (const button of form.querySelectorAll("button")) {
      button.disabled = true;
      button.textContent = form.dataset.sending ?? "";
    }
  });
}

/** Looks until it is over; a page that changes under a finger about to tap would be worse than a reload. */
async function look() {
  if (!article) return;
  const { id, status, shown, revision } = article.dataset;
  try {
    const answer = await fetch(`/api/proposals/${id}`, { cache: "no-store" });
    if (answer.ok) {
      const row = await answer.json();
      if (row.display_state !== shown || String(row.revision) !== revision) return location.replace(location.pathname);
    }
  } catch {
    // Looked at again below.
  }
  if (!ENDED.includes(status ?? "") || shown === "being_checked") setTimeout(() => void look(), LOOK_MS);
}
void look();
