/** Elements of the page. Texts enter as text nodes, never as HTML. */

type Child = Node | string | null;
type Attributes = Record<string, string | boolean | EventListener>;

/** Makes an element: attributes by name, listeners as functions under the name of their event. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An element of the page's frame, which index.html holds. */
export function find(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no element ${id}`);
  return element;
}

let last = 0;

/** A label and its control, tied together. */
export function labelled(label: string, control: HTMLElement, ...behind: Child[]): HTMLElement {
  control.id ||= `control-${++last}`;
  return make(
    "div",
    { class: "field" },
    make("label", { for: control.id }, label),
    control,
    ...behind,
  );
}

export function table(caption: string, head: string[], rows: Child[][]): HTMLTableElement {
  const line = (cells: Child[], tag: "th" | "td"): HTMLTableRowElement =>
    make(
      "tr",
      {},
      ...cells.map((cell, place) => {
        if (tag === "th") return make("th", { scope: "col" }, cell);
        return place === 0 ? make("th", { scope: "row" }, cell) : make("td", {}, cell);
      }),
    );
  return make(
    "table",
    {},
    make("caption", {}, caption),
    make("thead", {}, line(head, "th")),
    make("tbody", {}, ...rows.map((row) => line(row, "td"))),
  );
}

/** Screen readers would read every result of a moving slider; they get the last one. */
const QUIET_MS = 500;
let announcing: ReturnType<typeof setTimeout> | undefined;

/** Says something to screen readers. */
export function announce(text: string): void {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    const region = find("announcement");
    if (region.textContent !== text) region.textContent = text;
  }, QUIET_MS);
}

/** A button that copies a command, or selects it where the browser does not let the page copy. */
export function copyButton(command: HTMLElement): HTMLButtonElement {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      announce("The command is copied");
    } catch {
      window.getSelection()?.selectAllChildren(command);
      announce("The command is selected; copy it with the keyboard");
    }
  };
  return make("button", { type: "button", click: () => void copy() }, "Copy");
}

/** Offers a file for download. */
export function download(name: string, content: Blob): void {
  const link = make("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Whether a part is on the page; an embedded page has some of them. */
export function isShown(...parts: string[]): boolean {
  return parts.some((part) => find(part).offsetParent !== null);
}

/** Tells once that one of the parts is on the screen. */
export function whenSeen(parts: string[], tell: () => void): void {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    tell();
  });
  for (const part of parts) observer.observe(find(part));
}
