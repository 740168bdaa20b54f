//! The profile of a workload: what is shown of its cells, and what is chosen from.

/** What the kinds of code are called in a legend, and their colours. */
const KINDS = {
  all: ['all processes', 'series-6'], process: ['process', 'series-6'], kernel: ['kernel', 'series-1'],
  'kernel-module': ['kernel module', 'series-4'], user: ['user code', 'series-2'], vdso: ['vDSO', 'series-5'],
  bpf: ['BPF', 'series-3'], jit: ['made at run time', 'series-7'], wait: ['kind of wait', 'series-0'],
  line: ['line of source', 'series-0'], waker: ['who ends the wait', 'series-0'], unknown: ['no symbol', 'muted'],
};

/** The profiled cells of one workload, unpacked. */
class ProfileData {
  constructor(data) {
    Object.assign(this, data);
    this.frames = data.frames.map(([name, module, kind, short]) =>
      ({ name, module, kind: data.kinds[kind], short: short ?? name }));
    // Entry 0 of a caller is none; a stack's own is one more than its index.
    const count = data.stacks.length / 2;
    this.callers = Uint32Array.from({ length: count }, (_, index) => data.stacks[2 * index]);
    this.frameOf = Uint32Array.from({ length: count }, (_, index) => data.stacks[2 * index + 1]);
    this.cells = data.cells.map(([view, run, subject, position, each, samples]) =>
      ({ view, run, subject, position, each, samples }));
    // The frame of the process that a stack belongs to.
    this.roots = new Uint32Array(count);
    this.callers.forEach((caller, index) => { this.roots[index] = caller ? this.roots[caller - 1] : this.frameOf[index]; });
    // What a stack's time is counted as: its innermost function, or of a wait its kind.
    this.counted = new Uint32Array(count);
    const isWait = (frame) => this.frames[frame].kind === 'wait';
    this.callers.forEach((caller, index) => {
      const above = caller ? this.counted[caller - 1] : 0;
      this.counted[index] = caller && isWait(above) ? above : this.frameOf[index];
    });
  }

  /** The cells of a selection along the axis. */
  along({ view, run, subject }) {
    return this.cells.filter((cell) => cell.view === view && cell.run === run && cell.subject === subject)
      .sort((a, b) => a.position - b.position);
  }

  /** The processes that have samples in these cells, by their frames. */
  processes(cells) {
    return [...new Set(cells.flatMap(({ samples }) => samples.filter((_, index) => index % 2 === 0).map((stack) => this.roots[stack])))];
  }

  /** What the cells of a view are the time of, and what it is divided by. */
  wordsOf(view) {
    return this.waits.includes(view) ? ['waiting time', 'kind'] : ['CPU time', 'function'];
  }

  /** The time of an operation in each function itself, by frame. */
  ownTimes(cell, process) {
    const times = new Map();
    for (let at = 0; at < cell.samples.length; at += 2) {
      const stack = cell.samples[at];
      if (process !== null && this.roots[stack] !== process) continue;
      const frame = this.counted[stack];
      times.set(frame, (times.get(frame) ?? 0) + cell.samples[at + 1] * cell.each);
    }
    return times;
  }
}

/** Bands and flame graph of a workload, with their controls. */
class Profile {
  constructor(figure, data) {
    this.figure = figure;
    this.data = data;
    this.title = (what) => `${what} of ${data.subjects[this.subject]}, ${data.workload}`;
    const id = figure.dataset.profile;
    this.bands = new Bands(data, `hint-bands-${id}`);
    this.flame = new FlameGraph(data, { hint: `hint-flame-${id}` });
    this.caption = element('p', { class: 'caption' });
    this.flameTitle = element('h4', {}, 'Flame graph');
    [this.view, this.run, this.subject, this.process] = [...data.first, null];
    const choose = (key) => (value) => {
      this[key] = value;
      this.refresh(key);
    };
    this.choosers = {
      view: new Chooser('Metric', choose('view')), subject: new Chooser('Subject', choose('subject')),
      run: new Chooser('Run', choose('run')), process: new Chooser('Process', choose('process')),
      position: new Chooser(data.axis, choose('position')), base: new Chooser('Compared with', choose('base')),
    };
    const { view, subject, run, process, position, base } = this.choosers;
    const scale = (text, byShare) => {
      const button = switcher(text, byShare === this.bands.byShare, () => {
        this.bands.setByShare(byShare);
        [...button.parentElement.children].forEach((other) => other.setAttribute('aria-pressed', other === button));
      });
      return button;
    };
    figure.append(
      element('div', { class: 'controls flow' }, ...[subject, view, run, process].map((chooser) => chooser.element),
        element('div', { class: 'buttons', role: 'group', 'aria-label': 'Height of the bands' }, scale('Time', false), scale('Share', true))),
      this.caption, ...this.bands.elements,
    );
    figure.parentElement.querySelector('.flame-graph').append(
      this.flameTitle,
      element('div', { class: 'controls flow' }, position.element, base.element,
        element('label', { class: 'chooser search' }, element('span', {}, 'Search'), this.flame.search)),
      ...this.flame.elements,
    );
    this.refresh();
  }

