/** Light, dark, or as the system has it. */

import { labelled, make } from "../dom";

const KEY = "tailroom-theme";

/** Storage may be forbidden; the switch then holds until the page is left. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function store(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // See `stored`.
  }
}

function apply(theme: string): void {
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
  else delete document.documentElement.dataset["theme"];
}

export function addThemeSwitch(host: HTMLElement, onChange: () => void): void {
  const themes = [
    ["system", "as the system"],
    ["light", "light"],
    ["dark", "dark"],
  ] as const;
  const chosen = stored() ?? "system";
  const options = themes.map(([value, text]) =>
    make("option", { value, selected: value === chosen }, text),
  );
  const select = make("select", {}, ...options);
  apply(chosen);
  select.addEventListener("change", () => {
    store(select.value);
    apply(select.value);
    onChange();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange);
  host.append(labelled("Colours", select));
}
