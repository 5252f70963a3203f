// Before anything is drawn: the chosen theme, and that there are scripts.
(() => {
  const root = document.documentElement;
  root.classList.add("has-script");
  try {
    const theme = localStorage.getItem("codex-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage may be forbidden; the system's choice holds.
  }
})();
