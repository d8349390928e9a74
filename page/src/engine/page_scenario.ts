/** What `tailroom explore` hands to the page. The page as it was built has a file that says null. */

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
  /** Whether the page is a copy that `tailroom explore --out` wrote. */
  copy: boolean;
  scenario: OpenedScenario | null;
}

/** Returns null if the page does not come from `tailroom explore`. A copy may be written anew: the browser asks. */
export async function readOpened(): Promise<Opened | null> {
  try {
    const response = await fetch("opened.json", { cache: "no-cache" });
    return response.ok ? ((await response.json()) as Opened | null) : null;
  } catch {
    return null;
  }
}
