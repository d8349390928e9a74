import { expect, test } from "vitest";
import { quantityShown, quantityWritten } from "../src/ask/fields";
import {
  plain,
  QuantityError,
  readNumber,
  readPercent,
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
  expect(quantityShown({ uniform: ["20 ms", "40 ms"] })).toBe("20 ms to 40 ms");
  expect(quantityShown({ from: "1 ms", to: "2 ms" })).toBe('{ from = "1 ms", to = "2 ms" }');
  expect(quantityWritten('{ from = "1 ms", to = "2 ms" }')).toBe('{ from = "1 ms", to = "2 ms" }');
});

test("numbers have a decimal point wherever the page is read", () => {
  expect(plain(1234.5, 6)).toBe("1,234.5");
  expect(plain(0.012345)).toBe("0.0123");
  expect(plain(98.765)).toBe("98.8");
  expect(plain(0)).toBe("0");
});
