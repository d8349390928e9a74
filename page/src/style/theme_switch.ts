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

/** What a page that embeds this one asks for, in place of what is stored. */
let asked: string | null = null;

/** Follows the theme of an embedding page, which posts `{ theme: "dark" }`. */
export function followEmbeddingPage(): void {
  window.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    const theme = (data as { theme?: unknown } | null)?.theme;
    if (typeof theme !== "string") return;
    asked = theme;
    apply(theme);
  });
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
  apply(asked ?? chosen);
  select.addEventListener("change", () => {
    store(select.value);
    apply(select.value);
  });
  new MutationObserver(onChange).observe(document.documentElement, {
    attributeFilter: ["data-theme"],
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange);
  host.append(labelled("Colours", select));
}
