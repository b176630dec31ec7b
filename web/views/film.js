// Frames of an animation: the generations of a run, each morphing into the next, or the steps of one network.
import { Animation } from "../animation.js";
import { between } from "./drawing.js";
import { drawingShown } from "./graph.js";
import { PERIOD, SEQUENCES } from "./inputs.js";
import { frameOf } from "./picture.js";

const MOST = 40; // generations; of more, some are left out
const [BETWEEN, MOVING, STANDING, STEP] = [5, 50, 700, 80]; // frames from one to the next, and ms of each kind

/** A file of networks that `runs` show one after the other; `words` gives what stands in the corner. */
export async function filmOfRuns(runs, words) {
  const film = new Animation();
  const [{ width, height }, apart] = [drawingShown(), Math.ceil(runs.length / MOST)];
  let before = null;
  for (const go of runs.filter((_, place) => place % apart === 0)) {
    await go();
    const drawing = drawingShown();
    if (!drawing) throw new Error("one of the networks is too large to be drawn neuron by neuron");
    const show = (ms) => film.add(frameOf(drawing, { width, height }, words()), ms);
    drawing.settle();
    const moved = before && between(before, drawing);
    drawing.moving = true;
    for (let step = 1; moved && step < BETWEEN; step += 1) {
      moved(step / BETWEEN);
      await show(MOVING);
    }
    drawing.settle();
    before = { scene: { ...drawing.scene }, left: 0, top: 0 };
    await show(STANDING);
  }
  return film.blob;
}

/** A file of a network whose inputs follow a sine, each a little later than the one before. */
export async function filmOfSteps(player, words) {
  if (!player) throw new Error("the network is too large to be played with");
  const film = new Animation();
  player.stop();
  for (let step = 0; step < PERIOD; step += 1) {
    if (step && player.hasMemory) player.step();
    player.give(Array.from(player.inputs, (_, place) => SEQUENCES.sine(step, place)));
    const drawing = drawingShown();
    await film.add(frameOf(drawing, drawing, words()), STEP);
  }
  return film.blob;
}
