// Files that the page gives: their names, their types, and how the browser is made to keep one.

const TYPES = { onnx: "application/octet-stream", json: "application/json", network: "application/json" };

/** "winner.onnx.json" → "winner". */
export function stemOf(name) {
  return name.replace(/(\.onnx|\.network)?\.json$|\.(onnx|pkl|pickle|net|neat|out|xml|ya?ml)$/i, "") || "network";
}

/** Bytes → {url, size}; whoever drops it revokes the url. */
export function blobOf(kind, bytes) {
  return { url: URL.createObjectURL(new Blob([bytes], { type: TYPES[kind] })), size: bytes.byteLength };
}

/** Save {url, name} as a download. */
export function save({ url, name }) {
  const link = document.createElement("a");
  Object.assign(link, { href: url, download: name });
  link.click();
}
