// The drop zone: a button that opens the file picker, the whole window as a target, and pasting.
import { dropped, pasted, several } from "../intake.js";
import { $, whenChanged } from "./dom.js";

const TYPING = "input, textarea, select, [contenteditable]";

export function drop({ take, notify }) {
  const [zone, input] = [$("drop"), $("file")];
  const title = zone.querySelector(".drop-title");
  let depth = 0; // dragenter and dragleave come in pairs, from every element on the way

  const receive = ({ name, load, configuration, other, notice }) => {
    if (load) take(name, load, { configuration, other });
    if (notice) notify(notice);
  };
  zone.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    if (input.files.length) receive(several([...input.files]));
    input.value = ""; // so that the same file can be chosen again
  });

  const over = (change) => {
    depth = Math.max(0, depth + change);
    zone.classList.toggle("over", depth > 0);
  };
  const takes = ({ dataTransfer, target }) => dataTransfer && !target.closest?.(TYPING);
  addEventListener("dragenter", (event) => takes(event) && over(+1));
  addEventListener("dragleave", (event) => takes(event) && over(-1));
  addEventListener("dragover", (event) => {
    if (!takes(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  addEventListener("drop", async (event) => {
    if (!takes(event)) return;
    event.preventDefault();
    over(-depth);
    try {
      receive(await dropped(event.dataTransfer));
    } catch (error) {
      notify(`It could not be read: ${error.message}`);
    }
  });
  addEventListener("paste", (event) => {
    if (event.target.closest?.(TYPING) || !event.clipboardData) return;
    event.preventDefault();
    receive(pasted(event.clipboardData));
  });

  return whenChanged((state) => state.result !== null, (done) => {
    zone.classList.toggle("small", done);
    title.textContent = done ? "Drop another file, or choose one" : "Drop a file, or choose one";
  });
}
