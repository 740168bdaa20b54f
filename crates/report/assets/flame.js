//! Flame graphs: the call stacks of one cell, callers above what they call, or of two cells by what grew.
//!
//! The boxes are elements of the page: their colours, their letters and their print are the page's own. For
//! tests and the curious, `figure.profile.profile.flame` is the graph: `boxes` has what is drawn, `zoomed` the
//! stack that fills the width, `cursor` the one that is read out.

/** Boxes narrower than this share of the width are not drawn. */
const NARROWEST = 0.0015;
/** A stack that holds this share of everything is where a graph begins: above it there is nothing to choose. */
const TRUNK = 0.99;
/** Differences below so many standard errors could be noise of sampling: a graph has a hundred boxes. */
const CLEAR_Z = 3.5;
/** Boxes narrower than this many pixels have no letters. */
const LETTERS_FROM = 36;
/** Shares of the difference that a function itself has, from which its colour is a step stronger. */
const CHANGE_STEPS = [0.01, 0.05, 0.2];
/** Height of a row, in rem. */
const ROW = 1.3;
/** Steps of the path that are written out at its beginning and at its end. */
const PATH_ENDS = [1, 4];

/**
 * The stacks of one cell, or of a cell and the one that it is compared with. For each stack there is the time
 * of an operation that is spent in it and in what it calls, and the samples behind that.
 */
class StackTree {
  constructor(profile, cell, base, process) {
    const { callers } = profile;
    this.profile = profile;
    this.cells = [cell, base].filter(Boolean);
    const size = callers.length;
    const grown = () => new Float64Array(size + 1);
    this.sides = this.cells.map((side) => ({ own: grown(), whole: grown(), samples: grown(), each: side.each }));
    this.cells.forEach((side, index) => {
      const { own, samples } = this.sides[index];
      for (let at = 0; at < side.samples.length; at += 2) {
        const [stack, count] = [side.samples[at], side.samples[at + 1]];
        if (process !== null && profile.roots[stack] !== process) continue;
        own[stack + 1] += count * side.each;
        samples[stack + 1] += count;
      }
    });
    // Entry 0 is everything; a caller stands before what it calls.
    this.width = grown();
    this.calls = Array.from({ length: size + 1 }, () => []);
    this.sides.forEach((side) => side.whole.set(side.own));
    for (let at = 0; at <= size; at++) this.width[at] = Math.max(...this.sides.map(({ own }) => own[at]));
    for (let at = size; at > 0; at--) {
      const caller = callers[at - 1];
      if (!this.width[at]) continue;
      this.width[caller] += this.width[at];
      this.calls[caller].push(at);
      this.sides.forEach(({ whole, samples }) => {
        whole[caller] += whole[at];
        samples[caller] += samples[at];
      });
    }
    this.calls.forEach((called) => called.sort((a, b) => this.width[b] - this.width[a]
      || this.frame(a).name.localeCompare(this.frame(b).name)));
  }

  get isEmpty() {
    return !this.width[0];
  }

  get isDifference() {
    return this.sides.length > 1;
  }

  frame(at) {
    return at ? this.profile.frames[this.profile.frameOf[at - 1]] : EVERYTHING;
  }

  caller(at) {
    return at ? this.profile.callers[at - 1] : 0;
  }

  /** From everything down to a stack. */
  path(at) {
    const path = [at];
    while (path[0]) path.unshift(this.caller(path[0]));
    return path;
  }

  /** The lowest stack that still holds nearly everything. */
  get trunk() {
    let at = 0;
    for (;;) {
      const [next] = this.calls[at];
      if (next === undefined || this.width[next] < TRUNK * this.width[0] || !this.calls[next].length) return at;
      at = next;
    }
  }

