// Drawing no more often than the screen does.

/** Call `draw` at the next frame, once however often it was asked for. */
export function soon(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}
