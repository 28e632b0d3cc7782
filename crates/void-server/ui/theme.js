// Runs before anything is painted, so that no page flashes in the wrong theme.
(() => {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  if (localStorage.getItem("density") === "compact") document.documentElement.dataset.density = "compact";
})();