  /** The figures of a stack: those of the cell, and those of the one it is compared with. */
  figures(at) {
    const [now, base] = this.sides;
    const share = (side) => (side.whole[0] ? side.whole[at] / side.whole[0] : 0);
    const figures = {
      time: now.whole[at], own: now.own[at], share: share(now), samples: now.samples[at], total: now.samples[0],
    };
    if (!base) return figures;
    const added = now.whole[at] - base.whole[at];
    const error = Math.sqrt(now.whole[at] * now.each + base.whole[at] * base.each);
    const ownAdded = now.own[at] - base.own[at];
    const ownError = Math.sqrt(now.own[at] * now.each + base.own[at] * base.each);
    const all = now.whole[0] - base.whole[0];
    return {
      ...figures, added, ownAdded, base: base.whole[at], samplesOfBase: base.samples[at],
      // The variance of a time is that of its number of samples, which is that number.
      clear: Math.abs(added) > CLEAR_Z * error, ownClear: Math.abs(ownAdded) > CLEAR_Z * ownError,
      shareOfAdded: all ? added / all : 0,
    };
  }

  /** What all functions change by themselves, whichever way. */
  get ownChanges() {
    const [now, base] = this.sides;
    this.cachedChanges ??= now.own.reduce((sum, own, at) => sum + Math.abs(own - base.own[at]), 0);
    return this.cachedChanges;
  }

  /** How much of everything is in stacks with a function that `is` what is looked for, each counted once. */
  shareOf(is) {
    const sum = (at) => (at && is(this.frame(at)) ? this.width[at]
      : this.calls[at].reduce((total, next) => total + sum(next), 0));
    return sum(0) / this.width[0];
  }
}

/** What stands for all processes together. */
const EVERYTHING = { name: 'all', short: 'all', module: '', kind: 'all' };

/** A share in words, with as many digits as it is worth: `97 %`, `4.2 %`, `0.03 %`. */
function percent(share) {
  const size = Math.abs(share * 100);
  return `${figure(share * 100, size >= 99.5 ? 3 : 2)} %`.replace('-', '−');
}

/** A time with its sign: `+1.2 µs`. */
function signed(time) {
  return `${time < 0 ? '−' : '+'}${quantity(Math.abs(time), 'ns')}`;
}

/** The colour of a kind of code, in one of four shades that is always the same for a name. */
function shadeOf(kind, name) {
  const sum = [...name].reduce((before, letter) => (before * 31 + letter.charCodeAt(0)) % 65521, 7);
  return `--hue: var(--${KINDS[kind][1]}); --shade: ${24 + 6 * (sum % 4)}%`;
}

class FlameGraph {
  constructor(profile, names) {
    this.profile = profile;
    this.names = names;
    this.boxes = [];
    [this.card, this.readout] = readers();
    this.rows = element('div', {
      class: 'rows', 'aria-hidden': 'true', pointermove: (event) => this.hover(this.boxAt(event)), click: (event) => this.click(this.boxAt(event)),
    });
    this.pathLine = element('p', { class: 'path' });
    this.legend = element('ul', { class: 'kinds flow', 'aria-label': 'Colours of the flame graph' });
    this.hint = element('p', { class: 'hint', id: names.hint });
    this.stage = element('div', {
      class: 'stage flame', tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph',
      'aria-describedby': names.hint, keydown: (event) => this.key(event),
      pointerleave: () => this.hover(null), focus: () => this.focused(),
    }, this.rows, this.card);
    new ResizeObserver(() => this.resized()).observe(this.stage);
    this.search = element('input', {
      type: 'search', 'aria-label': 'Search functions', placeholder: 'Search functions', spellcheck: 'false',
      input: () => this.look(), keydown: (event) => event.key === 'Escape' && this.leaveSearch(event),
    });
  }

  /** Everything below the controls. */
  get elements() {
    return [this.pathLine, this.stage, this.readout, this.legend, this.hint];
  }

