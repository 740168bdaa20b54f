//! Scales of the plot's axes: values to positions and back, and where the ticks stand.

/**
 * One axis. A position is the value itself on a linear scale, its decimal logarithm on a logarithmic
 * one. What has no logarithm stands at `floor`, half a decade below the least positive value; where
 * zero is one of the values the axis is even between the two, and broken: `crack` is where.
 * An axis of bytes counts in powers of two.
 */
class Scale {
  constructor(log, least, hasZero, binary = false) {
    this.log = log;
    this.least = Math.log10(least);
    this.floor = this.least - 0.5;
    this.hasZero = hasZero;
    this.binary = binary;
  }

  position(value) {
    if (!this.log) return value;
    if (value <= 0) return this.floor;
    const position = Math.log10(value);
    return this.hasZero && position < this.least ? this.floor + 0.5 * (value / 10 ** this.least) : position;
  }

  /** Where a broken axis is broken. */
  get crack() {
    return this.log && this.hasZero ? this.floor + 0.25 : undefined;
  }

  /** Positions of all `values` at once. */
  positions(values) {
    const positions = new Float32Array(values.length);
    for (let at = 0; at < values.length; at++) positions[at] = this.position(values[at]);
    return positions;
  }

  /** Ticks between two positions, at most about `room` of them with a label. */
  ticks(from, to, room) {
    const ticks = this.log ? this.#apart(from, to, room) : this.#even(from, to, room);
    if (this.crack === undefined) return ticks;
    const above = ticks.filter((tick) => tick.position > this.floor + 0.49);
    if (this.floor >= from && this.floor <= to) {
      above.push({ position: this.floor, value: 0, step: 1, labelled: true, major: true });
    }
    return above;
  }

  #even(from, to, room) {
    const rough = (to - from) / Math.max(2, room);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = this.binary ? 2 ** Math.ceil(Math.log2(rough))
      : [1, 2, 5, 10].find((times) => times * power >= rough) * power;
    const ticks = [];
    for (let count = Math.ceil(from / step); count * step <= to; count++) {
      const value = Number((count * step).toPrecision(12));
      ticks.push({ position: value, value, step, labelled: true });
    }
    return ticks;
  }

  #apart(from, to, room) {
    return this.binary && to - from >= 0.8 ? this.#doublings(from, to, room) : this.#decades(from, to, room);
  }

  /** Powers of two, as many of them as there is room for. */
  #doublings(from, to, room) {
    const [first, last] = [Math.ceil(from / Math.log10(2)), Math.floor(to / Math.log10(2))];
    const every = Math.max(1, Math.ceil((last - first) / Math.max(2, room)));
    const ticks = [];
    for (let power = first; power <= last; power++) {
      const [value, labelled] = [2 ** power, power % every === 0];
      ticks.push({ position: Math.log10(value), value, step: value, labelled, major: power % 10 === 0 });
    }
    return ticks;
  }

  #decades(from, to, room) {
    const span = to - from;
    if (span < 0.8) {
      const even = this.#even(10 ** from, 10 ** to, room);
      return even.map((tick) => ({ ...tick, position: Math.log10(tick.value) }));
    }
    const every = Math.max(1, Math.ceil(span / room));
    const between = span <= room / 3 ? [1, 2, 5] : [1];
    const ticks = [];
    for (let decade = Math.floor(from); decade <= Math.ceil(to); decade++) {
      for (let digit = 1; digit <= (every > 1 ? 1 : 9); digit++) {
        const value = Number(`${digit}e${decade}`);
        const position = Math.log10(value);
        if (position < from || position > to) continue;
        const labelled = between.includes(digit) && decade % every === 0;
        ticks.push({ position, value, step: value, labelled, major: digit === 1 });
      }
    }
    return ticks;
  }
}
