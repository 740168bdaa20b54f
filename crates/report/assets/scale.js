//! Scales of the plot's axes: values to places and back, and where the ticks stand.

/**
 * One axis. A place is the value itself on a linear scale, its decimal logarithm on a logarithmic
 * one. What has no logarithm stands at `floor`, half a decade below the least positive value.
 */
class Scale {
  constructor(log, least, hasZero) {
    this.log = log;
    this.floor = Math.log10(least) - 0.5;
    this.hasZero = hasZero;
  }

  place(value) {
    if (!this.log) return value;
    return value > 0 ? Math.log10(value) : this.floor;
  }

  value(place) {
    return this.log ? 10 ** place : place;
  }

  /** Places of all `values` at once. */
  places(values) {
    const places = new Float32Array(values.length);
    for (let at = 0; at < values.length; at++) places[at] = this.place(values[at]);
    return places;
  }

  /** Ticks between two places, at most about `room` of them with a label. */
  ticks(from, to, room) {
    const ticks = this.log ? this.#decades(from, to, room) : this.#even(from, to, room);
    if (this.log && this.hasZero && this.floor >= from && this.floor <= to) {
      ticks.push({ place: this.floor, value: 0, step: 1, labelled: true });
    }
    return ticks;
  }

  #even(from, to, room) {
    const rough = (to - from) / Math.max(2, room);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
    const ticks = [];
    for (let count = Math.ceil(from / step); count * step <= to; count++) {
      const value = Number((count * step).toPrecision(12));
      ticks.push({ place: value, value, step, labelled: true });
    }
    return ticks;
  }

  #decades(from, to, room) {
    const span = to - from;
    if (span < 0.8) {
      const even = this.#even(10 ** from, 10 ** to, room);
      return even.map((tick) => ({ ...tick, place: Math.log10(tick.value) }));
    }
    const every = Math.max(1, Math.ceil(span / room));
    const between = span <= room / 3 ? [1, 2, 5] : [1];
    const ticks = [];
    for (let decade = Math.floor(from); decade <= Math.ceil(to); decade++) {
      for (let digit = 1; digit <= (every > 1 ? 1 : 9); digit++) {
        const value = Number(`${digit}e${decade}`);
        const place = Math.log10(value);
        if (place < from || place > to) continue;
        const labelled = between.includes(digit) && decade % every === 0;
        ticks.push({ place, value, step: value, labelled, major: digit === 1 });
      }
    }
    return ticks;
  }
}