  /** Shows a cell, or what differs between it and `base`; the place stays where it can. */
  show(cell, base, process, title) {
    const before = this.tree && !this.tree.isEmpty ? this.zoomed : null;
    this.tree = new StackTree(this.profile, cell, base, process);
    this.title = title;
    this.stage.setAttribute('aria-label', title);
    this.zoomed = before && this.tree.width[before] ? before : this.tree.trunk;
    this.cursor = null;
    this.draw();
    this.read(null);
  }

  /** Says that there is nothing to show, and why. */
  clear(title, reason) {
    this.tree = null;
    this.boxes = [];
    this.stage.setAttribute('aria-label', title);
    this.rows.style.height = '';
    this.rows.replaceChildren(element('p', { class: 'note' }, reason));
    this.pathLine.replaceChildren();
    this.legend.replaceChildren();
    this.readout.textContent = '';
    this.hint.textContent = '';
  }

  draw() {
    const { tree } = this;
    if (tree.isEmpty) {
      this.clear(this.title, 'No sample fell into a timed region of this cell.');
      return;
    }
    this.boxes = [];
    this.drawnWidth = this.stage.clientWidth;
    let narrow = 0;
    const full = tree.width[this.zoomed];
    const place = (at, left, row) => {
      const width = tree.width[at] / full;
      this.boxes.push({ at, left, width, row });
      let next = left;
      for (const called of tree.calls[at]) {
        const share = tree.width[called] / full;
        if (share >= NARROWEST) place(called, next, row + 1);
        else narrow++;
        next += share;
      }
    };
    place(this.zoomed, 0, 0);
    this.deepest = this.boxes.reduce((most, { row }) => Math.max(most, row), 0);
    this.rows.style.height = `${(this.deepest + 1) * ROW}rem`;
    this.rows.classList.toggle('difference', tree.isDifference);
    this.boxes.forEach((box) => { box.element = this.boxOf(box); });
    this.rows.replaceChildren(...this.boxes.map((box) => box.element));
    this.crumbs();
    this.explain();
    const [sum, samples] = [tree.figures(0), (count) => `${whole(count)} ${count === 1 ? 'sample' : 'samples'}`];
    this.hint.textContent = (tree.isDifference
      ? `${samples(sum.samples)} now, ${samples(sum.samplesOfBase)} before; a box is as wide as the larger of its two times. `
      : `${samples(sum.samples)}; a box is as wide as its ${this.what}. `)
      + (narrow ? `${whole(narrow)} narrower ones are not drawn. ` : '') + FLAME_HINT;
    this.light();
    this.look();
  }

  boxOf({ at, left, width, row }) {
    const { tree } = this;
    const frame = tree.frame(at);
    const place = `left: ${(100 * left).toFixed(3)}%; width: ${(100 * width).toFixed(3)}%; top: ${row * ROW}rem`;
    const [tone, hue] = tree.isDifference ? [this.toneOf(at), ''] : [`kind-${frame.kind} shaded`, shadeOf(frame.kind, frame.name)];
    const made = element('div', { class: `box ${tone}`, style: `${place}; ${hue}` });
    // What is too narrow for letters needs none.
    if (width * this.stage.clientWidth >= LETTERS_FROM) made.append(element('span', {}, this.labelOf(at, frame, width)));
    made.flameAt = at;
    return made;
  }

  /** Its name, and in a difference how much it grew. */
  labelOf(at, frame, width) {
    if (!this.tree.isDifference) return width > 0.1 && at ? `${frame.short} ${percent(this.tree.figures(at).share)}` : frame.short;
    const { added, clear } = this.tree.figures(at);
    return clear ? `${added < 0 ? '−' : '+'} ${frame.short} ${signed(added)}` : frame.short;
  }

