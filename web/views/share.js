// What can be taken along besides the files: a link to this very conversion, and its picture.
import { $, h, whenChanged } from "./dom.js";
import { pictureOf } from "./picture.js";

export function share({ notify, saveText, savePicture }) {
  let href = null;
  const copy = async () => {
    if (!href) {
      notify("This network is too large for a link: pass on the file itself.");
      return;
    }
    try {
      await navigator.clipboard.writeText(href);
      notify(`The link is copied, ${href.length.toLocaleString("en")} characters. Nothing of it is sent to a server.`);
    } catch {
      notify("The browser did not allow copying: the link is the address of this page.");
    }
  };
  const button = (text, name, onclick) => h("button", { type: "button", className: "button small", "data-testid": name, onclick }, text);
  $("share").replaceChildren(
    button("Copy link", "copy-link", copy),
    button("SVG", "save-svg", () => saveText("svg", pictureOf($("graph")))),
    button("PNG", "save-png", () => {
      const canvas = $("graph").querySelector("canvas");
      if (canvas) savePicture(canvas);
      else notify("Layers are saved as SVG; a PNG can be had of a drawing of all neurons.");
    }),
  );
  return whenChanged((state) => state.link, (link, { result }) => {
    href = link && result ? new URL(link, location.href).href : null;
  });
}
