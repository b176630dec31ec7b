// The menus of the bar: what can be downloaded, what can be shared, and which files there were.
import { bytes, $, button, h, whenChanged } from "./dom.js";
import { drawingShown } from "./graph.js";
import { canvasOf } from "./picture.js";

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

const NOTES = { onnx: "for any runtime", json: "readable, every bit kept", network: "the genome, to evolve on" };
const TITLES = { onnx: "ONNX", json: "JSON ONNX", network: "Network JSON" };

/** Download: the three files of a result, the files of libraries, and other forms. */
export function downloads({ download, downloadFor, writable }) {
  closing();
  const files = h("ul", { className: "entries", ariaLabel: "Files" });
  const genome = h("ul", { className: "entries", ariaLabel: "Genome, for a library" });
  const forms = h("ul", { className: "entries", ariaLabel: "Programs and proofs" });
  $("downloads").append(files, h("h3", {}, "Genome"), genome, h("h3", {}, "Programs and proofs"), forms);
  let listed = null;
  $("download-place").addEventListener("toggle", async () => {
    if (!$("download-place").open || listed) return;
    const asked = (listed = writable());
    const found = await asked;
    if (listed !== asked) return;
    if (found.failed) listed = null; // the next time it may be known
    else genome.replaceChildren(...found.libraries.map((each) => entry({ method: "library", ...each }, downloadFor)));
  });
  const fill = whenChanged((state) => state.result, (result) => {
    $("download-place").hidden = !result;
    listed = null;
    genome.replaceChildren(...(result?.libraries ?? []).map((each) => entry({ method: "library", ...each }, downloadFor)));
    forms.replaceChildren(...(result?.forms ?? []).map((each) => entry({ method: "form", ...each }, downloadFor)));
  });
  const write = whenChanged((state) => state.files, (found) => {
    const focused = document.activeElement?.dataset?.testid;
    files.replaceChildren(...Object.entries(found ?? {}).map(([kind, file]) => h("li", {}, fileOf(kind, file, download))));
    if (focused?.startsWith("download-")) files.querySelector(`[data-testid=${focused}]`)?.focus();
  });
  const close = whenChanged((state) => state.wanted, () => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => { menu.open = false; });
  });
  return (state) => {
    fill(state);
    write(state);
    close(state);
  };
}

function fileOf(kind, { name, url, size }, download) {
  const note = [NOTES[kind], size === undefined ? "" : bytes(size)].filter(Boolean).join(" · ");
  const inside = [h("strong", {}, TITLES[kind]), h("span", { className: "soft" }, note)];
  const common = { className: "entry", title: name, "data-testid": `download-${kind}` };
  return url
    ? h("a", { ...common, href: url, download: name }, ...inside)
    : h("button", { ...common, type: "button", onclick: () => download(kind) }, ...inside);
}

/** A form that is written when asked for; one that cannot hold the network says why instead. */
function entry({ title, reason = null, ...asked }, downloadFor) {
  const name = `download-${asked.method}-${asked.library ?? asked.form}${asked.suffix === ".pkl" ? "-pkl" : ""}`;
  return h("li", {}, h("button", {
    type: "button", className: "entry", disabled: Boolean(reason), "data-testid": name, title: reason ?? "",
    onclick: () => downloadFor(asked),
  }, h("strong", {}, title), reason ? h("span", { className: "soft" }, reason) : ""));
}

/** Share: a link, code that embeds it, pictures and an animation. */
export function share({ saveSvg, savePicture, animate }) {
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
  const drawn = (save) => () => {
    if (drawingShown()) save(drawingShown());
    else said("Draw all neurons first: levels are no picture of the network.");
  };
  $("share").append(h("ul", { className: "entries" },
    choice("Copy link", "copy-link", () => copy(href, `The link is copied, ${href?.length.toLocaleString("en")} characters. Nothing of it is sent to a server.`)),
    choice("Copy embed code", "copy-embed", () => copy(embed(), "The code is copied: a frame with this network, alive.")),
    choice("Picture as SVG", "save-svg", saveSvg),
    choice("Picture as PNG", "save-png", drawn((drawing) => savePicture(canvasOf(drawing)))),
    choice("Animation as WebP", "save-animation", drawn(() => animate(said))),
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
