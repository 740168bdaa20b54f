//! Drawing the plot: samples, then grid, intervals, medians, marks, cursor, labels.
//!
//! `SHAPES`, `COLOURS` and how each subject looks come with the page: the maps share them.

/** Lines of the first, second, third and fourth run; only the first is solid. */
const DASHES = [[], [6, 4], [2, 3], [9, 3, 2, 3]];
/** Lines of the modes of a series, the lowest first. */
const MODE_DASHES = [[2, 4], [9, 4], [9, 3, 2, 3]];
/** Radius of the ring around a crossover. */
const RING = 5;
/** Between two labels of the axis across. */
const LABEL_GAP = 8;
/** Height of a line of names, and the width that the number of those left out needs. */
const LABEL_HEIGHT = 14;
const ROOM_FOR_REST = 32;

/** `rgb(…)` as three numbers. */
function channels(colour) {
  return colour.match(/\d+/g).map(Number);
}

/** Looks up colours of the style sheet, as they are in its present theme. */
function palette(canvas) {
  const style = getComputedStyle(canvas);
  return (name) => {
    canvas.style.color = `var(${name})`;
    return style.color;
  };
}

/** The letters of the plot, for measuring and for drawing. */
function fontOf(figure) {
  return `12px ${getComputedStyle(figure).fontFamily}`;
}

/** The dashes of that number; beyond the last they begin anew, but for the solid line. */
function dashesOf(number) {
  return DASHES[number && 1 + ((number - 1) % (DASHES.length - 1))];
}