  /** What a difference looks like. */
  toneOf(at) {
    const { added, clear, ownAdded, ownClear } = this.tree.figures(at);
    if (!clear && !ownClear) return 'same';
    const share = ownClear ? Math.abs(ownAdded) / this.tree.ownChanges : 0;
    const step = CHANGE_STEPS.filter((least) => share >= least).length;
    return `${(ownClear ? ownAdded : added) > 0 ? 'grew' : 'shrank'} lead-${step}`;
  }

  /** What is above the stack that fills the width, each a button that leads back to it. */
  crumbs() {
    const path = this.tree.path(this.zoomed);
    const [first, last] = PATH_ENDS;
    const items = path.map((at, index) => {
      if (index === path.length - 1) return element('strong', {}, this.tree.frame(at).short);
      return element('button', { type: 'button', class: 'plain', click: () => this.zoom(at) }, this.tree.frame(at).short);
    });
    const hidden = items.length - first - last;
    if (hidden > 1) items.splice(first, hidden, element('span', {}, `${hidden} callers`));
    this.pathLine.replaceChildren(...items.flatMap((item, index) => (index ? [' › ', item] : [item])));
  }

  /** The legend: of kinds of code, or of what grew and shrank. */
  explain() {
    const key = (classes, text, style = '') => element('li', {},
      element('span', { class: `key ${classes}`, style, 'aria-hidden': 'true' }), text);
    const kinds = () => {
      const present = new Set(this.boxes.map(({ at }) => this.tree.frame(at).kind));
      return Object.entries(KINDS).filter(([kind]) => present.has(kind))
        .map(([kind, [text, hue]]) => key('shaded', text, `--hue: var(--${hue}); --shade: 30%`));
    };
    const steps = () => [
      key('grew lead-3', '+ takes more time'), key('shrank lead-3', '− takes less'),
      key('grew lead-0', 'the paler, the less of it in the function itself'),
      key('same', 'no difference beyond the noise of sampling'),
    ];
    this.legend.replaceChildren(...(this.tree.isDifference ? steps() : kinds()));
  }

  /** A wider box has letters that a narrower one has not. */
  resized() {
    if (!this.tree || this.tree.isEmpty || this.drawnWidth === this.stage.clientWidth) return;
    this.draw();
  }

  boxAt(event) {
    return event.target.closest('.box')?.flameAt ?? null;
  }

  click(at) {
    if (at === null) return;
    this.zoom(at === this.zoomed ? this.tree.caller(at) : at);
    this.point(this.zoomed);
  }

  zoom(at) {
    this.zoomed = at;
    this.draw();
  }

  /** The pointer reads out what lies under it; the cursor of the keyboard stays where it is. */
  hover(at) {
    if (!this.tree) return;
    this.read(at ?? this.cursor);
    this.card.hidden = at === null;
    if (at === null) return;
    const box = this.boxes.find((candidate) => candidate.at === at);
    const frame = this.tree.frame(at);
    this.card.replaceChildren(...cardOf(frame.name, this.pairs(at), frame.module));
    const across = (box.left + box.width / 2) * this.stage.clientWidth;
    const left = Math.max(0, Math.min(this.stage.clientWidth - this.card.offsetWidth, across - this.card.offsetWidth / 2));
    const below = box.element.offsetTop + box.element.offsetHeight + 6;
    const above = box.element.offsetTop - this.card.offsetHeight - 6;
    const top = below + this.card.offsetHeight > this.stage.clientHeight && above >= 0 ? above : below;
    this.card.style.translate = `${Math.round(left)}px ${Math.round(top)}px`;
  }

  /** What boxes are as wide as. */
  get what() {
    return this.profile.wordsOf(this.tree.cells[0].view)[0];
  }

