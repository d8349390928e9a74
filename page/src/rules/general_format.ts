/** Numbers as Python's format `g` writes them, so that both sides say the same. */

export function general(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  if (value === 0) return "0";
  const [mantissa = "0", exponent = "0"] = value.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  const short = (text: string): string =>
    text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  if (power >= -4 && power < digits) return short(value.toFixed(digits - 1 - power));
  const sign = power < 0 ? "-" : "+";
  return `${short(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}
