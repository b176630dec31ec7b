// An animated WebP, from the WebP that the browser makes of each frame.
// The format: https://developers.google.com/speed/webp/docs/riff_container

const HEADER = 12; // bytes of a file before its first chunk: RIFF, its size, WEBP

const letters = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const little = (value, size) => Uint8Array.from({ length: size }, (_, place) => (value >>> (8 * place)) & 255);

/** Bytes one after the other. */
function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}

/** A chunk, of an even number of bytes. */
const chunk = (name, ...parts) => {
  const content = joined(...parts);
  return joined(letters(name), little(content.length, 4), content, new Uint8Array(content.length % 2));
};

/** The chunks of a canvas as WebP that are its picture; profiles of colours and the like have no place in a frame. */
async function encoded(canvas) {
  const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/webp", 0.9); });
  if (blob?.type !== "image/webp") throw new Error("this browser does not write WebP");
  const data = await blob.arrayBuffer();
  const kept = [];
  for (let at = HEADER, end; at < data.byteLength; at = end) {
    end = at + 8 + 2 * Math.ceil(new DataView(data).getUint32(at + 4, true) / 2);
    const name = String.fromCharCode(...new Uint8Array(data, at, 4));
    if (/^(VP8[ L]|ALPH)$/.test(name)) kept.push(new Uint8Array(data.slice(at, end)));
  }
  return joined(...kept);
}

/** Frames of one size, added one by one, as a file that plays for ever. */
export class Animation {
  #frames = [];
  #size = null; // of all frames, less 1, as the format has it

  /** Add a canvas that is shown for so many ms. */
  async add(canvas, duration) {
    this.#size ??= joined(little(canvas.width - 1, 3), little(canvas.height - 1, 3));
    const at = new Uint8Array(6); // in the corner
    this.#frames.push(chunk("ANMF", at, this.#size, little(duration, 3), Uint8Array.of(2), await encoded(canvas)));
  }

  get blob() {
    const flags = Uint8Array.of(2, 0, 0, 0); // it is an animation
    const [background, loops] = [new Uint8Array(4), new Uint8Array(2)];
    const body = joined(letters("WEBP"), chunk("VP8X", flags, this.#size), chunk("ANIM", background, loops), ...this.#frames);
    return new Blob([letters("RIFF"), little(body.length, 4), body], { type: "image/webp" });
  }
}
