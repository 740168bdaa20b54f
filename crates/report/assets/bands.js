//! Bands: how the CPU time of an operation divides into functions, along the axis.
//!
//! For tests and the curious, `figure.profile.profile.bands` is the drawing: `layers` has what is drawn, from
//! the axis up, `cursor` the function and the position that are read out.

/** Functions with a band of their own; what is left is one band. */
const BANDS = 8;
const BANDS_HEIGHT = 300;
/** A band names itself at the right where it is this high. */
const BAND_LABEL = 13;

/** An element of SVG. */
function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

class Bands {
  constructor(profile, hint) {
    this.profile = profile;
    this.byShare = false;
    this.colours = new Map();
    this.layers = [];
    this.cursor = null;
    this.drawing = element('div', { class: 'bands' });
    [this.card, this.readout] = readers();
    this.stage = element('div', {
      class: 'stage', tabindex: 0, role: 'application', 'aria-roledescription': 'stacked bands',
      'aria-describedby': hint, keydown: (event) => this.key(event), pointermove: (event) => this.hover(event),
      pointerleave: () => document.activeElement !== this.stage && this.point(null),
    }, this.drawing, this.card);
    this.legend = element('ul', { class: 'band-names flow', 'aria-label': 'Functions, from the top band down' });
    this.hint = element('p', { class: 'hint', id: hint }, 'Keys: arrows walk along the axis and from band to band.');
    new ResizeObserver(() => this.draw()).observe(this.stage);
  }

  get elements() {
    return [this.stage, this.legend, this.readout, this.hint];
  }

  /** Time or share of the functions that take most, in each of these cells. */
  show(cells, process, title) {
    this.cells = cells;
    this.title = title;
    this.stage.setAttribute('aria-label', title);
    this.cursor = null;
    const times = cells.map((cell) => this.profile.ownTimes(cell, process));
    this.sums = times.map((time) => [...time.values()].reduce((sum, value) => sum + value, 0));
    this.layers = this.layersOf(times);
    this.draw();
    this.names();
    this.read();
  }

  layersOf(times) {
    const most = new Map();
    times.forEach((time, index) => time.forEach((value, frame) => {
      most.set(frame, Math.max(most.get(frame) ?? 0, value / (this.sums[index] || 1)));
    }));
    const last = times.at(-1) ?? new Map();
    const ranked = [...most].sort((a, b) => b[1] - a[1]).map(([frame]) => frame);
    const own = ranked.slice(0, BANDS).sort((a, b) => (last.get(b) ?? 0) - (last.get(a) ?? 0) || most.get(b) - most.get(a));
    const colours = this.coloursOf(own);
    const layers = own.map((frame, index) => ({
      ...this.profile.frames[frame], colour: colours[index], values: times.map((time) => time.get(frame) ?? 0),
    }));
    const rest = ranked.slice(BANDS);
    if (!rest.length) return layers;
    const text = `${whole(rest.length)} other ${rest.length === 1 ? 'function' : 'functions'}`;
    const values = times.map((time) => rest.reduce((sum, frame) => sum + (time.get(frame) ?? 0), 0));
    return [...layers, { name: text, short: text, module: '', kind: 'rest', colour: null, values }];
  }

  /** A function keeps its colour from subject to subject, unless one that is shown with it has that already. */
  coloursOf(frames) {
    const free = Array.from({ length: COLOURS }, (_, index) => index);
    const take = (colour) => free.splice(free.indexOf(colour), 1)[0];
    const kept = frames.map((frame) => {
      const colour = this.colours.get(frame);
      return free.includes(colour) ? take(colour) : null;
    });
    return frames.map((frame, index) => {
      const colour = kept[index] ?? take(free[0]);
      if (!this.colours.has(frame)) this.colours.set(frame, colour);
      return colour;
    });
  }

  /** What a layer is at a position: a time, or a share of all of them there. */
  value(layer, index) {
    return this.byShare ? layer.values[index] / (this.sums[index] || 1) : layer.values[index];
  }

  setByShare(on) {
    this.byShare = on;
    this.draw();
  }

