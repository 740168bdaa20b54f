//! The plot: what is shown of the samples, how a reader moves about in it, what it reads out.
//!
//! For tests and the curious, `figure.plot` is the plot itself: `plot.drawn` says what the last
//! frame really drew (per series: samples within the view, samples outside it, medians, ends of
//! intervals, counted in the loops that draw them), `plot.marked` which crossovers, modes, steps and
//! halves it marked within the view, `plot.labels` where it named series, `plot.view` what part is seen, in
//! positions of the scales, `plot.reading` the figures of the read-out, and `plot.draw()` draws at once.

const HEIGHT = 470;
/** Below this width names stand in the legend only. */
const WIDTH_FOR_NAMES = 720;
/** Up to this number, points have the labels of the axis across. */
const POINT_LABELS_MAX = 9;
/** How far from a point the pointer still means it, how far from a mark, and how far from a line. */
const REACH = 48;
const REACH_MARK = 12;
const REACH_LINE = 10;

class Plot {
  constructor(figure, stage, data, listeners) {
    Object.assign(this, { figure, stage, data, listeners });
    this.canvas = stage.querySelector('canvas');
    this.context = this.canvas.getContext('2d', { alpha: false });
    // Where every position has its sample, a logarithmic axis would crowd nine tenths of them into the
    // last decade. So it would the intervals of a load.
    this.log = { x: !data.trajectory && !data.over_time, y: true };
    this.byRound = false;
    // What is isolated; nothing is where all are shown.
    this.isolated = { subjects: new Set(), runs: new Set() };
    this.labels = [];
    this.pointers = new Map();
    this.lit = [];
    this.show(data.first ?? 0);
    new ResizeObserver(() => this.draw()).observe(stage);
    new Gestures(this);
  }

  /** Shows another metric or other parameters; what is isolated stays so, if it is there. */
  show(index) {
    this.viewIndex = index;
    this.shownView = this.data.views[index];
    this.shownView.series.forEach((series) => {
      series.subject ??= this.data.subjects.indexOf(series.label);
      if (typeof series.samples === 'string') series.samples = unpack(series.samples);
      if (Array.isArray(series.points[0])) series.points = series.points.map(named);
    });
    this.series = this.shownView.series;
    if (!this.shown.length) this.isolated = { subjects: new Set(), runs: new Set() };
    this.cursor = null;
    this.reset();
  }

  /** The series that are shown: those isolated, else all. */
  get shown() {
    const { subjects, runs } = this.isolated;
    return this.series.filter((series) =>
      (!subjects.size || subjects.has(series.label)) && (!runs.size || runs.has(series.run)));
  }

  /** Whether some series are shown without the others. */
  get hasIsolated() {
    return this.isolated.subjects.size + this.isolated.runs.size > 0;
  }

  /** The crossovers, modes, steps and halves of this view whose series are shown. */
  get marks() {
    return this.shownView.marks.filter((mark) => this.seriesOf(mark).every(Boolean));
  }

  /** The series that a mark is about, those that are not shown left undefined. */
  seriesOf({ run, subjects }) {
    return subjects.map((label) =>
      this.shown.find((series) => series.run === run && series.label === label));
  }

  /** Where on the canvas a mark stands: the corners of a mode's curve, one pixel of anything else. */
  pixelsOf(mark) {
    if (mark.curve) {
      return mark.curve.map(([x, y]) => ({ across: this.acrossValue(x), down: this.downValue(y) }));
    }
    const pixel = this.pixelOf(mark);
    return pixel ? [pixel] : [];
  }

  /** The pixel of a position on the axis: between its lines, should they not meet as they are drawn. */
  pixelOf(mark) {
    const across = this.acrossValue(mark.at);
    const downs = this.seriesOf(mark)
      .map((series) => series && this.downOnLine(series, this.alongLine(series, across, mark)))
      .filter((down) => Number.isFinite(down));
    if (!downs.length) return null;
    return { across, down: downs.reduce((sum, down) => sum + down, 0) / downs.length };
  }

  /** A step, or an end, may lie beyond the last point with a median: then it stands as high as that. */
  alongLine(series, across, { kind }) {
    if (!['step', 'unfinished'].includes(kind) || !series.points.length) return across;
    const [first, last] = [series.points[0], series.points.at(-1)].map((p) => this.acrossValue(p.x));
    return Math.min(Math.max(across, first), last);
  }