/** Draws one frame of a plot. Lengths are CSS pixels, except in the cloud of its samples. */
class Frame {
  constructor(plot, context = plot.context) {
    this.plot = plot;
    this.context = context;
    this.box = plot.box;
    const colour = palette(plot.canvas);
    [this.paper, this.ink, this.muted, this.rule] = ['--paper', '--ink', '--muted', '--grid'].map(colour);
    this.colours = Array.from({ length: COLOURS }, (_, index) => colour(`--series-${index}`));
    this.font = fontOf(plot.figure);
    this.counts = [];
    this.marked = [];
    this.labels = [];
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
      plot.marks.forEach((mark) => this.mark(mark));
      this.cursor();
      this.selection();
    });
    if (plot.margin.right > 60) this.names();
    plot.labels = this.labels;
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

  /** Every sample, series after series. */
  samples() {
    const { context, plot, box } = this;
    const ratio = plot.ratio;
    const [left, top] = [Math.round(box.left * ratio), Math.round(box.top * ratio)];
    const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    const paper = channels(this.paper);
    if (plot.cloud?.width === width && plot.cloud.height === height) plot.cloud.clear(paper);
    else plot.cloud = new Cloud(context, width, height, paper);
    const total = plot.shown.reduce((sum, series) => sum + series.samples.x.length, 0);
    const alpha = total > 30000 ? 0.16 : total > 8000 ? 0.22 : 0.32;
    plot.shown.forEach((series, index) => this.dots(series, this.counts[index], alpha));
    context.putImageData(plot.cloud.image, left, top);
  }

  /** The samples of one series; one round after the other where they have colours of their own. */
  dots(series, count, alpha) {
    const { plot } = this;
    const { cloud, view } = plot;
    const projection = {
      x0: view.x0,
      y0: view.y0,
      alongX: cloud.width / (view.x1 - view.x0),
      alongY: cloud.height / (view.y1 - view.y0),
      spread: plot.spread * plot.ratio,
    };
    const size = Math.max(2, Math.round(1.5 * plot.ratio));
    const { jitter, cells, x } = series.samples;
    const samples = { ...plot.samplePositions(series), jitter };
    const spans = plot.byRound ? cells : [{ first: 0, end: x.length, round: 0 }];
    const tones = this.tones(series);
    for (const { first, end, round } of spans) {
      const tone = tones[round % tones.length];
      count.samples += cloud.lay(samples, [first, end], projection, { tone, alpha, size });
    }
    count.outside = x.length - count.samples;
  }

  /** The colours of a series' samples: its own, or one for each round. */
  tones(series) {
    return this.plot.byRound ? this.colours.map(channels) : [this.tint(series)];
  }

  /** The colour of a series, paler in an earlier run. */
  tint(series) {
    const { plot } = this;
    const paper = channels(this.paper);
    const pale = plot.paleness(series.run);
    const own = channels(this.colours[plot.lookOf(series).colour]);
    return own.map((byte, index) => Math.round(byte + (paper[index] - byte) * pale));
  }

  axes() {
    const { context, plot, box } = this;
    const { x0, x1, y0, y1 } = plot.view;
    context.font = this.font;
    // The grid lies behind the samples, though they are drawn first: it shows on bare paper only.
    const dark = Math.max(...channels(this.paper)) < 128;
    this.over = dark ? 'lighten' : 'darken';
    const bottom = box.top + box.height;
    const [first, last] = plot.dataEnds;
    const isWithin = ({ position }) => position >= first - 1e-9 && position <= last + 1e-9;
    const grid = plot.scales.x.ticks(x0, x1, box.width / 80).filter(isWithin);
    for (const tick of grid) {
      const across = Math.round(plot.across(tick.position)) + 0.5;
      this.line([across, box.top], [across, bottom], tick);
    }
    this.align('center', 'top');
    const points = plot.pointTicks();
    const labelled = points.length ? points : grid.filter((tick) => tick.labelled);
    let free = -Infinity;
    for (const tick of labelled.sort((a, b) => a.position - b.position)) {
      const label = plot.labelAcross(tick);
      const half = context.measureText(label).width / 2;
      const across = Math.min(Math.round(plot.across(tick.position)) + 0.5, plot.width - half - 1);
      if (across - half < free) continue;
      context.fillText(label, across, bottom + 8);
      free = across + half + LABEL_GAP;
    }
    for (const tick of plot.scales.y.ticks(y0, y1, box.height / 46)) {
      const down = Math.round(plot.down(tick.position)) + 0.5;
      this.line([box.left, down], [box.left + box.width, down], tick);
      this.align('right', 'middle');
      const label = tickLabel(tick.value, plot.shownView.unit, tick.step);
      if (tick.labelled) context.fillText(label, box.left - 8, down);
    }
    this.one(bottom);
    this.cracks(bottom);
    this.align('center', 'top');
    context.fillText(plot.data.axis, box.left + box.width / 2, bottom + 27);
    this.align('left', 'top');
    context.fillText(plot.shownView.upwards, 6, 2);
  }

  /** A rule where there is one for each of the whole: up to it there is work for all, past it they share. */
  one(bottom) {
    const { context, plot, box } = this;
    const { one } = plot.shownView;
    const across = one ? plot.acrossValue(one.at) : NaN;
    if (!(across > box.left && across < box.left + box.width)) return;
    this.trace([[across, box.top], [across, bottom]]);
    this.stroke(this.muted, 1, [1, 4]);
    context.fillStyle = this.muted;
    this.align('left', 'bottom');
    // Above the ticks of the marks.
    context.fillText(one.text, across + 5, bottom - 13);
  }

  /** Two strokes across an axis where it is broken: between zero and what has a logarithm. */
  cracks(bottom) {
    const { plot, box } = this;
    const { x, y } = plot.scales;
    const strokes = [];
    const across = x.crack === undefined ? NaN : plot.across(x.crack);
    if (across > box.left && across < box.left + box.width) strokes.push([across - 2.5, bottom], [across + 2.5, bottom]);
    const down = y.crack === undefined ? NaN : plot.down(y.crack);
    if (down > box.top && down < bottom) strokes.push([box.left, down - 2.5], [box.left, down + 2.5]);
    this.trace(...strokes.map(([middle, height]) => [[middle - 4, height + 5], [middle + 4, height - 5]]));
    this.stroke(this.muted, 1.2);
  }

  line(from, to, tick) {
    const { context } = this;
    context.globalAlpha = tick.labelled || tick.major ? 1 : 0.45;
    context.globalCompositeOperation = this.over;
    this.trace([from, to]);
    this.stroke(this.rule, 1);
    context.globalCompositeOperation = 'source-over';
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
    const width = plot.lit.includes(series) ? 2.6 : 1.6;
    context.globalAlpha = this.dimmed(series) ? 0.25 : 1;
    context.lineJoin = 'round';
    context.beginPath();
    series.points.forEach((p) => {
      const corner = [plot.acrossValue(p.x), plot.downValue(p.median)];
      if (p.afterGap) context.moveTo(...corner);
      else context.lineTo(...corner);
    });
    // All along a trajectory there are samples of the same colour: the line needs an edge.
    if (plot.data.trajectory) this.stroke(this.paper, width + 2);
    this.stroke(colour, width, dashesOf(plot.dashOf(series.run)));
    for (const point of series.points) {
      if (plot.data.percentiles) break;
      const [across, down] = [plot.acrossValue(point.x), plot.downValue(point.median)];
      this.marker(across, down, 4.2, series, colour);
      if (plot.within(across, down)) count.medians++;
    }
    context.globalAlpha = 1;
  }

  /** Filled where lines are solid, hollow for the runs laid over those. */
  marker(across, down, radius, series, colour) {
    const { context } = this;
    const [d, matrix] = [SHAPES[this.plot.lookOf(series).shape], [radius, 0, 0, radius, across, down]];
    const shape = Object.assign(new Path2D(), { d, matrix });
    shape.addPath(new Path2D(d), new DOMMatrix(matrix));
    const solid = this.plot.dashOf(series.run) === 0;
    context.fillStyle = solid ? colour : this.paper;
    context.strokeStyle = solid ? this.paper : colour;
    context.lineWidth = solid ? 1 : 1.4;
    context.stroke(shape);
    context.fill(shape);
  }

  /** A mark, set back while another series is set off. */
  mark(mark) {
    const { context, plot } = this;
    const pixels = plot.pixelsOf(mark);
    if (!pixels.length) return;
    const aside = plot.lit.length > 0 && !plot.seriesOf(mark).some((series) => plot.lit.includes(series));
    context.globalAlpha = aside ? 0.3 : 1;
    if (mark.kind === 'mode') this.mode(mark, pixels);
    else this.symbol(mark, pixels[0]);
    context.globalAlpha = 1;
    if (pixels.some((pixel) => plot.within(pixel.across, pixel.down))) this.marked.push(mark.text);
  }

  /** Begins lines, each through its corners. */
  trace(...lines) {
    const { context } = this;
    context.beginPath();
    for (const [first, ...rest] of lines) {
      context.moveTo(...first);
      rest.forEach((corner) => context.lineTo(...corner));
    }
  }

  /** Begins a circle, or its lower half: of so many times half a turn. */
  arc(middle, radius, halves) {
    this.context.beginPath();
    this.context.arc(...middle, radius, 0, halves * Math.PI);
  }

  stroke(colour, width, dashes = []) {
    const { context } = this;
    [context.strokeStyle, context.lineWidth] = [colour, width];
    context.setLineDash(dashes);
    context.stroke();
    context.setLineDash([]);
  }

  align(across, down) {
    [this.context.textAlign, this.context.textBaseline] = [across, down];
  }

  /** One mode of several: a line of its own, its dashes by its rank. */
  mode(mark, pixels) {
    this.trace(pixels.map(({ across, down }) => [across, down]));
    this.stroke(this.paper, 4.5);
    this.stroke(`rgb(${this.tint(this.plot.seriesOf(mark)[0])})`, 2.4, MODE_DASHES[mark.rank % MODE_DASHES.length]);
  }

  /**
   * A position on the axis, with its interval as a bar through it and a tick on the axis below, so that
   * it can be read off: a ring where one line overtakes another, a stair where one steps, a ring that is
   * filled below where a rate has fallen to half, a cross where a series did not finish.
   */
  symbol(mark, pixel) {
    const { context, plot, box } = this;
    const { across, down } = pixel;
    const [left, right] = [plot.acrossValue(mark.low), plot.acrossValue(mark.high)];
    const bottom = box.top + box.height;
    const bar = [[[left, down], [right, down]], ...[left, right].map((end) => [[end, down - 4], [end, down + 4]])];
    this.trace(...(right > left ? bar : []), [[across, bottom], [across, bottom - 9]]);
    this.stroke(this.paper, 4);
    this.stroke(this.ink, 1.5);
    if (mark.kind === 'step') {
      const rise = mark.rises ? 6 : -6;
      this.trace([[across - 8, down + rise], [across, down + rise], [across, down - rise], [across + 8, down - rise]]);
    } else if (mark.kind === 'unfinished') {
      this.trace(...[-4, 4].map((way) => [[across - 4, down - way], [across + 4, down + way]]));
    } else {
      this.arc([across, down], RING, 2);
      context.fillStyle = this.paper;
      context.fill();
    }
    this.stroke(this.paper, mark.kind === 'step' ? 6 : 4);
    this.stroke(this.ink, mark.kind === 'step' ? 2.4 : 1.8);
    if (mark.kind !== 'half') return;
    this.arc([across, down], RING, 1);
    context.fillStyle = this.ink;
    context.fill();
  }

  dimmed(series) {
    return this.plot.lit.length > 0 && !this.plot.lit.includes(series);
  }

  /** A ring around the point, or the mark, that the read-out tells of. */
  cursor() {
    const { cursorPixel } = this.plot;
    if (!cursorPixel) return;
    this.arc(cursorPixel, 9, 2);
    this.stroke(this.ink, 2);
  }

  /** The rectangle that is being dragged. */
  selection() {
    const { context } = this;
    const drag = this.plot.drag;
    if (drag?.mode !== 'select') return;
    context.beginPath();
    context.rect(drag.fromX, drag.fromY, drag.toX - drag.fromX, drag.toY - drag.fromY);
    context.fillStyle = this.ink;
    context.globalAlpha = 0.08;
    context.fill();
    context.globalAlpha = 0.6;
    this.stroke(this.ink, 1);
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
      return [{ series: [series], fromX, fromY, down: fromY }];
    });
  }

  /**
   * The names of the series right of the axes, at the heights of their lines' ends and pushed apart where
   * they would overlap. Where they have no room one below the other, one run's stand for those that are
   * laid over it; then those that lie next to each other share a line.
   */
  names() {
    const { context, plot, box } = this;
    const byHeight = (ends) => ends.sort((a, b) => a.fromY - b.fromY);
    const lines = Math.floor((box.height + LABEL_HEIGHT / 2) / LABEL_HEIGHT);
    let ends = byHeight(this.ends(plot.shown));
    if (ends.length > lines) {
      ends = byHeight(this.ends(plot.shown.filter((series) => series.run === plot.shown[0].run)));
    }
    mergeNearest(ends, lines);
    pushApart(ends, LABEL_HEIGHT, box.top + 4, box.top + box.height - 4);
    context.font = this.font;
    this.align('left', 'middle');
    this.labels = ends.flatMap((end) => this.label(end));
    context.globalAlpha = 1;
  }

  /** One line of names with a leader from the end of its series; returns where each name stands. */
  label({ series: all, fromX, fromY, down }) {
    const { context, plot, box } = this;
    const right = box.left + box.width;
    const colourOf = (series) => this.colours[plot.lookOf(series).colour];
    const alphaOf = (series) => (this.dimmed(series) ? 0.35 : 1);
    context.globalAlpha = Math.max(...all.map(alphaOf));
    // The leader of a line that ends early passes over others: it must not be taken for one of them.
    const isEarly = fromX < right - 0.1 * box.width;
    this.trace([[fromX + 7, fromY], [right + 6, fromY], [right + 20, down]]);
    this.stroke(colourOf(all[0]), 0.8, isEarly ? [1, 4] : []);
    const edge = plot.width - 2;
    let left = right + 28;
    const labels = [];
    for (const [index, series] of all.entries()) {
      const rest = all.length - index - 1;
      const [name, room] = [plot.nameOf(series), edge - left - 10 - (rest ? ROOM_FOR_REST : 0)];
      context.fillStyle = this.ink;
      if (index > 0 && context.measureText(name).width > room) {
        context.fillText(`+ ${rest + 1}`, left - 6, down);
        break;
      }
      context.globalAlpha = alphaOf(series);
      this.marker(left, down, 3.6, series, colourOf(series));
      context.fillStyle = this.ink;
      const width = Math.min(context.measureText(name).width, room);
      context.fillText(name, left + 10, down, room);
      const [top, bottom] = [down - LABEL_HEIGHT / 2, down + LABEL_HEIGHT / 2];
      labels.push({ series, left: left - 6, right: left + 10 + width, top, bottom });
      left += width + 24;
    }
    return labels;
  }
}

