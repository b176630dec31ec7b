// The drawing as a picture to pass on, as the engine draws it; and as frames of an animation, by the painter of the canvas.
import { drawNeurons, drawScene, drawStraight, readColours } from "./paint.js";

/** A PNG, twice as fine, of a drawing as SVG; its colours follow the theme by themselves. */
export async function pngOf(svg) {
  const image = Object.assign(new Image(), { src: `data:image/svg+xml,${encodeURIComponent(svg)}` });
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve); });
}

/** A frame of `width` and `height`: a drawing, perhaps on its way to where it belongs, with words in the corner. */
export function frameOf({ scene, live, activations, moving, key }, { width, height }, words) {
  const colours = readColours(key);
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const pen = canvas.getContext("2d", { alpha: false });
  pen.fillStyle = colours.card;
  pen.fillRect(0, 0, width, height);
  if (moving) {
    drawStraight(pen, scene, colours);
    drawNeurons(pen, scene, colours, scene.neurons.map((_, place) => place), activations);
  } else drawScene(pen, scene, colours, live, activations);
  Object.assign(pen, { font: "600 12px system-ui, sans-serif", fillStyle: colours.ink, textAlign: "left", globalAlpha: 1 });
  pen.fillText(words, 12, height - 12);
  return canvas;
}
