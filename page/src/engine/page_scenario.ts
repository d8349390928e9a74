/** What `tailroom explore` hands to the page. A static copy of the page has a file that says null. */

/** The scenario that `tailroom explore FILE` was started with. */
export interface OpenedScenario {
  name: string;
  text: string;
  /** Texts of the files that it names, by their path. */
  files: Record<string, string>;
}

export interface Opened {
  /** Largest number of runs at a time; null for the number of cores. */
  workers: number | null;
  scenario: OpenedScenario | null;
}

/** Returns null if the page does not come from `tailroom explore`. */
export async function readOpened(): Promise<Opened | null> {
  try {
    const response = await fetch("opened.json");
    return response.ok ? ((await response.json()) as Opened | null) : null;
  } catch {
    return null;
  }
}