  measure() {
    this.width = Math.max(240, this.stage.clientWidth);
    const longest = this.layers.reduce((most, { short }) => Math.max(most, short.length), 6);
    const right = this.width >= WIDTH_FOR_NAMES ? Math.round(Math.min(this.width * 0.24, 7 * longest + 20)) : 14;
    const box = { left: this.width < 560 ? 58 : 70, top: 12, height: BANDS_HEIGHT - 64 };
    this.box = { ...box, width: this.width - box.left - right };
    const positions = this.cells.map(({ position }) => position);
    const positive = positions.filter((position) => position > 0);
    this.scale = new Scale(!this.profile.trajectory, positive.length ? Math.min(...positive) : 1, positive.length < positions.length);
    const ends = [positions[0], positions.at(-1)].map((position) => this.scale.position(position));
    // A single position is a bar in the middle.
    this.ends = ends[0] < ends[1] ? ends : [ends[0] - 1, ends[0] + 1];
    const tallest = this.byShare ? 1 : Math.max(...this.sums);
    this.top = this.byShare ? 1 : tallest * 1.04 || 1;
  }

  across(position) {
    const [from, to] = this.ends;
    return this.box.left + ((this.scale.position(position) - from) / (to - from)) * this.box.width;
  }

  down(value) {
    return this.box.top + (1 - value / this.top) * this.box.height;
  }

  /** The corners along the axis: both sides of a bar where there is one position. */
  get corners() {
    const across = this.cells.map(({ position }) => this.across(position));
    if (across.length > 1) return across.map((x, index) => ({ x, index }));
    const half = Math.min(70, this.box.width / 4);
    return [{ x: across[0] - half, index: 0 }, { x: across[0] + half, index: 0 }];
  }

  draw() {
    if (!this.cells?.length || !this.stage.clientWidth) {
      this.drawing.replaceChildren();
      return;
    }
    this.measure();
    const drawing = svg('svg', { viewBox: `0 0 ${this.width} ${BANDS_HEIGHT}`, role: 'img', 'aria-label': this.title });
    drawing.append(this.axes());
    const floor = this.cells.map(() => 0);
    const labels = svg('g', { class: 'names' });
    this.paths = this.layers.map((layer) => {
      const below = [...floor];
      layer.values.forEach((_, index) => { floor[index] += this.value(layer, index); });
      const line = (heights) => this.corners.map(({ x, index }) => `${x.toFixed(1)} ${this.down(heights[index]).toFixed(1)}`);
      const path = svg('path', { d: `M${line(floor).join('L')}L${line(below).reverse().join('L')}Z`, ...this.look('band', layer) });
      drawing.append(path);
      layer.edges = floor.map((top, index) => [below[index], top]);
      labels.append(...this.label(layer));
      return path;
    });
    drawing.append(labels, this.marker = svg('g', { class: 'marker' }));
    this.drawing.replaceChildren(drawing);
    this.light();
  }

  look(name, { colour }) {
    return colour === null ? { class: `${name} rest` } : { class: name, style: `--hue: var(--series-${colour})` };
  }

  /** The name of a band at its right end, where it has the height for one. */
  label(layer) {
    const [below, top] = layer.edges.at(-1).map((value) => this.down(value));
    const right = this.corners.at(-1).x;
    if (this.width < WIDTH_FOR_NAMES || below - top < BAND_LABEL) return [];
    const text = svg('text', { x: right + 8, y: (below + top) / 2, 'dominant-baseline': 'central' });
    const chars = Math.floor((this.width - right - 12) / 7);
    text.textContent = layer.short.length > chars ? `${layer.short.slice(0, chars - 1)}…` : layer.short;
    return [text];
  }

  axes() {
    const group = svg('g', { class: 'axes' });
    const { left, top, width, height } = this.box;
    const bottom = top + height;
    const text = (x, y, anchor, words) => {
      const made = svg('text', { x, y, 'text-anchor': anchor, 'dominant-baseline': anchor === 'end' ? 'central' : 'hanging' });
      made.textContent = words;
      group.append(made);
    };
    const values = new Scale(false, 1, false);
    values.ticks(0, this.top, height / 46).forEach((tick) => {
      const y = Math.round(this.down(tick.value)) + 0.5;
      group.append(svg('path', { d: `M${left} ${y}H${left + width}` }));
      text(left - 8, y, 'end', this.byShare ? `${Math.round(100 * tick.value)} %` : tickLabel(tick.value, 'ns', tick.step));
    });
    let free = -Infinity;
    this.cells.forEach(({ position }) => {
      const x = this.across(position);
      const words = whole(position);
      group.append(svg('path', { d: `M${x.toFixed(1)} ${bottom}v5` }));
      if (x - 4 * words.length < free) return;
      text(Math.min(x, this.width - 4 * words.length), bottom + 9, 'middle', words);
      free = x + 4 * words.length + 6;
    });
    text(left + width / 2, bottom + 29, 'middle', this.profile.axis);
    return group;
  }

