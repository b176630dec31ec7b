// Ways in: buttons that open the file picker, the whole window as a target of drops, and pasting.
import { dropped, pasted, several } from "../intake.js";
import { $ } from "./dom.js";

const TYPING = "input, textarea, select, [contenteditable]";

export function drop({ take, takeSeries, notify }) {
  const [zone, input] = [$("drop"), $("file")];
  let depth = 0; // dragenter and dragleave come in pairs, from every element on the way

  const receive = ({ name, load, configuration, other, series, notice }) => {
    if (series) takeSeries(series, configuration);
    if (load) take(name, load, { configuration, other });
    if (notice) notify(notice);
  };
  for (const button of [zone, $("open")]) button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    if (input.files.length) receive(several([...input.files]));
    input.value = ""; // so that the same file can be chosen again
  });

  const over = (change) => {
    depth = Math.max(0, depth + change);
    document.body.classList.toggle("over", depth > 0);
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

  return () => {};
}
