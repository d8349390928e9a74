/** Where the keys and values of a TOML text stand. smol-toml parses values; this finds places. */

export interface Place {
  /** Path from the root, dotted keys and headers joined. */
  path: string[];
  /** Start of the key. */
  from: number;
  /** Start and end of the value. */
  valueFrom: number;
  valueTo: number;
  /** Whether the key stands in an inline table. */
  inline: boolean;
  /** The table with a header that the key stands in. */
  table: Header;
}

export interface Header {
  path: string[];
  /** Start of the line of the header, and the end of the header itself. */
  from: number;
  to: number;
  /** Where a new line of this table goes: behind its last value, or behind the header. */
  end: number;
}

export interface Places {
  values: Place[];
  /** The tables with a header; the first entry is the root. */
  headers: Header[];
}

/** The text is not TOML that the page can change in place. */
export class PlaceError extends Error {}

const BARE = /[A-Za-z0-9_-]/;

class Reader {
  at = 0;
  readonly text: string;
  readonly values: Place[] = [];
  readonly headers: Header[] = [];
  #table: Header = { path: [], from: 0, to: 0, end: 0 };

  constructor(text: string) {
    this.text = text;
  }

  get peek(): string {
    return this.text[this.at] ?? "";
  }

  fail(what: string): never {
    const line = this.text.slice(0, this.at).split("\n").length;
    throw new PlaceError(`line ${line}: ${what}`);
  }

  spaces(): void {
    while (this.peek === " " || this.peek === "\t") this.at++;
  }

  /** Skips white space, line ends and comments. */
  blank(): void {
    for (;;) {
      if (/\s/.test(this.peek)) this.at++;
      else if (this.peek === "#") this.restOfLine();
      else return;
    }
  }

  restOfLine(): void {
    const end = this.text.indexOf("\n", this.at);
    this.at = end < 0 ? this.text.length : end;
  }

  document(): Places {
    this.headers.push(this.#table);
    for (;;) {
      this.blank();
      if (this.at >= this.text.length) return { values: this.values, headers: this.headers };
      if (this.peek === "[") {
        this.#table = this.header();
      } else {
        this.pair(this.#table.path, false);
        this.#table.end = this.at;
      }
    }
  }

  header(): Header {
    const from = this.at;
    const isArray = this.text.startsWith("[[", from);
    this.at += isArray ? 2 : 1;
    const path = this.key();
    const close = isArray ? "]]" : "]";
    if (!this.text.startsWith(close, this.at)) this.fail(`expected ${close}`);
    this.at += close.length;
    if (isArray) {
      const earlier = this.headers.filter((other) => isUnder(other.path, path)).length;
      path.push(String(earlier));
    }
    const header = { path, from, to: this.at, end: this.at };
    this.headers.push(header);
    return header;
  }

  /** A key with dots, without the white space behind it. */
  key(): string[] {
    const path: string[] = [];
    for (;;) {
      this.spaces();
      path.push(this.keyPart());
      this.spaces();
      if (this.peek !== ".") return path;
      this.at++;
    }
  }

  keyPart(): string {
    const from = this.at;
    if (this.peek === '"' || this.peek === "'") {
      this.string();
      const raw = this.text.slice(from, this.at);
      return raw.startsWith("'") ? raw.slice(1, -1) : (JSON.parse(raw) as string);
    }
    while (BARE.test(this.peek)) this.at++;
    if (this.at === from) this.fail("expected a key");
    return this.text.slice(from, this.at);
  }

  pair(prefix: string[], inline: boolean): void {
    const from = this.at;
    const path = [...prefix, ...this.key()];
    if (this.peek !== "=") this.fail("expected =");
    this.at++;
    this.spaces();
    const place = { path, from, valueFrom: this.at, valueTo: this.at, inline, table: this.#table };
    this.values.push(place);
    this.value(path);
    place.valueTo = this.at;
  }

  value(path: string[]): void {
    if (this.peek === '"' || this.peek === "'") this.string();
    else if (this.peek === "[") this.array(path);
    else if (this.peek === "{") this.inlineTable(path);
    else this.plain();
  }

  string(): void {
    const quote = this.peek;
    const triple = quote.repeat(3);
    const mark = this.text.startsWith(triple, this.at) ? triple : quote;
    this.at += mark.length;
    while (!this.text.startsWith(mark, this.at)) {
      if (this.at >= this.text.length) this.fail("a text without end");
      if (mark.length === 1 && this.peek === "\n") this.fail("a text without end");
      this.at += quote === '"' && this.peek === "\\" ? 2 : 1;
    }
    this.at += mark.length;
    // A text in three quotes may end with one or two quotes of its own.
    while (mark.length === 3 && this.peek === quote) this.at++;
  }

  array(path: string[]): void {
    this.at++;
    for (let place = 0; ; place++) {
      this.blank();
      if (this.peek === "]") break;
      this.value([...path, String(place)]);
      this.blank();
      if (this.peek === ",") this.at++;
      else if (this.peek !== "]") this.fail("expected , or ]");
    }
    this.at++;
  }

  inlineTable(path: string[]): void {
    this.at++;
    for (;;) {
      this.blank();
      if (this.peek === "}") break;
      this.pair(path, true);
      this.blank();
      if (this.peek === ",") this.at++;
      else if (this.peek !== "}") this.fail("expected , or }");
    }
    this.at++;
  }

  plain(): void {
    const from = this.at;
    while (this.at < this.text.length && !/[\s,\]}#]/.test(this.peek)) this.at++;
    if (this.at === from) this.fail("expected a value");
  }
}

export function isUnder(path: string[], prefix: string[]): boolean {
  return prefix.length <= path.length && prefix.every((part, place) => path[place] === part);
}

export function isSame(first: string[], second: string[]): boolean {
  return first.length === second.length && isUnder(first, second);
}

/** Finds every key of a TOML text.
 *
 * @throws PlaceError if the text is not TOML.
 */
export function findPlaces(text: string): Places {
  return new Reader(text).document();
}
