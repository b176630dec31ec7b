// Numbers of 16 bits, of which not every browser has arrays.

const number = new Float32Array(1);
const bits = new Uint32Array(number.buffer);

/** The bits of a number that 16 bits hold. */
export function toHalf(value) {
  number[0] = value;
  const sign = (bits[0] >>> 16) & 0x8000;
  const exponent = (bits[0] >>> 23) & 0xff;
  const fraction = bits[0] & 0x7fffff;
  if (exponent > 142) return sign | 0x7c00 | (fraction >>> 13); // infinite, or no number
  if (exponent > 112) return sign | ((exponent - 112) << 10) | (fraction >>> 13);
  return sign | (exponent > 101 ? (fraction | 0x800000) >>> (126 - exponent) : 0);
}

/** The number of 16 bits. */
export function fromHalf(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}