  /** Shows what is chosen; what the last choice has left no cells for is chosen anew. */
  refresh(changed) {
    const { data, choosers } = this;
    const has = (key) => (value) => data.cells.some((cell) => cell[key] === value
      && (key === 'view' || cell.view === this.view) && (key === 'subject' || cell.subject === this.subject));
    const numbered = (names, key) => names.map((name, index) => [name, index]).filter(([, index]) => has(key)(index));
    const keep = (key, entries) => {
      if (!entries.some(([, value]) => value === this[key])) this[key] = entries[0]?.[1] ?? null;
      choosers[key].offer(entries, this[key]);
    };
    keep('subject', data.subjects.map((name, index) => [name, index]).filter(([, index]) => data.cells.some((cell) => cell.subject === index)));
    keep('view', numbered(data.views, 'view'));
    keep('run', numbered(data.runs, 'run'));
    const cells = data.along(this);
    const processes = data.processes(cells);
    this.isSplit = processes.length > 1;
    keep('process', [...(processes.length === 1 ? [] : [['all', null]]), ...processes.map((frame) => [data.frames[frame].name, frame])]);
    const grew = this.tableOf(`${this.subject}-${this.view}-${this.run}`);
    if (changed !== 'position' && changed !== 'base' && changed !== 'process') this.position = Number(grew?.dataset.to ?? cells.at(-1)?.position);
    keep('position', [...cells].reverse().map(({ position }) => [whole(position), position]));
    this.cell = cells.find(({ position }) => position === this.position);
    if (changed !== 'base') this.usualBase(cells, Number(grew?.dataset.from));
    keep('base', [['nothing', null], ...this.bases(cells)]);
    if (changed !== 'position' && changed !== 'base') {
      const [time, part] = data.wordsOf(this.view);
      this.bands.show(cells, this.process, this.title(`${time} of an operation by ${part}`));
      this.caption.replaceChildren(element('strong', {}, data.subjects[this.subject]),
        ['', ` · ${time} an operation, by ${part}`, ...this.chosen].join(''));
    }
    this.figure.parentElement.querySelectorAll('[data-grew]').forEach((part) => {
      part.hidden = part !== grew;
    });
    this.drawFlame();
  }

  /** The cells that another one can be compared with: along the axis, between runs, between subjects. */
  bases(cells) {
    const { data } = this;
    const named = (all) => all.map((cell) => [this.nameOf(cell), cell]);
    const at = named(cells.filter((cell) => cell !== this.cell));
    const here = data.cells.filter((cell) => cell !== this.cell && cell.view === this.view && cell.position === this.position);
    const runs = here.filter((cell) => cell.subject === this.subject).map((cell) => [data.brief[cell.run], cell]);
    const subjects = named(here.filter((cell) => cell.subject !== this.subject && cell.run === this.run));
    return [...runs, ...at, ...subjects];
  }

  /** The table of what grew of one subject in one view and run. */
  tableOf(key) {
    return this.figure.parentElement.querySelector(`[data-grew="${key}"]`);
  }

  /** At first a cell is compared with the same cell of another run, or with where its table begins. */
  usualBase(cells, from) {
    const sibling = this.data.cells.find((cell) => cell.run < this.run && cell.subject === this.subject
      && cell.view === this.view && cell.position === this.position);
    const first = cells.find(({ position }) => position === from) ?? cells[0];
    const end = first !== this.cell ? first : null;
    this.base = sibling ?? end ?? null;
  }

  /** The further choices after the subject, where there are any. */
  get chosen() {
    const { data } = this;
    return [
      ...(data.views.length > 1 ? [` · ${data.views[this.view]}`] : []),
      ...(data.runs.length > 1 ? [` · ${data.brief[this.run]}`] : []),
      ...(!this.isSplit || this.process === null ? [] : [` · ${data.frames[this.process].name}`]),
    ];
  }

  /** A cell by its subject and position, and by its run where that is another than this one's. */
  nameOf({ subject, position, run }) {
    const of = run === this.run ? '' : ` in ${this.data.brief[run]}`;
    return `${this.data.subjects[subject]} at ${whole(position)}${of}`;
  }

  drawFlame() {
    const { cell, base } = this;
    const name = cell ? this.nameOf(cell) : this.data.subjects[this.subject];
    const title = base ? `Difference flame graph: ${name}, compared with ${this.nameOf(base)}` : `Flame graph: ${name}`;
    this.flameTitle.textContent = title;
    if (cell) this.flame.show(cell, base, this.process, title);
    else this.flame.clear(title, 'There is no profile of it.');
  }
}

FILLS.profile = (figure) => {
  const data = JSON.parse(document.getElementById(`profile-data-${figure.dataset.profile}`).textContent);
  figure.profile = new Profile(figure, new ProfileData(data));
};
fillOpen();
