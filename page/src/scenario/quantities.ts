/** Quantities as people write them, and numbers as the page shows them. */

/** Prefixes of units: 1 Mbit/s is 10^6 bit/s. */
const RATES: Record<string, number> = { bit: 1, kbit: 1e3, Mbit: 1e6, Gbit: 1e9, Tbit: 1e12 };
const SIZES: Record<string, number> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };
const SECONDS: Record<string, number> = {
  ps: 1e-12,
  ns: 1e-9,
  us: 1e-6,
  ms: 1e-3,
  s: 1,
  min: 60,
  h: 3600,
};

/** A quantity that the page cannot read. */
export class QuantityError extends Error {}

/** Returns the text with a decimal point where it has a decimal comma: "0,5 bdp" as "0.5 bdp".
 *
 * @throws QuantityError if the comma may mean thousands as well: "1,500 B".
 */
export function withPoint(text: string): string {
  const number = /^\s*[-+]?[\d.,_]*/.exec(text)?.[0] ?? "";
  const commas = number.split(",").length - 1;
  if (commas === 0) return text;
  const [whole = "", fraction = ""] = number.split(",");
  const isThousands = fraction.trim().length === 3 && Number(whole) !== 0;
  if (commas > 1 || number.includes(".") || isThousands) {
    throw new QuantityError(
      `"${text.trim()}": the comma may separate thousands or decimals; write a decimal point`,
    );
  }
  return number.replace(",", ".") + text.slice(number.length);
}

/** Reads a number with a decimal point or comma.
 *
 * @throws QuantityError if the text is not a number.
 */
export function readNumber(text: string): number {
  const number = Number(withPoint(text).trim());
  if (text.trim() === "" || !Number.isFinite(number)) {
    throw new QuantityError(`"${text.trim()}" is not a number`);
  }
  return number;
}

/** The largest integer of TOML. */
const LARGEST_INTEGER = 2n ** 63n - 1n;

/** Reads a whole number, exactly.
 *
 * @throws QuantityError if the text is not a whole number from 0 to 2^63 - 1.
 */
export function readInteger(text: string): bigint {
  const digits = text.trim().replaceAll("_", "");
  const value = /^\d+$/.test(digits) ? BigInt(digits) : null;
  if (value === null || value > LARGEST_INTEGER) {
    throw new QuantityError(
      `"${text.trim()}" is not a whole number from 0 to ${LARGEST_INTEGER.toString()}`,
    );
  }
  return value;
}

/** Reads a utilization: "98 %", "98" and "0.98" as 0.98, since nobody asks for one per cent.
 *
 * @throws QuantityError if the text is neither a percentage nor a fraction.
 */
export function readUtilization(text: string): number {
  const isFraction = !text.includes("%") && readNumber(text) <= 1;
  return isFraction ? readNumber(text) : readPercent(text);
}

/** Reads a duration such as "500 us"; a number alone counts milliseconds.
 *
 * @throws QuantityError if the text is not a duration.
 */
export function readDuration(text: string): number {
  const written = withPoint(text);
  if (!/[a-z]/.test(written)) return readNumber(text) / 1000;
  const seconds = secondsOf(written);
  if (Number.isFinite(seconds)) return seconds;
  throw new QuantityError(`"${text.trim()}" is not a duration; write for example 10 ms`);
}

/** Reads a percentage with or without its sign: "98 %" and "98" as 0.98.
 *
 * @throws QuantityError if the text is not a percentage.
 */
export function readPercent(text: string): number {
  return readNumber(text.replace(/%\s*$/, "")) / 100;
}

function split(text: string): [number, string] {
  const match = /^\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(.*?)\s*$/.exec(text.replaceAll("_", ""));
  return match ? [Number(match[1]), match[2] ?? ""] : [Number.NaN, ""];
}

/** Seconds of a duration such as "20 ms"; NaN if the text is not a duration. */
export function secondsOf(text: string): number {
  const [number, unit] = split(text);
  return number * (SECONDS[unit] ?? Number.NaN);
}

/** Bytes of a size such as "1 MB"; NaN if the text is not a size. */
export function bytesOf(text: string): number {
  const [number, unit] = split(text);
  return number * (SIZES[unit] ?? Number.NaN);
}

/** Bits per second of a rate such as "100 Mbit/s"; NaN if the text is not a rate. */
export function rateOf(text: string): number {
  const [number, unit] = split(text);
  const name = unit.replace(/\/s$/, "").replace(/bps$/, "bit");
  return number * (RATES[name] ?? Number.NaN);
}

const THIN_SPACE = "\u202f";

/** A number with so many significant digits, without a trailing zero: 0.0123, 12,300. */
export function plain(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size < -4) return value.toExponential(digits - 1).replace("-", "−");
  const rounded = Number(value.toPrecision(Math.max(digits, Math.min(size + 1, 15))));
  const decimals = Math.max(0, digits - 1 - size);
  // Always with a decimal point, as in the scenario next to it.
  return formatWith(Math.min(decimals, 20)).format(rounded);
}

const formats = new Map<number, Intl.NumberFormat>();

/** To make a format takes a hundred times as long as to use it. */
function formatWith(decimals: number): Intl.NumberFormat {
  const known = formats.get(decimals);
  if (known) return known;
  const made = new Intl.NumberFormat("en", { maximumFractionDigits: decimals });
  formats.set(decimals, made);
  return made;
}

export function percent(fraction: number | null, digits = 2): string {
  return fraction === null ? "–" : `${(100 * fraction).toFixed(digits)}${THIN_SPACE}%`;
}

/** A loss fraction, in per cent. */
export function loss(fraction: number | null): string {
  return fraction === null ? "–" : `${plain(100 * fraction)}${THIN_SPACE}%`;
}

export function duration(seconds: number | null): string {
  if (seconds === null) return "–";
  const size = Math.abs(seconds);
  if (size === 0) return `0${THIN_SPACE}ms`;
  if (size < 1e-3) return `${plain(1e6 * seconds)}${THIN_SPACE}µs`;
  if (size < 1) return `${plain(1e3 * seconds)}${THIN_SPACE}ms`;
  return `${plain(seconds)}${THIN_SPACE}s`;
}

function scaled(value: number, units: string[]): string {
  let place = 0;
  let number = value;
  while (number >= 999.5 && place < units.length - 1) {
    number /= 1000;
    place++;
  }
  return `${plain(number)}${THIN_SPACE}${units[place] ?? ""}`;
}

export function rate(bps: number | null): string {
  return bps === null ? "–" : scaled(bps, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]);
}

export function bytes(count: number): string {
  return scaled(count, ["B", "kB", "MB", "GB", "TB"]);
}

export function packets(count: number): string {
  const shown = plain(count, count < 100 ? 3 : 4);
  return `${shown}${THIN_SPACE}${shown === "1" ? "packet" : "packets"}`;
}
