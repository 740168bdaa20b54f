//! Mouse, touch, wheel and keyboard on the plot.

/** How far a press may wander and still be a click, in pixels. */
const SLACK = 6;

class Gestures {
  constructor(plot) {
    this.plot = plot;
    const { canvas, stage } = plot;
    for (const [name, act] of [['down', 'press'], ['move', 'move'], ['up', 'release'], ['cancel', 'cancel'], ['leave', 'leave']]) {
      canvas.addEventListener(`pointer${name}`, (event) => this[act](event));
    }
    canvas.addEventListener('dblclick', () => plot.reset());
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    stage.addEventListener('keydown', (event) => this.key(event));
  }

  pixel(event) {
    const at = this.plot.canvas.getBoundingClientRect();
    return [event.clientX - at.left, event.clientY - at.top];
  }

  press(event) {
    if (event.button !== 0) return;
    const { plot } = this;
    const [x, y] = this.pixel(event);
    plot.canvas.setPointerCapture(event.pointerId);
    plot.pointers.set(event.pointerId, { x, y });
    const mode = event.pointerType === 'touch' || event.shiftKey ? 'pan' : 'select';
    plot.drag = { mode, fromX: x, fromY: y, toX: x, toY: y };
    if (plot.pointers.size === 2) plot.drag.mode = 'pinch';
  }

  move(event) {
    const { plot } = this;
    const [x, y] = this.pixel(event);
    const before = plot.pointers.get(event.pointerId);
    if (!before) {
      const named = plot.labelAt(x, y);
      plot.canvas.style.cursor = named ? 'pointer' : '';
      if (named) {
        plot.point(null);
        plot.light(named.label);
        return;
      }
      const found = plot.nearest(x, y);
      const same = ['series', 'point', 'mark', 'corner'].every((key) => found?.[key] === plot.cursor?.[key]);
      if (!same || (!found && plot.lit.length)) plot.point(found);
      return;
    }
    plot.pointers.set(event.pointerId, { x, y });
    const { drag } = plot;
    if (drag.mode === 'pinch') this.pinch(event.pointerId, before, { x, y });
    else if (drag.mode === 'pan') plot.pan(x - before.x, y - before.y);
    [drag.toX, drag.toY] = [x, y];
    plot.later();
  }

  /** Two fingers: what lies between them stays between them. */
  pinch(moved, before, after) {
    const { plot } = this;
    const other = [...plot.pointers].find(([id]) => id !== moved)?.[1];
    if (!other) return;
    const away = (pixel) => Math.max(20, Math.hypot(pixel.x - other.x, pixel.y - other.y));
    plot.pan((after.x - before.x) / 2, (after.y - before.y) / 2);
    plot.zoom(away(before) / away(after), (after.x + other.x) / 2, (after.y + other.y) / 2);
  }

  release(event) {
    const { plot } = this;
    const { drag } = plot;
    plot.pointers.delete(event.pointerId);
    plot.drag = null;
    if (!drag || plot.pointers.size) return;
    const [width, height] = [Math.abs(drag.toX - drag.fromX), Math.abs(drag.toY - drag.fromY)];
    const named = plot.labelAt(drag.fromX, drag.fromY);
    if (Math.max(width, height) < SLACK && named) plot.isolate('subjects', named.label, event.shiftKey);
    else if (Math.max(width, height) < SLACK) plot.point(plot.nearest(drag.toX, drag.toY));
    else if (drag.mode === 'select') this.select(drag, width, height);
    plot.later();
  }

  /** Zooms to the rectangle; a flat one leaves its short side as it was. */
  select(drag, width, height) {
    const { plot } = this;
    const [x0, y1] = plot.positionsAt(Math.min(drag.fromX, drag.toX), Math.min(drag.fromY, drag.toY));
    const [x1, y0] = plot.positionsAt(Math.max(drag.fromX, drag.toX), Math.max(drag.fromY, drag.toY));
    const isWide = width >= 2 * SLACK;
    const isHigh = height >= 2 * SLACK;
    plot.look({ ...plot.view, ...(isWide && { x0, x1 }), ...(isHigh && { y0, y1 }) });
  }

  cancel(event) {
    this.plot.pointers.delete(event.pointerId);
    this.plot.drag = null;
    this.plot.later();
  }

  leave() {
    if (!this.plot.pointers.size && document.activeElement !== this.plot.stage) this.plot.point(null);
  }

  /** The wheel belongs to the page until the plot is in use. */
  wheel(event) {
    const { plot } = this;
    if (!event.ctrlKey && document.activeElement !== plot.stage) return;
    event.preventDefault();
    const [x, y] = this.pixel(event);
    plot.zoom(2 ** Math.max(-1, Math.min(1, event.deltaY / 250)), x, y);
  }

  key(event) {
    const { plot } = this;
    const { left, top, width, height } = plot.box;
    const pixel = plot.cursorPixel ?? [left + width / 2, top + height / 2];
    const pan = event.shiftKey;
    onKey(event, {
      ArrowLeft: () => (pan ? plot.pan(width / 10, 0) : plot.step(-1, 0)),
      ArrowRight: () => (pan ? plot.pan(-width / 10, 0) : plot.step(1, 0)),
      ArrowUp: () => (pan ? plot.pan(0, height / 10) : plot.step(0, 1)),
      ArrowDown: () => (pan ? plot.pan(0, -height / 10) : plot.step(0, -1)),
      Home: () => plot.step(-1e6, 0),
      End: () => plot.step(1e6, 0),
      m: () => plot.stepMark(),
      M: () => plot.stepMark(),
      '+': () => plot.zoom(0.7, ...pixel),
      '=': () => plot.zoom(0.7, ...pixel),
      '-': () => plot.zoom(1 / 0.7, ...pixel),
      0: () => plot.reset(),
      Escape: () => {
        plot.showAll();
        plot.reset();
      },
    });
  }
}
