// The chosen colours: the only thing that the page stores. The addresses of its pages are in the
// browser's history; none has the id of a person or of an application.
export type Theme = "auto" | "light" | "dark";
const KEY = "rampart-colours";

export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : "auto";
  } catch {
    return "auto";
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function keepTheme(theme: Theme): void {
  applyTheme(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // a browser that stores nothing shows them until the page is left
  }
}
