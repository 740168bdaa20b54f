//! Figures as words, by the rules of the tables, and packed samples back into numbers.

const SECONDS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
const RATES = [[1e6, 'M '], [1e3, 'k '], [0, '']];
const BYTES = [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']];

/** The scale and the sign in which `size` is readable; only times, bytes and rates have more than one. */
function unitFor(size, unit) {
  if (unit === 'ns') return SECONDS.find(([scale]) => Math.abs(size) >= scale) ?? SECONDS.at(-1);
  if (unit === 'B') return BYTES.find(([scale]) => Math.abs(size) >= scale) ?? BYTES.at(-1);
  if (!unit.endsWith('/s')) return [1, unit];
  const [scale, prefix] = RATES.find(([least]) => Math.abs(size) >= least) ?? RATES.at(-1);
  return [scale || 1, prefix + unit];
}

/** A whole number with thousands separators: `10,000`. */
function whole(number) {
  return (Math.round(number) || 0).toLocaleString('en');
}

/** A number with thousands separators and so many decimals: `1,234.50`. */
function withDecimals(number, decimals) {
  return number.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** A number with `digits` significant digits, and separators from 1,000 up. */
function figure(number, digits = 3) {
  if (!Number.isFinite(number)) return '–';
  if (number === 0) return '0';
  const rounded = Number(number.toPrecision(digits));
  const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(rounded)));
  if (decimals <= 0) return whole(Math.abs(rounded) < 1e15 ? number : rounded);
  return withDecimals(rounded, Math.min(decimals, 12));
}

/** A quantity with its unit, four significant digits: `109.4 µs`. */
function quantity(value, unit) {
  const [scale, sign] = unitFor(value, unit);
  return `${figure(value / scale, 4)} ${sign}`;
}

/**
 * The label of a tick: no more digits than the distance to the next one asks for. Times and bytes have
 * their unit behind them; that of other figures stands at the end of the axis, but for its k or M.
 */
function tickLabel(value, unit, step) {
  if (value === 0) return '0';
  const [scale, whole] = unitFor(value, unit);
  const sign = unit === 'ns' || unit === 'B' ? whole : whole.slice(0, whole.length - unit.length).trim();
  const decimals = Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9));
  const text = withDecimals(value / scale, Math.min(decimals, 6));
  return `${text}${sign ? ` ${sign}` : ''}`;
}

/** One over what is left above a percentile, as that percentile: 100 is `99 %`, 1 `0 %`. */
function percentile(over) {
  const digits = Math.max(0, Math.ceil(Math.log10(over)) - 1);
  return `${Number((100 * (1 - 1 / over)).toFixed(Math.min(12, digits)))} %`;
}

/** Does what `keys` has for a key, unless it is a shortcut of the browser. */
function onKey(event, keys) {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}

/** Steps to a doubling, and the lift above zero: the packing of `data.rs`. */
const STEPS = 2048;
const LIFT = 32 * STEPS;

/** Variable-length whole numbers, one after the other. */
class Bytes {
  constructor(base64) {
    const letters = atob(base64);
    this.bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at++) this.bytes[at] = letters.charCodeAt(at);
    this.at = 0;
  }
  get more() {
    return this.at < this.bytes.length;
  }
  next() {
    let number = 0;
    for (let worth = 1; ; worth *= 128) {
      const byte = this.bytes[this.at++];
      number += (byte & 127) * worth;
      if (byte < 128) return number;
    }
  }
  signed() {
    const folded = this.next();
    return folded % 2 ? -(folded + 1) / 2 : folded / 2;
  }
}

/** A number of steps as the value it stands for. */
function valueOf(steps) {
  if (steps === 0) return 0;
  return Math.sign(steps) * 2 ** ((Math.abs(steps) - LIFT) / STEPS);
}

/** The positions of a trajectory: by a rule, or each by its distance from the one before. */
function positionsOf(bytes, count) {
  const positions = new Float64Array(count);
  if (!count) return positions;
  positions[0] = bytes.next();
  const even = bytes.next();
  for (let at = 1; at < count; at++) positions[at] = positions[at - 1] + (even || bytes.next());
  return positions;
}

/**
 * The samples of one series: position on the axis, value, and a jitter from -0.5 to 0.5 that sets the
 * rounds side by side where samples share a position; one entry per sample. `cells` says which of them
 * are of which round, `ends` how far they reach.
 */
function unpack(base64) {
  const bytes = new Bytes(base64);
  const count = bytes.next();
  const [x, y] = [new Float64Array(count), new Float64Array(count)];
  const cells = [];
  for (let at = 0; bytes.more;) {
    const point = bytes.next();
    const round = bytes.next();
    const head = bytes.next();
    const trajectory = head % 2 === 1;
    const [first, end] = [at, at + (head - (head % 2)) / 2];
    if (trajectory) x.set(positionsOf(bytes, end - first), first);
    else x.fill(point, first, end);
    cells.push({ first, end, round, trajectory });
    for (let steps = 0; at < end; at++) {
      steps += bytes.signed();
      y[at] = valueOf(steps);
    }
  }
  const rounds = cells.reduce((most, cell) => Math.max(most, cell.round), 0) + 1;
  return { x, y, cells, rounds, jitter: jittered(cells, rounds, count), ends: endsOf(x, y) };
}

/** How far aside each sample is set; those of a trajectory have positions of their own. */
function jittered(cells, rounds, count) {
  const jitter = new Float32Array(count);
  for (const { first, end, round } of cells.filter((cell) => !cell.trajectory)) {
    for (let index = first; index < end; index++) {
      const within = 0.1 + 0.8 * ((index * 0.618033988749895) % 1);
      jitter[index] = (round + within) / rounds - 0.5;
    }
  }
  return jitter;
}

/** The first and the last position, the least value above zero and the largest. */
function endsOf(x, y) {
  const ends = { from: Infinity, to: -Infinity, least: Infinity, most: -Infinity };
  for (let index = 0; index < x.length; index++) {
    ends.from = Math.min(ends.from, x[index]);
    ends.to = Math.max(ends.to, x[index]);
    ends.most = Math.max(ends.most, y[index]);
    if (y[index] > 0) ends.least = Math.min(ends.least, y[index]);
  }
  return ends;
}
