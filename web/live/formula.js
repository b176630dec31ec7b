// Formulas as the engine gives them, made into functions. A tree is a number, "z" for the variable,
// or a list of a primitive's name and its arguments; neat_onnx/network/expression.py defines each.

const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const elu = (x, alpha) => (x > 0 ? x : alpha * Math.expm1(Math.min(x, 0)));

/** The error function: a series near zero, a continued fraction far from it; exact to 1e-15. */
function erf(x) {
  const size = Math.abs(x);
  if (!(size < 6)) return Number.isNaN(x) ? NaN : Math.sign(x);
  if (size < 2.5) {
    let [term, sum] = [size, size];
    for (let n = 1; Math.abs(term) > 1e-17 * sum; n += 1) {
      term *= (2 * size * size) / (2 * n + 1);
      sum += term;
    }
    return Math.sign(x) * sum * (2 / Math.sqrt(Math.PI)) * Math.exp(-size * size);
  }
  let tail = 0;
  for (let n = 60; n > 0; n -= 1) tail = n / 2 / (size + tail);
  return Math.sign(x) * (1 - Math.exp(-size * size) / Math.sqrt(Math.PI) / (size + tail));
}

/** The nearest whole number, halves to the even one. */
const round = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** A power: 1 to any, and −1 to an infinite one, are 1, which JavaScript has as NaN. */
const pow = (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y);

const OF_MATH = [
  "abs", "sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
  "floor", "ceil",
];
const SCALAR = {
  ...Object.fromEntries(OF_MATH.map((name) => [name, Math[name]])),
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  neg: (x) => -x,
  reciprocal: (x) => 1 / x,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  relu: (x) => Math.max(x, 0),
  softplus,
  softsign: (x) => x / (1 + Math.abs(x)),
  elu,
  selu: (x, alpha, gamma) => gamma * elu(x, alpha),
  leaky_relu: (x, slope) => (x < 0 ? slope * x : x),
  clip: (x, low, high) => Math.min(Math.max(x, low), high),
  erf,
  sign: (x) => Math.sign(x) + 0, // of −0 it is 0
  round,
  pow,
  mod: (x, y) => x % y,
  maximum: Math.max,
  minimum: Math.min,
  greater: (x, y) => x > y,
  greater_or_equal: (x, y) => x >= y,
  less: (x, y) => x < y,
  less_or_equal: (x, y) => x <= y,
  both: (x, y) => Boolean(x && y),
  either: (x, y) => Boolean(x || y),
  one_of: (x, y) => Boolean(x) !== Boolean(y),
  negated: (x) => !x,
  is_nan: Number.isNaN,
  is_infinite: (x) => Math.abs(x) === Infinity,
  equal: (x, y) => x === y,
  where: (truth, x, y) => (truth ? x : y),
  number: (truth) => (truth ? 1 : 0),
};

const ascending = (v) => Float64Array.from(v).sort();

/** Over, or along, all the inputs of a neuron. */
const REDUCING = {
  total: (v) => v.reduce((sum, x) => sum + x, 0),
  product: (v) => v.reduce((all, x) => all * x, 1),
  largest: (v) => v.reduce((most, x) => Math.max(most, x), -Infinity),
  smallest: (v) => v.reduce((least, x) => Math.min(least, x), Infinity),
  // the first, on ties; a NaN is larger than every number
  where_largest: (v) => v.reduce((best, x, place) => (x <= v[best] || Number.isNaN(v[best]) ? best : place), 0),
  pick: (v, index) => [v[index]],
  lowest: (v, count) => ascending(v).subarray(0, count),
};

const WORDS = { inf: Infinity, "-inf": -Infinity, nan: NaN };

/** The tree of an activation → a function of z. */
export function scalar(tree) {
  if (tree === "z") return (z) => z;
  if (typeof tree !== "object") return constant(tree);
  const [name, ...rest] = tree;
  const call = SCALAR[name];
  if (!call) throw new Error(`there is no primitive '${name}'`);
  const [a, b, c] = rest.map(scalar);
  if (!b) return (z) => call(a(z));
  return c ? (z) => call(a(z), b(z), c(z)) : (z) => call(a(z), b(z));
}

/** The tree of an aggregation → a function of the weighted inputs, an array. */
export function aggregate(tree) {
  if (tree === "z") return (v) => v;
  if (typeof tree !== "object") return constant(tree);
  const [name, ...rest] = tree;
  const parts = rest.map(aggregate);
  if (name in REDUCING) return (v) => REDUCING[name](...parts.map((part) => part(v)));
  const call = SCALAR[name];
  if (!call) throw new Error(`there is no primitive '${name}'`);
  return (v) => spread(call, parts.map((part) => part(v)));
}

/** Apply `call` to each element of those arguments that are arrays. */
function spread(call, values) {
  const array = values.find((value) => typeof value === "object");
  if (!array) return call(...values);
  return Array.from(array, (_, place) => call(...values.map(
    (value) => (typeof value === "object" ? value[place] : value),
  )));
}

function constant(value) {
  const number = typeof value === "string" ? WORDS[value] : value;
  return () => number;
}
