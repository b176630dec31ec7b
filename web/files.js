// Files that the page gives.

/** "winner.onnx.json" → "winner". */
export function stemOf(name) {
  return name.replace(/(\.onnx|\.network)?\.json$|\.(onnx|pkl|pickle|net|neat|out|txt|xml|ya?ml)$/i, "") || "network";
}

/** Save a file as a download. */
export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