  /** How far down the line of a series runs at a position across; undefined past its ends. */
  downOnLine(series, across) {
    const corners = series.points.map((p) => [this.acrossValue(p.x), this.downValue(p.median)]);
    const next = corners.findIndex(([x]) => x >= across);
    if (next < 0) return undefined;
    const [toX, toY] = corners[next];
    if (toX === across || next === 0) return toX === across ? toY : undefined;
    const [fromX, fromY] = corners[next - 1];
    return fromY + ((across - fromX) / (toX - fromX)) * (toY - fromY);
  }

  /** A tick of the axis across. A percentile stands where one over what is left above it does. */
  labelAcross({ value, step }) {
    return this.data.percentiles ? percentile(value) : tickLabel(value, '', step);
  }

  /** The points, which have the labels of the axis across where they are few. */
  pointTicks() {
    if (this.data.percentiles || this.data.over_time || this.data.trajectory) return [];
    const points = [...new Set(this.series.flatMap((series) => series.points.map((point) => point.x)))];
    const { x0, x1 } = this.view;
    const ticks = points.sort((a, b) => a - b)
      .map((value) => ({ position: this.scales.x.position(value), value, step: value || 1 }))
      .filter(({ position }) => position >= x0 && position <= x1);
    return points.length <= POINT_LABELS_MAX && ticks.length > 1 ? ticks : [];
  }

  /** What a point is called in the read-out: `ticket at 4 (2 per CPU)`, `ticket at 99 %`. */
  titleOf(series, at) {
    if (this.data.percentiles) return `${this.nameOf(series)} at ${percentile(at.x)}`;
    if (this.data.over_time) return `${this.nameOf(series)} after ${Number(at.x.toFixed(3))} s`;
    const multiple = this.shownView.multiples[at.x];
    const by = this.data.trajectory ? 'near' : 'at';
    return `${this.nameOf(series)} ${by} ${whole(at.x)}${multiple ? ` (${multiple})` : ''}`;
  }

  lookOf(series) {
    return this.data.looks[series.subject];
  }

  /** How much paper is mixed into the samples and modes of a run: 0 is none. */
  paleness(run) {
    return this.data.lines[run].pale;
  }

  /** The number of a run's dashes; 0 is a solid line. */
  dashOf(run) {
    return this.data.lines[run].dash;
  }

  nameOf(series) {
    const several = this.data.runs.length > 1;
    return several ? `${series.label}, ${this.data.brief[series.run]}` : series.label;
  }

  setLog(axis, log) {
    this.log[axis] = log;
    this.reset();
  }

  /**
   * Samples in the colours of their rounds, or of their series; one subject at a time, as a colour
   * can say only one thing.
   */
  setByRound(on) {
    this.byRound = on;
    const [first, ...others] = new Set(this.shown.map((series) => series.label));
    if (on && others.length) this.isolated.subjects = new Set([first]);
    this.changed();
  }

  /**
   * Isolates one subject or run, and shows all again where it was the only one. `joins` adds it to those
   * that are isolated, or takes it from them.
   */
  isolate(kind, name, joins) {
    const isolated = this.isolated[kind];
    const wasAlone = isolated.size === 1 && isolated.has(name);
    if (!joins) this.isolated[kind] = new Set(wasAlone ? [] : [name]);
    else if (!isolated.delete(name)) isolated.add(name);
    this.changed();
  }

  /** Shows all series again. */
  showAll() {
    if (!this.hasIsolated) return;
    this.isolated = { subjects: new Set(), runs: new Set() };
    this.changed();
  }

  changed() {
    if (this.cursor?.mark && !this.marks.includes(this.cursor.mark)) this.point(null);
    else if (this.cursor && !this.cursor.mark && !this.shown.includes(this.series[this.cursor.series])) this.point(null);
    if (this.zoomed) this.later();
    else this.reset();
    this.listeners.isolated(this);
  }

