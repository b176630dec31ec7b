// The network on the page before anything is dropped: XOR, drawn and run from a plan that the build made.
import { Evaluator } from "../live/evaluator.js";
import { Player } from "../live/player.js";
import { $ } from "./dom.js";
import { drawingOf } from "./graph.js";
import { squares } from "./square.js";

const LAP = 9000; // ms in which its inputs go round by themselves
const EACH = 30; // ms between two pictures, at least: so slow a round needs no more

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** Show it, from living.json: {drawing, plan, arrays, ports}. */
export async function living() {
  const response = await fetch("living.json").catch(() => null);
  if (!response?.ok) return; // the page does without
  const { drawing: found, plan, arrays, ports } = await response.json();
  const player = new Player(new Evaluator(plan, Object.fromEntries(Object.entries(arrays).map(([name, text]) => [name, bytesOf(text)]))));
  const drawing = drawingOf(found, {});
  drawing.frame.className = "living-frame";
  drawing.frame.tabIndex = -1;
  const [square] = squares(player, ports);
  $("living").replaceChildren(drawing.frame, square.element);
  drawing.resize();
  drawing.play(player);
  player.listen(square.draw);
  $("living").dataset.alive = "";
  player.give([0.6, -0.6]);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  let [touched, drawn] = [false, 0];
  square.element.addEventListener("pointerdown", () => { touched = true; });
  const move = (now) => {
    if (touched || $("intro").hidden) return;
    requestAnimationFrame(move);
    if (now - drawn < EACH) return;
    drawn = now;
    const angle = (2 * Math.PI * now) / LAP;
    player.give([0.8 * Math.cos(angle), 0.8 * Math.sin(angle)]);
  };
  requestAnimationFrame(move);
}
