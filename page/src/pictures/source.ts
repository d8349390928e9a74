/** Where a picture comes from, for pictures that leave the page. */

export interface Source {
  /** Title of the scenario. */
  title: string;
  /** Link, buffer, seed, version and hash: what repeats the run. */
  settings: string;
  /** Address of the page with the scenario; empty where none holds it. */
  address: string;
}

/** Characters of words in one line below a picture. */
const WORDS = 100;
/** Characters of an address in one line below a picture. */
const LINE = 148;
/** Longer addresses are in the file alone: they would be higher than the picture. */
const MOST_LINES = 16;

/** An address in lines of a fixed width; none if it is too long to be read. */
export function addressLines(address: string): string[] {
  const lines = address.match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
  return lines.length > MOST_LINES ? [] : lines;
}

/** Words in lines of a largest length, which a longer word exceeds. */
export function wordLines(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < WORDS)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
