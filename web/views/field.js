// What a network without memory gives over the square from −1 to 1, sampled between frames.

export const SIZE = 96; // points each way
const SLICE = 8; // ms of work between two frames
const MOST_WORK = 4e7; // connections × points

/** Whether a network can be sampled while somebody waits. */
export const canSample = (playing) => !playing.hasMemory && playing.evaluator.weight.length * SIZE * SIZE <= MOST_WORK;

/**
 * Sample row by row, from the top.
 * @param inputsAt x, y → the inputs there
 * @param done receives values, all outputs of a point beside each other
 * @returns what stops it
 */
export function sampled(playing, inputsAt, done) {
  const each = playing.evaluator.outputs.length;
  const values = new Float64Array(SIZE * SIZE * each);
  let [row, asked] = [0, 0];
  const some = () => {
    const until = performance.now() + SLICE;
    for (; row < SIZE && performance.now() < until; row += 1) {
      for (let column = 0; column < SIZE; column += 1) {
        const point = inputsAt(((column + 0.5) / SIZE) * 2 - 1, 1 - ((row + 0.5) / SIZE) * 2);
        values.set(playing.probe(point), (row * SIZE + column) * each);
      }
    }
    playing.resume();
    if (row < SIZE) asked = requestAnimationFrame(some);
    else done(values);
  };
  asked = requestAnimationFrame(some);
  return () => cancelAnimationFrame(asked);
}

/** The least and the greatest of the finite values. */
export function rangeOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** Fill a canvas; `colourAt` gives [red, green, blue, alpha] of a point, from 0 to 255. */
export function paint(canvas, colourAt) {
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(SIZE, SIZE);
  for (let place = 0; place < SIZE * SIZE; place += 1) image.data.set(colourAt(place), place * 4);
  pen.putImageData(image, 0, 0);
}
