/** How a message repeats text that somebody else wrote; the engine and Python do the same. */

const LONGEST = 80;
/** Characters that a quote has of a longer text, in front of the length of the text. */
const BEGINNING = 50;
const OBEYED = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** The text for a message: at most 80 characters, control characters shown. */
export function quoted(text: string): string {
  const quote = text.slice(0, LONGEST + 1).replaceAll(OBEYED, escaped);
  if (quote.length <= LONGEST) return quote;
  return `${quote.slice(0, BEGINNING)}... (${text.length} characters)`;
}

function escaped(letter: string): string {
  const code = letter.charCodeAt(0);
  return code < 256
    ? `\\x${code.toString(16).padStart(2, "0")}`
    : `\\u${code.toString(16).padStart(4, "0")}`;
}
