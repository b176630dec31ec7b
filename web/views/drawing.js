// A scene that can be looked at: drawn in slices, pointed at, walked through, zoomed and panned.
import { button, h, soon } from "./dom.js";
import { legend, shows } from "./legend.js";
import { drawBoxes, drawConnections, drawGates, drawNames, drawNeurons, drawStraight, readColours, ring, strengths } from "./paint.js";
import { measure, nearest, neighbour, reached, touching } from "./scene.js";

const SLICE = 500; // connections between two looks at the clock
const BUDGET = 12; // ms of drawing between two frames
const MORPH = 450; // ms in which a drawing becomes another one
const LOOKS = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"]; // with other colours
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** One scene on two canvases, with its pointer, its keys and its view. */
export class Drawing {
  constructor(parts) {
    Object.assign(this, parts, { hovered: -1, selected: -1, lit: null, player: null, zoom: 1, left: 0, top: 0, running: 0, hiding: new Set() });
    this.redraw = soon(() => this.draw());
    this.remeasure = soon(() => { this.measured(); this.draw(); });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.frame);
    this.repaint = () => { // at once: a printer does not wait for frames
      this.colours = null;
      this.draw(Infinity);
    };
    this.looks = LOOKS.map((query) => matchMedia(query));
    this.looks.forEach((look) => look.addEventListener("change", this.repaint));
    this.listenToPointer();
    this.frame.addEventListener("keydown", (event) => this.press(event));
  }

  stop() {
    this.quiet?.();
    this.observer.disconnect();
    this.looks.forEach((look) => look.removeEventListener("change", this.repaint));
    cancelAnimationFrame(this.running);
  }

  /** Follow a player, or none. */
  play(player) {
    if (player === this.player) return;
    this.quiet?.();
    this.player = player;
    this.quiet = player?.listen(this.redraw);
    this.redraw();
  }

  resize() {
    const [width, height] = [this.frame.clientWidth, this.frame.clientHeight];
    if (!width || !height || (width === this.width && height === this.height)) return;
    Object.assign(this, { width, height });
    this.measured();
    this.draw();
  }

  measured() {
    measure(this.scene, this.width, this.height, this.zoom);
    this.onmeasure?.(this);
  }

  /** Move the neurons to their places from where those of the same ids stood in another drawing. */
  morph(before) {
    if (still() || !this.width || !before.scene.at.length) return;
    const moved = between(before, this);
    const start = performance.now();
    const step = (now) => {
      if (this.step !== step) return;
      const share = Math.min(1, (now - start) / MORPH);
      this.moving = share < 1;
      moved(share);
      if (this.moving && this.frame.isConnected) requestAnimationFrame(step);
      else this.measured();
      this.draw(Infinity);
    };
    this.step = step;
    step(start);
  }

  /** End a morph: everything stands where it belongs, at zoom 1. */
  settle() {
    Object.assign(this, { moving: false, step: null, zoom: 1, left: 0, top: 0 });
    this.measured();
    this.draw(Infinity);
  }

  /** A canvas cleared and sized, with its view set. */
  pen(canvas) {
    const scale = Math.min(devicePixelRatio || 1, 3);
    const [width, height] = [Math.round(this.width * scale), Math.round(this.height * scale)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const pen = canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.setTransform(scale, 0, 0, scale, scale * this.left, scale * this.top);
    return pen;
  }

  get live() {
    return this.player?.touched ? this.player : null;
  }

  /** What the neurons give now; null if nobody has played. */
  get activations() {
    return this.live && this.scene.neurons.map(({ place }) => this.live.frame.activations[place]);
  }

  /** Draw all of it; what takes longer than `budget` ms goes on at the next frame. */
  draw(budget = BUDGET) {
    if (!this.width) return;
    cancelAnimationFrame(this.running);
    const { scene, live } = this;
    this.colours ??= readColours(this.base);
    const { strong, heavy } = strengths(scene, live);
    this.strong = strong;
    const order = scene.connections.flatMap((connection, place) => (shows(connection, this.hiding) ? [place] : []));
    if (order.length > SLICE) order.sort((a, b) => Math.abs(strong[a]) - Math.abs(strong[b]));
    const pen = this.pen(this.base);
    drawBoxes(pen, scene, this.colours);
    this.drawSome(pen, order, 0, budget);
    const shown = `${Boolean(live)} ${live ? "" : heavy}`;
    if (this.shown !== shown) {
      this.shown = shown;
      this.key.replaceChildren(legend(scene, { live: Boolean(live), heavy, hiding: this.hiding, toggle: (name) => this.toggle(name) }));
    }
    this.drawOver();
    if (live?.playing) this.redraw();
  }

  toggle(name) {
    if (!this.hiding.delete(name)) this.hiding.add(name);
    this.draw();
  }

  /** Draw connections for a few milliseconds, go on at the next frame, and end with the neurons. */
  drawSome(pen, order, from, budget = BUDGET) {
    const { scene, live, colours, strong } = this;
    const until = performance.now() + budget;
    const phase = live?.playing && !still() && order.length <= SLICE ? (performance.now() % 900) / 900 : -1;
    let next = from;
    if (this.moving) {
      drawStraight(pen, scene, colours);
      next = order.length;
    }
    while (next < order.length && performance.now() < until) {
      drawConnections(pen, scene, colours, order.slice(next, next + SLICE), strong, { live: Boolean(live), phase });
      next += SLICE;
    }
    if (next < order.length) {
      this.running = requestAnimationFrame(() => this.drawSome(pen, order, next));
      return;
    }
    const { activations } = this;
    if (!this.moving) drawGates(pen, scene, colours, order);
    const neurons = scene.neurons.flatMap(({ family }, place) => (this.hiding.has(family) ? [] : [place]));
    drawNeurons(pen, scene, colours, neurons, activations);
    drawNames(pen, scene, colours, activations);
  }

  /** What is pointed at or selected, on a canvas of its own. */
  drawOver() {
    const { scene, colours } = this;
    const chosen = this.hovered >= 0 ? this.hovered : this.selected;
    const covered = chosen >= 0 || Boolean(this.lit);
    this.base.classList.toggle("dimmed", covered);
    if (!covered && !this.covered) return; // an untouched canvas need not be composed anew
    this.covered = covered;
    const pen = this.pen(this.over);
    const { activations } = this;
    if (this.lit && this.hovered < 0) {
      drawConnections(pen, scene, colours, this.lit.edges, this.strong, { live: Boolean(this.live), lit: true });
      drawNeurons(pen, scene, colours, this.lit.neurons, activations);
      for (const neuron of this.lit.neurons) ring(pen, ...scene.at[neuron], scene.radius + 5, 2, colours.accent);
      return;
    }
    if (chosen < 0) return;
    const near = (this.hovered >= 0 ? touching : reached)(scene, chosen); // a pointer moves often
    const edges = [...near.edges].filter((edge) => shows(scene.connections[edge], this.hiding));
    drawConnections(pen, scene, colours, edges, this.strong, { live: Boolean(this.live), lit: edges.length < 800 });
    drawGates(pen, scene, colours, edges);
    drawNeurons(pen, scene, colours, [...near.neurons], activations);
    ring(pen, ...scene.at[chosen], scene.radius + 5, 2, colours.accent);
  }

  select(neuron) {
    if (neuron === this.selected) return;
    this.selected = neuron;
    this.drawOver();
  }

  /** Show some neurons and connections alone, {neurons, edges}; null shows all again. */
  light(lit) {
    if (lit === this.lit) return;
    this.lit = lit;
    if (this.width) this.drawOver();
  }

  hover(neuron) {
    if (neuron === this.hovered) return;
    this.hovered = neuron;
    this.tip.hidden = neuron < 0;
    if (neuron >= 0) this.showTip(neuron);
    this.drawOver();
  }

  showTip(neuron) {
    const { scene } = this;
    const { label, id, kind, activation, aggregation, idle } = scene.neurons[neuron];
    const what = kind === "input" ? [kind] : [kind, activation, aggregation !== "sum" ? aggregation : ""];
    const value = this.live ? ` · now ${+this.activations[neuron].toPrecision(4)}` : "";
    const gates = scene.gates[neuron].length ? `, gates ${scene.gates[neuron].length}` : "";
    this.tip.replaceChildren(h("strong", {}, label), ` ${[...what, scene.layer[neuron], label === String(id) ? "" : `id ${id}`].filter(Boolean).join(" · ")}${value}`, h("br"),
      `${scene.into[neuron].length} in, ${scene.from[neuron].length} out${gates}${idle ? "; reaches no output" : ""}`);
    const [x, y] = this.onScreen(neuron);
    const rightHalf = x > this.width / 2;
    this.tip.style.left = rightHalf ? "" : `${x + 14}px`;
    this.tip.style.right = rightHalf ? `${this.width - x + 14}px` : "";
    this.tip.style.top = `${Math.max(30, y)}px`;
  }

  onScreen(neuron) {
    const [x, y] = this.scene.at[neuron];
    return [x + this.left, y + this.top];
  }

  at({ offsetX, offsetY }) {
    return nearest(this.scene, offsetX - this.left, offsetY - this.top);
  }

  listenToPointer() {
    const down = new Map(); // pointers: id → [x, y]
    let moved = false;
    const place = (event) => [event.offsetX, event.offsetY];
    this.base.addEventListener("pointerdown", (event) => {
      if (!down.size) moved = false;
      down.set(event.pointerId, place(event));
      this.base.setPointerCapture?.(event.pointerId);
    });
    this.base.addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      if (!before) return this.hover(event.pointerType === "touch" ? -1 : this.at(event));
      const [x, y] = place(event);
      const others = [...down].filter(([id]) => id !== event.pointerId).map(([, where]) => where);
      if (others.length) {
        const [ox, oy] = others[0];
        const apart = (px, py) => Math.hypot(px - ox, py - oy) || 1;
        this.zoomBy(apart(x, y) / apart(...before), (x + ox) / 2, (y + oy) / 2);
        moved = true;
      } else if (moved || Math.hypot(x - before[0], y - before[1]) > 4) {
        moved = true;
        if (this.zoom > 1) this.look(this.zoom, this.left + x - before[0], this.top + y - before[1]);
      } else return undefined;
      down.set(event.pointerId, [x, y]);
      return undefined;
    });
    const up = (event) => down.delete(event.pointerId);
    this.base.addEventListener("pointerup", up);
    this.base.addEventListener("pointercancel", up);
    this.base.addEventListener("pointerleave", () => this.hover(-1));
    this.base.addEventListener("click", (event) => {
      if (moved) return;
      const neuron = this.at(event);
      this.choose(neuron === this.selected ? -1 : neuron);
    });
    this.base.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / (event.ctrlKey ? 200 : 500)), event.offsetX, event.offsetY);
    }, { passive: false });
  }

  choose(neuron) {
    this.select(neuron);
    this.onselect(neuron);
  }

  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    const zoom = Math.max(1, Math.min(16, this.zoom * factor));
    const grown = zoom / this.zoom;
    this.look(zoom, x - (x - this.left) * grown, y - (y - this.top) * grown);
  }

  look(zoom, left, top) {
    const changed = zoom !== this.zoom;
    this.zoom = zoom;
    this.left = Math.min(0, Math.max(this.width * (1 - zoom), left));
    this.top = Math.min(0, Math.max(this.height * (1 - zoom), top));
    if (changed) this.remeasure();
    else {
      this.onmeasure?.(this);
      this.redraw();
    }
  }

  buttons() {
    const ways = [["+", "Zoom in", () => this.zoomBy(1.5)], ["−", "Zoom out", () => this.zoomBy(1 / 1.5)], ["Fit", "Fit the drawing", () => this.look(1, 0, 0)]];
    return ways.map(([text, title, onclick]) => button(text, onclick, { ariaLabel: title, title }));
  }

  press(event) {
    const zooms = { "+": 1.5, "=": 1.5, "-": 1 / 1.5 };
    if (event.key in ARROWS) {
      const now = this.selected;
      this.choose(now < 0 ? 0 : neighbour(this.scene, now, ARROWS[event.key]));
    } else if (event.key in zooms) this.zoomBy(zooms[event.key]);
    else if (event.key === "0") this.look(1, 0, 0);
    else return;
    event.preventDefault();
  }
}

/** Puts the neurons of a drawing where they are at a share of the way, from where those of the same ids stood in another. */
export function between({ scene: { neurons, at }, left, top }, { scene }) {
  const stood = new Map(neurons.map(({ id }, place) => [id, [at[place][0] + left, at[place][1] + top]]));
  const to = scene.at;
  const from = scene.neurons.map(({ id }, place) => stood.get(id) ?? to[place]);
  return (t) => {
    const share = t * t * (3 - 2 * t);
    scene.at = to.map(([x, y], place) => [from[place][0] + (x - from[place][0]) * share, from[place][1] + (y - from[place][1]) * share]);
  };
}
