// Files that are plainly something else, by their first bytes.

const KINDS = [
  ["89504e470d0a1a0a", "a PNG image"],
  ["ffd8ff", "a JPEG image"],
  ["47494638", "a GIF image"],
  ["52494646", "a WebP image or another RIFF file"],
  ["25504446", "a PDF document"],
  ["504b0304", "a ZIP archive"],
  ["7f454c46", "a program"],
  ["4d5a", "a program"],
  ["89484446", "an HDF5 file, such as Keras writes"],
  ["54464c33", "a TensorFlow Lite model"],
  ["3c21444f4354595045", "an HTML page"],
  ["3c68746d6c", "an HTML page"],
];
const HINT = "Choose a network's JSON, a JSON ONNX document or an .onnx file";

/** The error for bytes that begin another kind of file; null if they do not. */
export function kindOfBytes(bytes) {
  const begin = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const lower = begin.replace(/^(0a|0d|20|09)+/, "");
  const found = KINDS.find(([signature]) => begin.startsWith(signature) || lower.startsWith(signature))
    ?? (String.fromCharCode(...bytes.subarray(4, 8)) === "TFL3" ? ["", "a TensorFlow Lite model"] : null);
  if (!found) return null;
  return { kind: "DocumentError", message: `This is ${found[1]}`, hint: HINT };
}