/** Puts neighbours of what is sorted by height on one line, the nearest first, until there are `most` lines. */
function mergeNearest(ends, most) {
  while (ends.length > most) {
    const gaps = ends.slice(1).map((end, index) => end.fromY - ends[index].fromY);
    const at = gaps.indexOf(Math.min(...gaps));
    const [upper, lower] = [ends[at], ends[at + 1]];
    const down = (upper.fromY + lower.fromY) / 2;
    const fromX = Math.max(upper.fromX, lower.fromX);
    ends.splice(at, 2, { series: [...upper.series, ...lower.series], fromX, fromY: down, down });
  }
}

/**
 * Moves what is sorted by `down` as little as possible so that neighbours are `gap` apart, within `top`
 * and `bottom`: those that would overlap stand around their common middle.
 */
function pushApart(items, gap, top, bottom) {
  const blocks = [];
  items.forEach(({ down }, index) => {
    let block = { sum: down - index * gap, count: 1 };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).count > block.sum / block.count) {
      const before = blocks.pop();
      block = { sum: before.sum + block.sum, count: before.count + block.count };
    }
    blocks.push(block);
  });
  const most = bottom - (items.length - 1) * gap;
  const firsts = blocks.flatMap(({ sum, count }) => Array(count).fill(sum / count));
  items.forEach((item, index) => {
    item.down = Math.max(top, Math.min(most, firsts[index])) + index * gap;
  });
}
