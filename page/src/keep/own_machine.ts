/** Addresses that lead each visitor to his own machine. */

/** Whether others cannot open an address: its host is the machine of the browser. */
export function isOwnMachine(address: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);
}