  /** Back to the view that holds everything shown. */
  reset() {
    const points = (this.shown.length ? this.shown : this.series).flatMap((s) => s.points);
    const range = (values) => {
      const positive = values.filter((value) => value > 0);
      return { least: Math.min(...positive, Infinity), hasZero: positive.length < values.length };
    };
    // The samples of a trajectory reach beyond the positions where they were brought together.
    const ends = (this.shown.length ? this.shown : this.series).map((series) => series.samples.ends)
      .filter((end) => Number.isFinite(end.from));
    const xs = [...points.map((point) => point.x), ...ends.flatMap((end) => [end.from, end.to])];
    const least = ends.map((end) => end.least).filter(Number.isFinite);
    const ys = [...points.flatMap((point) => [point.min, point.low]), ...least];
    const x = range(xs);
    const y = range(ys);
    const scale = (log, { least, hasZero }, binary) =>
      new Scale(log, Number.isFinite(least) ? least : 1, hasZero, binary);
    this.scales = { x: scale(this.log.x, x, false), y: scale(this.log.y, y, this.shownView.unit === 'B') };
    this.cachedPositions = new WeakMap();
    // A linear scale would be lost to one far outlier; what is above it is counted in the line below.
    const tops = this.log.y ? points.map((p) => Math.max(p.max, p.high)) : bulk(points);
    if (this.log.y) tops.push(...ends.map((end) => end.most));
    const bottoms = this.log.y ? ys : [0];
    const across = xs.map((value) => this.scales.x.position(value));
    // The axis ends at the data: past the first and the last point there is nothing to read off.
    this.dataEnds = [Math.min(...across), Math.max(...across)];
    const [x0, x1] = padded(across, 0.035, 0.5);
    const [y0, y1] = padded([...tops, ...bottoms].map((value) => this.scales.y.position(value)), 0.04);
    this.view = { x0, x1, y0: this.log.y ? y0 : Math.max(y0, 0), y1 };
    this.full = { ...this.view };
    this.zoomed = false;
    this.later();
  }

  /** Looks at all but the tails: what lies above the 99th percentile everywhere is left outside. */
  withoutTails() {
    const points = this.shown.flatMap((series) => series.points);
    const bottoms = points.map((point) => Math.min(point.min, point.low)).filter((value) => value > 0);
    const ends = [...bulk(points), ...(this.log.y ? bottoms : [0])];
    if (!points.length) return;
    const [y0, y1] = padded(ends.map((value) => this.scales.y.position(value)), 0.04);
    this.look({ ...this.full, y0: this.log.y ? y0 : Math.max(y0, 0), y1 });
  }

  /** Positions of a series' samples on the present scales, kept until the scales change. */
  samplePositions(series) {
    const { x, y } = series.samples;
    if (!this.cachedPositions.has(series)) {
      this.cachedPositions.set(series, { x: this.scales.x.positions(x), y: this.scales.y.positions(y) });
    }
    return this.cachedPositions.get(series);
  }

  across(position) {
    return this.box.left + ((position - this.view.x0) / (this.view.x1 - this.view.x0)) * this.box.width;
  }

  down(position) {
    const share = (position - this.view.y0) / (this.view.y1 - this.view.y0);
    return this.box.top + (1 - share) * this.box.height;
  }

  acrossValue(value) {
    return this.across(this.scales.x.position(value));
  }

  downValue(value) {
    return this.down(this.scales.y.position(value));
  }

  /** The positions on both scales of a pixel of the canvas. */
  positionsAt(across, down) {
    const { x0, x1, y0, y1 } = this.view;
    const { left, top, width, height } = this.box;
    return [x0 + ((across - left) / width) * (x1 - x0), y1 - ((down - top) / height) * (y1 - y0)];
  }

  /** Whether a pixel of the canvas lies within the axes, the edges included. */
  within(across, down) {
    const { left, top, width, height } = this.box;
    return across >= left - 0.5 && across <= left + width + 0.5
      && down >= top - 0.5 && down <= top + height + 0.5;
  }

