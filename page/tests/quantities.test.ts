import { expect, test } from "vitest";
import { numberOrWordWritten, quantityWritten, valueShown } from "../src/ask/fields";
import {
  loss,
  plain,
  QuantityError,
  readDuration,
  readInteger,
  readNumber,
  readPercent,
  readUtilization,
  withPoint,
} from "../src/scenario/quantities";

test("a decimal comma becomes a point", () => {
  expect(withPoint("0,5 bdp")).toBe("0.5 bdp");
  expect(withPoint("0,125 bdp")).toBe("0.125 bdp");
  expect(withPoint("12,5 ms")).toBe("12.5 ms");
  expect(withPoint("100 Mbit/s")).toBe("100 Mbit/s");
  expect(readNumber("1,5")).toBe(1.5);
  expect(readPercent("98,5 %")).toBe(0.985);
});

test("a comma that may separate thousands is refused", () => {
  expect(() => withPoint("1,500 B")).toThrow(QuantityError);
  expect(() => withPoint("1,000,000 B")).toThrow(QuantityError);
  expect(() => readNumber("")).toThrow(QuantityError);
  expect(() => readNumber("ten")).toThrow(QuantityError);
});

test("a range is written as TOML and shown again", () => {
  expect(quantityWritten("20 ms to 40,5 ms")).toBe('{ uniform = ["20 ms", "40.5 ms"] }');
  expect(valueShown({ uniform: ["20 ms", "40 ms"] })).toBe("20 ms to 40 ms");
  expect(valueShown({ from: "1 ms", to: "2 ms" })).toBe('{ from = "1 ms", to = "2 ms" }');
  expect(quantityWritten('{ from = "1 ms", to = "2 ms" }')).toBe('{ from = "1 ms", to = "2 ms" }');
});

test("a word in place of a number is shown and written without quotes", () => {
  expect(valueShown("auto")).toBe("auto");
  expect(valueShown(4)).toBe("4");
  for (const text of ["auto", ' "auto" ']) expect(numberOrWordWritten(text)).toBe('"auto"');
  expect(numberOrWordWritten("4")).toBe("4");
  expect(() => numberOrWordWritten("4 auto")).toThrow(QuantityError);
});

test("numbers have a decimal point wherever the page is read", () => {
  expect(plain(1234.5, 6)).toBe("1,234.5");
  expect(plain(0.012345)).toBe("0.0123");
  expect(plain(98.765)).toBe("98.8");
  expect(plain(0)).toBe("0");
});

test("a utilization is read as a fraction or in per cent, as people write it", () => {
  for (const text of ["98", "98 %", "98%", "0.98", "0,98"])
    expect(readUtilization(text)).toBe(0.98);
  expect(readUtilization("100")).toBe(1);
  expect(readUtilization("1")).toBe(1);
  expect(readUtilization("0.5 %")).toBe(0.005);
  expect(() => readUtilization("high")).toThrow(QuantityError);
});

test("a duration without a unit counts milliseconds", () => {
  expect(readDuration("12")).toBe(0.012);
  expect(readDuration("12 ms")).toBeCloseTo(0.012, 15);
  expect(readDuration("0,5 s")).toBe(0.5);
  expect(readDuration("500 us")).toBeCloseTo(0.0005, 15);
  expect(() => readDuration("12 parsec")).toThrow(QuantityError);
});

test("a seed is exact up to the largest integer of TOML", () => {
  expect(String(readInteger("9007199254740993"))).toBe("9007199254740993");
  expect(String(readInteger("9223372036854775807"))).toBe("9223372036854775807");
  for (const text of ["9223372036854775808", "-1", "2.5", ""]) {
    expect(() => readInteger(text)).toThrow("whole number");
  }
});

test("a loss is in per cent, however small", () => {
  expect(loss(0.000163)).toBe("0.0163\u202f%");
  expect(loss(0.005)).toBe("0.5\u202f%");
  expect(loss(0)).toBe("0\u202f%");
});
