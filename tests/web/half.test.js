// Numbers of 16 bits.
import assert from "node:assert/strict";
import test from "node:test";
import { fromHalf, toHalf } from "../../web/half.js";

test("each of the numbers comes back as its bits", () => {
  for (let half = 0; half < 0x10000; half += 1) {
    const value = fromHalf(half);
    if (Number.isNaN(value)) assert.ok(Number.isNaN(fromHalf(toHalf(value))));
    else assert.equal(toHalf(value), half);
  }
});

test("bits are numbers as IEEE 754 has them", () => {
  const known = { 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: 2 ** -24, 0x0400: 2 ** -14, 0x3555: 0.333251953125, 0x7c00: Infinity };
  for (const [half, value] of Object.entries(known)) assert.equal(fromHalf(Number(half)), value);
  assert.ok(Object.is(fromHalf(0x8000), -0));
});
