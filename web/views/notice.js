// Sentences that are no errors: why something was not taken, which of several files was, and that the
// page is kept.
import { $, whenChanged } from "./dom.js";

export const offline = () => whenChanged((state) => state.offline, (kept) => { $("offline").hidden = !kept; });

export const notice = () => whenChanged((state) => state.notice, (text) => {
  $("notice").hidden = !text;
  $("notice").textContent = text ?? "";
});
