// The menus of the bar: what can be downloaded, what can be shared, and which files there were.
import { $, button, h, whenChanged } from "./dom.js";
import { drawingShown } from "./graph.js";

/** Close open menus on a click elsewhere or a choice, and on Escape, which gives the focus back. */
function closing() {
  const open = () => [...document.querySelectorAll("details.menu[open]")];
  addEventListener("click", ({ target }) => open().forEach((menu) => { // a choice closes its menu, too
    if (!menu.contains(target) || target.closest(".entry")) menu.open = false;
  }));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of open()) {
      menu.open = false;
      menu.querySelector("summary").focus();
      event.stopImmediatePropagation();
    }
  }, { capture: true });
}

/** Say something for a moment at the menu that a person used. */
function toast(place, text) {
  const said = h("p", { className: "toast", role: "status" }, text);
  place.append(said);
  setTimeout(() => said.remove(), 6000);
}

const FILES = [
  { method: "file", kind: "onnx", title: "ONNX", note: "for any runtime", suffix: ".onnx" },
  { method: "file", kind: "json", title: "JSON ONNX", note: "readable, every bit kept", suffix: ".onnx.json" },
  { method: "file", kind: "network", title: "Network JSON", note: "the genome, to evolve on", suffix: ".network.json" },
];

/** Download: the three files of a result, the files of libraries, and other forms. */
export function downloads({ download, writable }) {
  closing();
  const entries = (label, found = []) => h("ul", { className: "entries", ariaLabel: label }, ...found.map((each) => entry(each, download)));
  const [genome, forms] = [entries("Genome, for a library"), entries("Programs and proofs")];
  $("downloads").append(entries("Files", FILES), h("h3", {}, "Genome"), genome, h("h3", {}, "Programs and proofs"), forms);
  let listed = null;
  const fillGenome = (libraries) => genome.replaceChildren(...libraries.map((each) => entry({ method: "library", ...each }, download)));
  $("download-place").addEventListener("toggle", async () => {
    if (!$("download-place").open || listed) return;
    const asked = (listed = writable());
    const found = await asked;
    if (listed !== asked) return;
    if (found.failed) listed = null; // the next time it may be known
    else fillGenome(found.libraries);
  });
  const fill = whenChanged((state) => state.result, (result) => {
    $("download-place").hidden = !result;
    listed = null;
    fillGenome(result?.libraries ?? []);
    forms.replaceChildren(...(result?.forms ?? []).map((each) => entry({ method: "form", ...each }, download)));
  });
  const close = whenChanged((state) => state.wanted, () => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => { menu.open = false; });
  });
  return (state) => {
    fill(state);
    close(state);
  };
}

/** A file that is written when asked for; one that cannot hold the network says why instead. */
function entry({ title, note = "", reason = null, ...asked }, download) {
  const what = asked.kind ?? `${asked.method}-${asked.library ?? asked.form}${asked.suffix === ".pkl" ? "-pkl" : ""}`;
  return h("li", {}, h("button", {
    type: "button", className: "entry", disabled: Boolean(reason), "data-testid": `download-${what}`, title: reason ?? "",
    onclick: () => download(asked),
  }, h("strong", {}, title), reason || note ? h("span", { className: "soft" }, reason ?? note) : ""));
}

/** Share: a link, code that embeds it, pictures and an animation. */
export function share({ saveSvg, savePng, animate }) {
  let href = null;
  const said = (text) => toast($("share-place").parentElement, text);
  const copy = async (text, done) => {
    if (!href) return said("This network is too large for a link: pass on the file itself.");
    try {
      await navigator.clipboard.writeText(text);
      return said(done);
    } catch {
      return said("The browser did not allow copying: the link is the address of this page.");
    }
  };
  const choice = (text, name, onclick) => h("li", {}, h("button", { type: "button", className: "entry", "data-testid": name, onclick }, h("strong", {}, text)));
  const embed = () => `<iframe src="${href}&amp;embed" width="800" height="500" style="border:0" title="An evolved network, alive"></iframe>`;
  $("share").append(h("ul", { className: "entries" },
    choice("Copy link", "copy-link", () => copy(href, `The link is copied, ${href?.length.toLocaleString("en")} characters. Nothing of it is sent to a server.`)),
    choice("Copy embed code", "copy-embed", () => copy(embed(), "The code is copied: a frame with this network, alive.")),
    choice("Picture as SVG", "save-svg", saveSvg),
    choice("Picture as PNG", "save-png", savePng),
    choice("Animation as WebP", "save-animation", () => (drawingShown() ? animate(said) : said("Draw all neurons first: levels do not move."))),
    choice("Print", "print", () => print())));
  const place = whenChanged((state) => state.result, (result) => { $("share-place").hidden = !result; });
  const link = whenChanged((state) => state.link, (found, { result }) => {
    href = found && result ? new URL(found, location.href).href : null;
  });
  return (state) => {
    place(state);
    link(state);
  };
}

/** The file that is open, and files that this browser keeps on request. */
export function files({ recall, keep, clear }) {
  const kept = h("ul", { className: "entries", ariaLabel: "Recent files" });
  const remember = h("input", { type: "checkbox", id: "keep-recent", onchange: () => keep(remember.checked) });
  $("files-panel").append(h("h3", {}, "Recent"), kept,
    h("p", { className: "choice" }, remember, h("label", { htmlFor: "keep-recent" }, "Keep recent files in this browser")),
    button("Clear", clear));
  const show = whenChanged((state) => state.result, (result) => {
    $("files").hidden = !result;
    if (!result) return;
    $("file-name").textContent = $("file-name").title = result.name;
  });
  const list = whenChanged((state) => state.recent, ({ on, entries }) => {
    remember.checked = on;
    kept.replaceChildren(...entries.map(({ name, link }) => h("li", {}, h("button", {
      type: "button", className: "entry", onclick: () => recall(link),
    }, h("strong", { className: "wraps" }, name)))));
  });
  return (state) => {
    show(state);
    list(state);
  };
}