  /** The figures of a stack, as pairs of words and figures. */
  pairs(at) {
    const figures = this.tree.figures(at);
    const time = (value) => quantity(value, 'ns');
    if (!this.tree.isDifference) {
      return [
        ['share', percent(figures.share)],
        [`${this.what} an operation`, time(figures.time)],
        ['of it in itself', time(figures.own)],
        ['samples', `${whole(figures.samples)} of ${whole(figures.total)}`],
      ];
    }
    return [
      ['before', time(figures.base)],
      ['now', time(figures.time)],
      ['difference', `${signed(figures.added)}${figures.clear ? '' : ', could be noise'}`],
      ['of it in itself', signed(figures.ownAdded)],
      ['share of the whole difference', percent(figures.shareOfAdded)],
      ['samples', `${whole(figures.samplesOfBase)} and ${whole(figures.samples)}`],
    ];
  }

  /** The line below the graph. */
  read(at) {
    if (at === null) {
      this.readout.textContent = '';
      return;
    }
    const frame = this.tree.frame(at);
    const name = frame.module ? `${frame.name} (${frame.module})` : frame.name;
    this.readout.textContent = lineOf(name, this.pairs(at));
  }

  point(at) {
    this.cursor = at;
    this.card.hidden = true;
    this.light();
    this.read(at);
  }

  light() {
    this.boxes.forEach(({ at, element: box }) => box.classList.toggle('cursor', at === this.cursor));
  }

  focused() {
    if (this.tree && this.cursor === null && this.stage.matches(':focus-visible')) this.point(this.zoomed);
  }

  /** The neighbour of the cursor in its row, or the widest below it, or the caller above. */
  step(along, down) {
    const here = this.boxes.find(({ at }) => at === this.cursor) ?? this.boxes[0];
    if (down > 0) {
      const below = this.boxes.filter(({ at }) => this.tree.caller(at) === here.at && at !== here.at);
      this.point(below[0]?.at ?? here.at);
      return;
    }
    if (down < 0) {
      this.point(here.row ? this.tree.caller(here.at) : here.at);
      return;
    }
    const row = this.boxes.filter((box) => box.row === here.row).sort((a, b) => a.left - b.left);
    this.point(row[Math.max(0, Math.min(row.length - 1, row.indexOf(here) + along))].at);
  }

  /** Out by one caller; from the trunk straight to everything. */
  out() {
    if (this.zoomed === 0) return;
    const { trunk } = this.tree;
    const path = this.tree.path(trunk);
    this.zoom(path.includes(this.zoomed) ? 0 : this.tree.caller(this.zoomed));
    this.point(this.zoomed);
  }

  key(event) {
    if (!this.tree) return;
    onKey(event, {
      ArrowLeft: () => this.step(-1, 0),
      ArrowRight: () => this.step(1, 0),
      ArrowUp: () => this.step(0, -1),
      ArrowDown: () => this.step(0, 1),
      Home: () => this.point(this.zoomed),
      Enter: () => {
        this.zoom(this.cursor ?? this.zoomed);
        this.point(this.zoomed);
      },
      Escape: () => (this.search.value ? this.leaveSearch() : this.out()),
      '/': () => this.search.focus(),
    });
  }

  leaveSearch(event) {
    event?.preventDefault();
    this.search.value = '';
    this.look();
    this.stage.focus();
  }

  /** Sets off the functions that are searched for, and says how much of everything they hold. */
  look() {
    if (!this.tree || this.tree.isEmpty) return;
    const wanted = this.search.value.trim().toLowerCase();
    const is = (frame) => Boolean(wanted) && `${frame.name} ${frame.module}`.toLowerCase().includes(wanted);
    this.boxes.forEach(({ at, element: box }) => box.classList.toggle('match', Boolean(at) && is(this.tree.frame(at))));
    this.rows.classList.toggle('searched', Boolean(wanted));
    if (wanted) this.readout.textContent = `“${this.search.value.trim()}”: ${percent(this.tree.shareOf(is))} of the width.`;
    else if (document.activeElement === this.search) this.readout.textContent = '';
  }
}

const FLAME_HINT = 'A click or Enter lets a function fill the width, Escape goes back. Keys: arrows walk from caller to called and '
  + 'along a row, / searches.';