  measureStage() {
    this.width = Math.max(240, this.stage.clientWidth);
    this.height = this.width < 560 ? 360 : HEIGHT;
    this.ratio = Math.min(3, window.devicePixelRatio || 1);
    const [width, height] = [this.width, this.height].map((side) => Math.round(side * this.ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.canvas.style.height = `${this.height}px`;
    }
    const right = this.width >= WIDTH_FOR_NAMES ? this.roomForNames() : 14;
    this.margin = { left: this.width < 560 ? 58 : 70, right, top: 14, bottom: 52 };
    if (this.shownView.upwards) this.margin.top = 30;
    const { left, top, bottom } = this.margin;
    this.box = { left, top, width: this.width - left - right, height: this.height - top - bottom };
    // Rounds stand side by side within a third of the way to the next point.
    const xs = [...new Set(this.series.flatMap((s) => s.points.map((p) => this.acrossValue(p.x))))];
    xs.sort((a, b) => a - b);
    const gap = xs.slice(1).reduce((least, at, index) => Math.min(least, at - xs[index]), 60);
    this.spread = Math.max(4, Math.min(22, gap / 3));
  }

  /** The width of the longest name right of the axes, but never the better part of the plot. */
  roomForNames() {
    this.context.font = fontOf(this.figure);
    const widths = this.series.map((series) => this.context.measureText(this.nameOf(series)).width);
    return Math.round(Math.min(this.width * 0.34, 46 + Math.max(...widths, 60)));
  }

  /** Draws with the next frame of the screen, once, however often it is asked for. */
  later() {
    this.pending ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (this.pending) cancelAnimationFrame(this.pending);
    this.pending = null;
    this.measureStage();
    const frame = new Frame(this);
    this.drawn = frame.draw();
    this.marked = frame.marked;
    this.listeners.drawn(this);
  }

  /** Zooms by `factor` (below 1: closer) about a pixel of the canvas. */
  zoom(factor, across, down) {
    const { x0, x1, y0, y1 } = this.view;
    const [x, y] = this.positionsAt(across, down);
    const from = (at, end) => at + (end - at) * factor;
    this.look({ x0: from(x, x0), x1: from(x, x1), y0: from(y, y0), y1: from(y, y1) });
  }

  pan(acrossPixels, downPixels) {
    const { x0, x1, y0, y1 } = this.view;
    const x = (-acrossPixels / this.box.width) * (x1 - x0);
    const y = (downPixels / this.box.height) * (y1 - y0);
    this.look({ x0: x0 + x, x1: x1 + x, y0: y0 + y, y1: y1 + y });
  }

  /** Looks at another part, neither closer nor wider than there is something to see. */
  look(next) {
    const spanX = (next.x1 - next.x0) / (this.full.x1 - this.full.x0);
    const spanY = (next.y1 - next.y0) / (this.full.y1 - this.full.y0);
    if (Math.min(spanX, spanY) < 1e-4 || Math.max(spanX, spanY) > 4) return;
    this.view = next;
    this.zoomed = true;
    this.later();
  }

  /** The mark or the point nearest to a pixel of the canvas, or none within reach. */
  nearest(across, down) {
    let found = null;
    let least = REACH;
    for (const mark of this.marks) {
      this.pixelsOf(mark).forEach((pixel, number) => {
        const away = Math.hypot(pixel.across - across, pixel.down - down);
        if (away < Math.min(least, REACH_MARK)) [least, found] = [away, { mark, corner: number }];
      });
    }
    this.series.forEach((series, index) => {
      if (!this.shown.includes(series)) return;
      series.points.forEach((point, number) => {
        const away = Math.hypot(this.acrossValue(point.x) - across, this.downValue(point.median) - down);
        if (away < least) [least, found] = [away, { series: index, point: number }];
      });
    });
    return found ?? this.onLine(across, down);
  }

  /** The nearest point of the line that runs under a pixel of the canvas, or none. */
  onLine(across, down) {
    const distance = (series) => Math.abs(this.downOnLine(series, across) - down);
    const lines = this.shown.filter((series) => distance(series) <= REACH_LINE);
    if (!lines.length) return null;
    const line = lines.reduce((best, series) => (distance(series) < distance(best) ? series : best));
    const away = line.points.map((point) => Math.abs(this.acrossValue(point.x) - across));
    return { series: this.series.indexOf(line), point: away.indexOf(Math.min(...away)) };
  }

  /** The series whose name stands at a pixel of the canvas. */
  labelAt(across, down) {
    const label = this.labels.find(({ left, right, top, bottom }) =>
      across >= left && across <= right && down >= top && down < bottom);
    return label?.series;
  }

  /** Puts the cursor on a point or a mark and reads it out; `null` takes it away. */
  point(cursor) {
    this.cursor = cursor;
    const series = cursor && this.series[cursor.series];
    const at = series?.points[cursor.point];
    this.reading = at ? { subject: series.label, run: series.run, ...at } : cursor?.mark ?? null;
    this.lit = series ? [series] : [];
    this.listeners.reading(this, series, at);
    this.later();
  }

  /** Sets all series of a label off against the others; without one, none. */
  light(label) {
    this.lit = this.shown.filter((series) => series.label === label);
    this.later();
  }

  /** Where the cursor stands on the canvas, if it stands anywhere. */
  get cursorPixel() {
    if (this.cursor?.mark) {
      const pixel = this.pixelsOf(this.cursor.mark)[this.cursor.corner];
      return pixel && [pixel.across, pixel.down];
    }
    const at = this.cursor && this.series[this.cursor.series].points[this.cursor.point];
    return at ? [this.acrossValue(at.x), this.downValue(at.median)] : null;
  }

  /** Steps from one mark to the next, and from the last to the first. */
  stepMark() {
    const all = this.marks;
    if (!all.length) return;
    const mark = all[(all.indexOf(this.cursor?.mark) + 1) % all.length];
    this.point({ mark, corner: this.pixelsOf(mark).length - 1 });
    this.keepInView();
  }

  /** The point of a cursor: of a mark, the last one before it of its first series. */
  pointOf(cursor) {
    if (!cursor?.mark) return cursor;
    const [series] = this.seriesOf(cursor.mark);
    const at = cursor.mark.curve?.[cursor.corner][0] ?? cursor.mark.at;
    const before = series.points.filter((point) => point.x < at).length;
    return { series: this.series.indexOf(series), point: Math.max(0, before - 1) };
  }

  /** Steps to the neighbouring point of the series, or to the next series at this point. */
  step(along, between) {
    const shown = this.shown.filter((series) => series.points.length);
    if (!shown.length) return;
    const at = this.pointOf(this.cursor) ?? { series: this.series.indexOf(shown[0]), point: -1 };
    const series = this.series[at.series];
    if (along) {
      const last = series.points.length - 1;
      const point = Math.max(0, Math.min(last, at.point + along));
      this.point({ series: at.series, point });
    } else {
      this.point(this.neighbour(series, Math.max(0, at.point), between, shown));
    }
    this.keepInView();
  }

  /** The next series above or below at the same position on the axis. */
  neighbour(series, number, between, shown) {
    const x = series.points[number].x;
    const here = shown
      .flatMap((other) => {
        const point = other.points.findIndex((candidate) => candidate.x === x);
        return point < 0 ? [] : [{ other, point, median: other.points[point].median }];
      })
      .sort((a, b) => a.median - b.median);
    const position = here.findIndex((entry) => entry.other === series);
    const next = here[Math.max(0, Math.min(here.length - 1, position + between))];
    return { series: this.series.indexOf(next.other), point: next.point };
  }

  keepInView() {
    if (!this.cursorPixel) return;
    const [across, down] = this.cursorPixel;
    const { left, top, width, height } = this.box;
    const x = Math.max(left + 20 - across, 0) || Math.min(left + width - 20 - across, 0);
    const y = Math.max(top + 20 - down, 0) || Math.min(top + height - 20 - down, 0);
    if (!this.within(across, down)) this.pan(x, y);
  }
}

/** The figures of one point, in the order in which the page carries them. */
function named(figures) {
  if (figures.length < 4) return singleOf(figures);
  const [x, rounds, samples, median, low, high, min, p10, p25, p75, p90, p99, max, rank] = figures;
  return { x, rounds, samples, median, low, high, min, p10, p25, p75, p90, p99, max, rank };
}

/**
 * A point that is one figure: a percentile, at one over what is left above it, or an interval of a load, at its end, where the
 * line begins again `afterGap`.
 */
function singleOf([x, median, afterGap]) {
  return { x, median, low: median, high: median, min: median, max: median, afterGap: Boolean(afterGap) };
}

/**
 * How high each point reaches without its tail. Where there are few samples, as at the beginning of a
 * trajectory, one late call is the 99th percentile; such a point reaches as high as its median.
 */
function bulk(points) {
  const most = Math.max(...points.map((point) => point.samples));
  return points.map((p) => Math.max(p.high, 50 * p.samples >= most ? p.p99 : 0));
}

/** Least and greatest, with some air around them: a share of the distance, or `lone` around a single one. */
function padded(positions, share, lone) {
  const least = positions.reduce((a, b) => Math.min(a, b), Infinity);
  const most = positions.reduce((a, b) => Math.max(a, b), -Infinity);
  const air = (most - least) * share || lone || Math.abs(most) * 0.1 || 1;
  return [least - air, most + air];
}
