// The files that a conversion gives, as links.
import { $, bytes, h, whenChanged } from "./dom.js";

const KINDS = [
  ["onnx", ".onnx", "ONNX", "for any runtime", "application/octet-stream"],
  ["json", ".onnx.json", "JSON ONNX", "readable, every bit kept", "application/json"],
  ["network", ".network.json", "Network", "the genome, to evolve on", "application/json"],
];

/** Blobs of the bridge → [{key, name, url, size, title, note}]; whoever drops it revokes the urls. */
export function filesOf(source, blobs) {
  const stem = source.replace(/(\.onnx|\.network)?\.json$|\.onnx$/i, "") || "network";
  return KINDS.map(([key, ending, title, note, type]) => ({
    key, title, note,
    name: stem + ending,
    size: blobs[key].byteLength,
    url: URL.createObjectURL(new Blob([blobs[key]], { type })),
  }));
}

export const downloads = () => whenChanged((state) => state.files, (files) => {
  $("downloads").hidden = !files;
  $("downloads").replaceChildren(...(files ?? []).map(link));
});

function link({ key, name, url, size, title, note }) {
  return h("li", {},
    h("a", { href: url, download: name, className: "button", "data-testid": `download-${key}` },
      h("strong", {}, title), h("span", {}, `${note} · ${bytes(size)}`)));
}
