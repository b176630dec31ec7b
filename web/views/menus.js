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

/** Download: the files of a result in sections; libraries that cannot hold it say why. */
export function downloads({ download, refusals }) {
  closing();
  let asked = null; // the result whose refusals are known, or asked for
  let buttons = new Map();
  const entry = ({ title, note, ...file }) => {
    const said = h("span", { className: "soft" }, note);
    const element = h("button", {
      type: "button", className: "entry", "data-testid": `download-${file.kind}`, onclick: () => download(file),
    }, h("strong", {}, title), said);
    buttons.set(file.kind, { element, said });
    return h("li", {}, element);
  };
  const place = $("download-place");
  place.addEventListener("toggle", async () => {
    if (!place.open || asked === buttons) return;
    const wanted = (asked = buttons);
    const { failed, ...reasons } = await refusals();
    if (failed) asked = null; // the next time it may be known
    else for (const [kind, reason] of Object.entries(reasons)) {
      const { element, said } = wanted.get(kind);
      element.disabled = true;
      said.textContent = reason;
    }
  });
  const fill = whenChanged((state) => state.result, (result) => {
    place.hidden = !result;
    buttons = new Map();
    $("downloads").replaceChildren(...Object.entries(result?.downloads ?? {}).flatMap(([section, listed]) => [
      h("h3", {}, section), h("ul", { className: "entries", ariaLabel: section }, ...listed.map(entry))]));
  });
  const close = whenChanged((state) => state.wanted, () => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => { menu.open = false; });
  });
  return (state) => {
    fill(state);
    close(state);
  };
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
