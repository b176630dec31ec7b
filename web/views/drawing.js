// A scene that can be looked at: drawn in slices, pointed at, walked through, zoomed and panned.
import { h } from "./dom.js";
import { legend } from "./legend.js";
import { drawBoxes, drawConnections, drawGates, drawNames, drawNeurons, readColours, ring, strengths } from "./paint.js";
import { measure, nearest, neighbour, reached } from "./scene.js";
import { soon } from "./soon.js";

const SLICE = 500; // connections between two looks at the clock
const BUDGET = 12; // ms of drawing between two frames
const LOOKS = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"]; // with other colours
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** One scene on two canvases, with its pointer, its keys and its view. */
export class Drawing {
  constructor(parts) {
    Object.assign(this, parts, { hovered: -1, selected: -1, lit: [], player: null, zoom: 1, left: 0, top: 0, running: 0 });
    this.order = null;
    this.redraw = soon(() => this.draw());
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.frame);
    this.repaint = () => this.draw(Infinity); // at once: a printer does not wait for frames
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
    const width = this.frame.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    this.height = Math.round(Math.min(620, Math.max(200, width * 0.36, this.scene.rows * 24 + 40)));
    measure(this.scene, width, this.height);
    this.draw();
  }

  /** A canvas cleared and sized, with its view set. */
  pen(canvas) {
    const scale = Math.min(devicePixelRatio || 1, 3);
    const [width, height] = [Math.round(this.width * scale), Math.round(this.height * scale)];
    if (canvas.width !== width || canvas.height !== height) {
      Object.assign(canvas, { width, height });
      canvas.style.height = `${this.height}px`;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.setTransform(scale * this.zoom, 0, 0, scale * this.zoom, scale * this.left, scale * this.top);
    return pen;
  }

  get live() {
    return this.player?.touched ? this.player : null;
  }

  /** Draw all of it; what takes longer than `budget` ms goes on at the next frame. */
  draw(budget = BUDGET) {
    if (!this.width) return;
    cancelAnimationFrame(this.running);
    const { scene, live } = this;
    this.colours = readColours(this.base);
    this.strong = strengths(scene, live);
    const order = scene.connections.map((_, place) => place);
    if (!live) order.sort((a, b) => Math.abs(this.strong[a]) - Math.abs(this.strong[b]));
    const pen = this.pen(this.base);
    drawBoxes(pen, scene, this.colours);
    this.drawSome(pen, order, 0, budget);
    if (this.shown !== Boolean(live)) {
      this.shown = Boolean(live);
      this.key.replaceChildren(legend(scene, this.omitted, this.shown));
    }
    this.drawOver();
    if (live?.playing) this.redraw();
  }

  /** Draw connections for a few milliseconds, go on at the next frame, and end with the neurons. */
  drawSome(pen, order, from, budget = BUDGET) {
    const { scene, live, colours, strong } = this;
    const until = performance.now() + budget;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const phase = live?.playing && !still && order.length <= SLICE ? (performance.now() % 900) / 900 : -1;
    let next = from;
    while (next < order.length && performance.now() < until) {
      drawConnections(pen, scene, colours, order.slice(next, next + SLICE), strong, { live: Boolean(live), phase });
      next += SLICE;
    }
    if (next < order.length) {
      this.running = requestAnimationFrame(() => this.drawSome(pen, order, next));
      return;
    }
    const activations = live?.frame.activations;
    drawGates(pen, scene, colours, order);
    drawNeurons(pen, scene, colours, scene.neurons.map((_, place) => place), activations);
    drawNames(pen, scene, colours, activations);
  }

  /** What is pointed at or selected, on a canvas of its own. */
  drawOver() {
    const { scene, colours } = this;
    const chosen = this.hovered >= 0 ? this.hovered : this.selected;
    const covered = chosen >= 0 || this.lit.length > 0;
    this.base.classList.toggle("dimmed", covered);
    if (!covered && !this.covered) return; // an untouched canvas need not be composed anew
    this.covered = covered;
    const pen = this.pen(this.over);
    if (this.lit.length && this.hovered < 0) {
      drawNeurons(pen, scene, colours, this.lit, this.live?.frame.activations);
      for (const neuron of this.lit) ring(pen, ...scene.at[neuron], scene.radius + 5, 2, colours.accent);
      return;
    }
    if (chosen < 0) return;
    const near = this.hovered >= 0 ? this.touching(chosen) : reached(scene, chosen);
    const options = { live: Boolean(this.live), lit: near.edges.size < 800 };
    drawConnections(pen, scene, colours, near.edges, this.strong, options);
    drawGates(pen, scene, colours, near.edges);
    drawNeurons(pen, scene, colours, [...near.neurons], this.live?.frame.activations);
    ring(pen, ...scene.at[chosen], scene.radius + 5, 2, colours.accent);
  }

  touching(neuron) {
    const edges = new Set([...this.scene.into[neuron], ...this.scene.from[neuron]]);
    const ends = [...edges].flatMap((edge) => [this.scene.connections[edge].source, this.scene.connections[edge].target]);
    return { edges, neurons: new Set([neuron, ...ends]) };
  }

  select(neuron) {
    if (neuron === this.selected) return;
    this.selected = neuron;
    this.drawOver();
  }

  /** Show some neurons alone; none shows all again. */
  light(neurons) {
    if (neurons === this.lit) return;
    this.lit = neurons;
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
    const { label, kind, activation, aggregation } = this.scene.neurons[neuron];
    const what = kind === "input" ? [kind] : [kind, activation, aggregation !== "sum" ? aggregation : ""];
    const value = this.live ? ` · now ${+this.live.frame.activations[neuron].toPrecision(4)}` : "";
    const layer = this.scene.layers[this.scene.layer[neuron]]?.label ?? "";
    this.tip.replaceChildren(h("strong", {}, label), ` ${[...what, layer].filter(Boolean).join(" · ")}${value}`, h("br"),
      `${this.scene.into[neuron].length} in, ${this.scene.from[neuron].length} out`);
    const [x, y] = this.onScreen(neuron);
    const rightHalf = x > this.width / 2;
    this.tip.style.left = rightHalf ? "" : `${x + 14}px`;
    this.tip.style.right = rightHalf ? `${this.width - x + 14}px` : "";
    this.tip.style.top = `${y}px`;
  }

  onScreen(neuron) {
    const [x, y] = this.scene.at[neuron];
    return [x * this.zoom + this.left, y * this.zoom + this.top];
  }

  at({ offsetX, offsetY }) {
    return nearest(this.scene, (offsetX - this.left) / this.zoom, (offsetY - this.top) / this.zoom);
  }

  listenToPointer() {
    let from = null;
    this.base.addEventListener("pointermove", (event) => {
      if (event.buttons && from && this.zoom > 1) {
        this.look(this.zoom, this.left + event.offsetX - from[0], this.top + event.offsetY - from[1]);
        from = [event.offsetX, event.offsetY, true];
      } else this.hover(this.at(event));
    });
    this.base.addEventListener("pointerleave", () => this.hover(-1));
    this.base.addEventListener("pointerdown", (event) => { from = [event.offsetX, event.offsetY, false]; });
    this.base.addEventListener("click", (event) => {
      if (from?.[2]) return;
      const neuron = this.at(event);
      this.choose(neuron === this.selected ? -1 : neuron);
    });
    this.base.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // a pinch, or Ctrl: the page itself scrolls otherwise
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 200), event.offsetX, event.offsetY);
    }, { passive: false });
  }

  choose(neuron) {
    this.select(neuron);
    this.onselect(neuron);
  }

  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    const zoom = Math.max(1, Math.min(12, this.zoom * factor));
    const grown = zoom / this.zoom;
    this.look(zoom, x - (x - this.left) * grown, y - (y - this.top) * grown);
  }

  look(zoom, left, top) {
    this.zoom = zoom;
    this.left = Math.min(0, Math.max(this.width * (1 - zoom), left));
    this.top = Math.min(0, Math.max(this.height * (1 - zoom), top));
    this.redraw();
  }

  buttons() {
    const button = (text, name, onclick) => h("button", { type: "button", className: "button small", ariaLabel: name, title: name, onclick }, text);
    return [
      button("+", "Zoom in", () => this.zoomBy(1.5)),
      button("−", "Zoom out", () => this.zoomBy(1 / 1.5)),
      button("Fit", "Fit the drawing", () => this.look(1, 0, 0)),
    ];
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