  names() {
    // From the top down, as they are drawn.
    this.legend.replaceChildren(...[...this.layers].reverse().map((layer) => {
      const index = this.layers.indexOf(layer);
      return element('li', {
        pointerenter: () => this.point({ layer: index, position: this.cells.length - 1 }), pointerleave: () => this.point(null),
      }, element('span', { ...this.look('key', layer), 'aria-hidden': 'true' }), layer.short);
    }));
  }

  hover(event) {
    if (!this.layers.length) return;
    const at = this.stage.getBoundingClientRect();
    const [x, y] = [event.clientX - at.left, event.clientY - at.top];
    const away = this.cells.map(({ position }) => Math.abs(this.across(position) - x));
    const position = away.indexOf(Math.min(...away));
    const layer = this.layers.findIndex(({ edges }) => {
      const [below, top] = this.edgesAt(edges, x).map((value) => this.down(value));
      return y <= below && y >= top && below > top;
    });
    this.point(layer < 0 ? null : { layer, position });
  }

  /** The edges of a band at a pixel across: between two positions they run straight. */
  edgesAt(edges, x) {
    const { corners } = this;
    if (x < corners[0].x || x > corners.at(-1).x) return [0, 0];
    const next = Math.max(1, corners.findIndex((corner) => corner.x >= x));
    const [from, to] = [corners[next - 1], corners[next]];
    const share = (x - from.x) / (to.x - from.x || 1);
    return [0, 1].map((side) => edges[from.index][side] + share * (edges[to.index][side] - edges[from.index][side]));
  }

  point(cursor) {
    this.cursor = cursor;
    this.light();
    this.read();
  }

  /** Sets the function off that is read out, and marks where on the axis. */
  light() {
    if (!this.paths?.length || !this.marker) return;
    this.drawing.classList.toggle('lit', Boolean(this.cursor));
    this.paths.forEach((path, index) => path.classList.toggle('on', index === this.cursor?.layer));
    this.marker.replaceChildren();
    if (!this.cursor) return;
    const { layer, position } = this.cursor;
    const x = this.across(this.cells[position].position);
    const [below, top] = this.layers[layer].edges[position].map((value) => this.down(value));
    this.marker.append(
      svg('path', { d: `M${x.toFixed(1)} ${this.box.top}V${this.box.top + this.box.height}`, class: 'thin' }),
      svg('path', { d: `M${x.toFixed(1)} ${top.toFixed(1)}V${below.toFixed(1)}`, class: 'thick' }),
    );
  }

  /** The line below the bands, and the card next to the position. */
  read() {
    this.card.hidden = !this.cursor;
    if (!this.cursor) {
      this.readout.textContent = '';
      return;
    }
    const layer = this.layers[this.cursor.layer];
    const at = this.cursor.position;
    const title = `${layer.name}${layer.module ? ` (${layer.module})` : ''}`;
    const pairs = [
      [`at ${whole(this.cells[at].position)}`, `${quantity(layer.values[at], 'ns')} an operation`],
      ['share', percent(layer.values[at] / (this.sums[at] || 1))],
      ['of', `${quantity(this.sums[at], 'ns')}`],
    ];
    this.readout.textContent = lineOf(title, pairs);
    this.card.replaceChildren(...cardOf(layer.name, pairs, layer.module));
    const middle = this.down((layer.edges[at][0] + layer.edges[at][1]) / 2);
    place(this.card, [this.across(this.cells[at].position), middle], this.width, BANDS_HEIGHT);
  }

  key(event) {
    if (!this.layers.length) return;
    const last = { layer: this.layers.length - 1, position: this.cells.length - 1 };
    const at = this.cursor ?? { layer: 0, position: last.position + 1 };
    const to = (layer, position) => this.point({
      layer: Math.max(0, Math.min(last.layer, layer)), position: Math.max(0, Math.min(last.position, position)),
    });
    onKey(event, {
      ArrowLeft: () => to(at.layer, at.position - 1),
      ArrowRight: () => to(at.layer, at.position + 1),
      ArrowUp: () => to(at.layer + (this.cursor ? 1 : 0), at.position),
      ArrowDown: () => to(at.layer - 1, at.position),
      Home: () => to(at.layer, 0),
      End: () => to(at.layer, last.position),
      Escape: () => this.point(null),
    });
  }
}
