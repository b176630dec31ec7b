// One word on the engine: loading, ready or failed.
import { $, whenChanged } from "./dom.js";

export const status = () => whenChanged((state) => state.phase, (phase) => {
  $("status").textContent = phase;
});
