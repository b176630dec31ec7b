// The drop zone: a button that opens the file picker, and the whole window as a target.
import { $, whenChanged } from "./dom.js";

export function drop({ take }) {
  const [zone, input] = [$("drop"), $("file")];
  const title = zone.querySelector(".drop-title");
  let depth = 0; // dragenter and dragleave come in pairs, from every element on the way

  zone.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const [file] = input.files;
    if (file) take(file);
    input.value = ""; // so that the same file can be chosen again
  });

  const over = (change) => {
    depth = Math.max(0, depth + change);
    zone.classList.toggle("over", depth > 0);
  };
  const isFile = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragenter", (event) => isFile(event) && over(+1));
  addEventListener("dragleave", (event) => isFile(event) && over(-1));
  addEventListener("dragover", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    over(-depth);
    const [file] = event.dataTransfer?.files ?? [];
    if (file) take(file);
  });

  return whenChanged((state) => state.result !== null, (done) => {
    zone.classList.toggle("small", done);
    title.textContent = done ? "Drop another file, or choose one" : "Drop a file, or choose one";
  });
}
