// A sentence that is no error: why something was not taken, or which of several files was.
import { $, whenChanged } from "./dom.js";

export const notice = () => whenChanged((state) => state.notice, (text) => {
  $("notice").hidden = !text;
  $("notice").textContent = text ?? "";
});
