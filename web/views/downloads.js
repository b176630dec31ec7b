// The files that a conversion gives: links where one is written, buttons that have it written.
import { $, bytes, h, whenChanged } from "./dom.js";

const NOTES = { onnx: "for any runtime", json: "readable, every bit kept", network: "the genome, to evolve on" };

export function downloads({ download }) {
  return whenChanged((state) => state.files, (files) => {
    const focused = document.activeElement?.dataset?.testid;
    $("downloads").replaceChildren(...Object.entries(files ?? {}).map(
      ([kind, file]) => h("li", {}, control(kind, file, download)),
    ));
    if (focused?.startsWith("download-")) $("downloads").querySelector(`[data-testid=${focused}]`)?.focus();
  });
}

function control(kind, { name, url, size }, download) {
  const note = size === undefined ? NOTES[kind] : `${NOTES[kind]} · ${bytes(size)}`;
  const inside = [h("strong", {}, name), h("span", {}, note)];
  const common = { className: "button", title: name, "data-testid": `download-${kind}` };
  return url
    ? h("a", { ...common, href: url, download: name }, ...inside)
    : h("button", { ...common, type: "button", onclick: () => download(kind) }, ...inside);
}
