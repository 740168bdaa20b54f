//! Drawing the plot: samples as pixels, then grid, intervals, medians, crossovers, cursor, labels.
//!
//! `SHAPES`, `COLOURS` and how each subject looks come with the page: the maps share them.

/** Lines of the first, second, third and fourth run. */
const DASHES = [[], [6, 4], [2, 3], [9, 3, 2, 3]];
/** Radius of the ring around a crossover. */
const RING = 5;

/** `#rrggbb` as three numbers. */
function channels(hex) {
  const number = parseInt(hex.trim().slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

/** The letters of the plot, for measuring and for drawing. */
function fontOf(figure) {
  return `12px ${getComputedStyle(figure).fontFamily}`;
}

/** Draws one frame of a plot. Lengths are CSS pixels, except where samples become pixels. */
class Frame {
  constructor(plot) {
    this.plot = plot;
    this.context = plot.context;
    this.box = plot.box;
    const style = getComputedStyle(plot.figure);
    const hex = (name) => style.getPropertyValue(name).trim();
    this.paper = hex('--paper');
    this.ink = hex('--ink');
    this.muted = hex('--muted');
    this.rule = hex('--grid');
    this.colours = Array.from({ length: COLOURS }, (_, index) => hex(`--series-${index}`));
    this.font = fontOf(plot.figure);
    this.counts = [];
    this.marked = [];
  }

  draw() {
    const { context, plot } = this;
    context.setTransform(plot.ratio, 0, 0, plot.ratio, 0, 0);
    context.fillStyle = this.paper;
    context.fillRect(0, 0, plot.width, plot.height);
    this.counts = plot.shown.map((series) => ({
      label: series.label, run: series.run, samples: 0, outside: 0, medians: 0, intervals: 0,
    }));
    this.samples();
    this.axes();
    this.clipped(() => {
      plot.shown.forEach((series, index) => this.interval(series, this.counts[index]));
      plot.shown.forEach((series, index) => this.medians(series, this.counts[index]));
      plot.crossings.forEach((crossing) => this.crossing(crossing));
      this.cursor();
      this.selection();
    });
    if (plot.margin.right > 60) this.names();
    return this.counts;
  }

  clipped(paint) {
    const { context, box } = this;
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    paint();
    context.restore();
  }

  /**
   * Every sample as a small translucent square, straight into pixels: one call per sample to the
   * canvas would be some twenty times as slow.
   */
  samples() {
    const { context, plot, box } = this;
    const ratio = plot.ratio;
    const [left, top] = [Math.round(box.left * ratio), Math.round(box.top * ratio)];
    const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (plot.image?.width !== width || plot.image?.height !== height) {
      plot.image = context.createImageData(width, height);
    }
    const bytes = plot.image.data;
    const paper = new Uint32Array(Uint8Array.of(...channels(this.paper), 255).buffer)[0];
    new Uint32Array(bytes.buffer).fill(paper);
    const total = plot.shown.reduce((sum, series) => sum + series.samples.x.length, 0);
    const alpha = total > 30000 ? 0.16 : total > 8000 ? 0.22 : 0.32;
    plot.shown.forEach((series, index) => {
      this.dots(series, this.counts[index], { bytes, width, height, alpha });
    });
    context.putImageData(plot.image, left, top);
  }

  dots(series, count, { bytes, width, height, alpha }) {
    const { plot } = this;
    const { x0, x1, y0, y1 } = plot.view;
    const [alongX, alongY] = [width / (x1 - x0), height / (y1 - y0)];
    const size = Math.max(2, Math.round(1.5 * plot.ratio));
    const spread = plot.spread * plot.ratio;
    const { x, y } = plot.placed(series);
    const { jitter } = series.samples;
    const [red, green, blue] = channels(this.colours[plot.lookOf(series).colour]);
    for (let index = 0; index < x.length; index++) {
      const across = ((x[index] - x0) * alongX + jitter[index] * spread) | 0;
      const down = (height - (y[index] - y0) * alongY) | 0;
      if (across < 0 || across + size > width || down < 0 || down + size > height) {
        count.outside++;
        continue;
      }
      count.samples++;
      for (let line = 0; line < size; line++) {
        let at = ((down + line) * width + across) * 4;
        for (let column = 0; column < size; column++, at += 4) {
          bytes[at] += (red - bytes[at]) * alpha;
          bytes[at + 1] += (green - bytes[at + 1]) * alpha;
          bytes[at + 2] += (blue - bytes[at + 2]) * alpha;
        }
      }
    }
  }

  axes() {
    const { context, plot, box } = this;
    const { x0, x1, y0, y1 } = plot.view;
    context.font = this.font;
    context.lineWidth = 1;
    const bottom = box.top + box.height;
    for (const tick of plot.scales.x.ticks(x0, x1, box.width / 80)) {
      const across = Math.round(plot.across(tick.place)) + 0.5;
      this.line(across, box.top, across, bottom, tick);
      context.textAlign = 'center';
      context.textBaseline = 'top';
      if (tick.labelled) context.fillText(tickLabel(tick.value, '', tick.step), across, bottom + 8);
    }
    for (const tick of plot.scales.y.ticks(y0, y1, box.height / 46)) {
      const down = Math.round(plot.down(tick.place)) + 0.5;
      this.line(box.left, down, box.left + box.width, down, tick);
      context.textAlign = 'right';
      context.textBaseline = 'middle';
      const label = tickLabel(tick.value, plot.shownView.unit, tick.step);
      if (tick.labelled) context.fillText(label, box.left - 8, down);
    }
    context.textAlign = 'center';
    context.textBaseline = 'top';
    context.fillText(plot.data.axis, box.left + box.width / 2, bottom + 27);
    context.textAlign = 'left';
    context.fillText(plot.shownView.upwards, 6, 2);
  }

  line(fromX, fromY, toX, toY, tick) {
    const { context } = this;
    context.strokeStyle = this.rule;
    context.globalAlpha = tick.labelled || tick.major ? 1 : 0.45;
    context.beginPath();
    context.moveTo(fromX, fromY);
    context.lineTo(toX, toY);
    context.stroke();
    context.globalAlpha = 1;
    context.fillStyle = this.muted;
  }

  /** The band between the ends of the medians' intervals. */
  interval(series, count) {
    const { context, plot } = this;
    context.fillStyle = this.colours[plot.lookOf(series).colour];
    context.globalAlpha = this.dimmed(series) ? 0.06 : 0.2;
    context.beginPath();
    series.points.forEach((point) => {
      context.lineTo(plot.acrossValue(point.x), plot.downValue(point.high));
      count.intervals++;
    });
    series.points.toReversed().forEach((point) => {
      context.lineTo(plot.acrossValue(point.x), plot.downValue(point.low));
    });
    context.fill();
    context.globalAlpha = 1;
  }

  medians(series, count) {
    const { context, plot } = this;
    const colour = this.colours[plot.lookOf(series).colour];
    context.globalAlpha = this.dimmed(series) ? 0.25 : 1;
    context.strokeStyle = colour;
    context.lineWidth = plot.lit === series ? 2.6 : 1.6;
    context.lineJoin = 'round';
    context.setLineDash(DASHES[series.run % DASHES.length]);
    context.beginPath();
    series.points.forEach((p) => context.lineTo(plot.acrossValue(p.x), plot.downValue(p.median)));
    context.stroke();
    context.setLineDash([]);
    for (const point of series.points) {
      const [across, down] = [plot.acrossValue(point.x), plot.downValue(point.median)];
      this.marker(across, down, 4.2, series, colour);
      if (plot.within(across, down)) count.medians++;
    }
    context.globalAlpha = 1;
  }

  /** Filled for the first run, hollow for those laid over it. */
  marker(across, down, radius, series, colour) {
    const { context } = this;
    const shape = new Path2D();
    const place = new DOMMatrix([radius, 0, 0, radius, across, down]);
    shape.addPath(new Path2D(SHAPES[this.plot.lookOf(series).shape]), place);
    context.fillStyle = series.run === 0 ? colour : this.paper;
    context.strokeStyle = series.run === 0 ? this.paper : colour;
    context.lineWidth = series.run === 0 ? 1 : 1.4;
    context.stroke(shape);
    context.fill(shape);
  }

  /**
   * Where one line overtakes another: a ring on the crossing with its interval as a bar through it,
   * and a tick on the axis below, so that the place can be read off.
   */
  crossing(crossing) {
    const { context, plot, box } = this;
    const spot = plot.spotOf(crossing);
    if (!spot) return;
    const aside = plot.lit && ![crossing.overtakes, crossing.overtaken].includes(plot.lit.label);
    const stroke = (colour, width) => {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke();
    };
    context.globalAlpha = aside ? 0.3 : 1;
    const [left, right] = [plot.acrossValue(crossing.low), plot.acrossValue(crossing.high)];
    context.beginPath();
    if (right > left) {
      context.moveTo(left, spot.down);
      context.lineTo(right, spot.down);
      for (const end of [left, right]) {
        context.moveTo(end, spot.down - 4);
        context.lineTo(end, spot.down + 4);
      }
    }
    context.moveTo(spot.across, box.top + box.height);
    context.lineTo(spot.across, box.top + box.height - 9);
    stroke(this.paper, 4);
    stroke(this.ink, 1.5);
    context.beginPath();
    context.arc(spot.across, spot.down, RING, 0, 2 * Math.PI);
    context.fillStyle = this.paper;
    context.fill();
    stroke(this.paper, 4);
    stroke(this.ink, 1.8);
    context.globalAlpha = 1;
    if (plot.within(spot.across, spot.down)) this.marked.push(crossing.said);
  }

  dimmed(series) {
    return this.plot.lit && this.plot.lit !== series;
  }

  /** A ring around the point, or the crossover, that the read-out tells of. */
  cursor() {
    const { context, plot } = this;
    const spot = plot.cursorSpot;
    if (!spot) return;
    context.strokeStyle = this.ink;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(...spot, 9, 0, 2 * Math.PI);
    context.stroke();
  }

  /** The rectangle that is being dragged. */
  selection() {
    const { context } = this;
    const drag = this.plot.drag;
    if (drag?.mode !== 'select') return;
    context.fillStyle = this.ink;
    context.globalAlpha = 0.08;
    context.fillRect(drag.fromX, drag.fromY, drag.toX - drag.fromX, drag.toY - drag.fromY);
    context.globalAlpha = 0.6;
    context.lineWidth = 1;
    context.strokeStyle = this.ink;
    context.strokeRect(drag.fromX, drag.fromY, drag.toX - drag.fromX, drag.toY - drag.fromY);
    context.globalAlpha = 1;
  }

  /** Where the lines of series end, as far as that is in view. */
  ends(shown) {
    const { plot } = this;
    return shown.flatMap((series) => {
      const visible = series.points.filter((point) =>
        plot.within(plot.acrossValue(point.x), plot.downValue(point.median)));
      const last = visible.at(-1);
      if (!last) return [];
      const [fromX, fromY] = [plot.acrossValue(last.x), plot.downValue(last.median)];
      return [{ series, fromX, fromY, down: fromY }];
    });
  }

  /**
   * The names of the series at the ends of their lines, pushed apart where they would overlap.
   * Where there is no room for all, one run's stand for those that are laid over it.
   */
  names() {
    const { context, plot, box } = this;
    const right = box.left + box.width;
    let ends = this.ends(plot.shown);
    if (ends.length * 13 > box.height) {
      ends = this.ends(plot.shown.filter((series) => series.run === plot.shown[0].run));
    }
    ends.sort((a, b) => a.fromY - b.fromY);
    pushApart(ends, 14, box.top + 4, box.top + box.height - 4);
    context.font = this.font;
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    for (const end of ends) {
      const colour = this.colours[plot.lookOf(end.series).colour];
      context.globalAlpha = this.dimmed(end.series) ? 0.35 : 1;
      context.strokeStyle = colour;
      context.lineWidth = 0.8;
      context.beginPath();
      context.moveTo(end.fromX + 7, end.fromY);
      context.lineTo(right + 6, end.fromY);
      context.lineTo(right + 20, end.down);
      context.stroke();
      this.marker(right + 28, end.down, 3.6, end.series, colour);
      context.fillStyle = this.ink;
      context.fillText(plot.nameOf(end.series), right + 38, end.down, plot.margin.right - 40);
      context.globalAlpha = 1;
    }
  }
}

/** Moves what is sorted by `down` so that neighbours are `gap` apart, within `top` and `bottom`. */
function pushApart(items, gap, top, bottom) {
  let least = top;
  for (const item of items) {
    item.down = Math.max(item.down, least);
    least = item.down + gap;
  }
  let most = bottom;
  for (const item of items.toReversed()) {
    item.down = Math.min(item.down, most);
    most = item.down - gap;
  }
}
