//! Builds what needs a script: the theme button, and around each plot its controls and legend.

/** An element with attributes and children; functions become listeners. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A drop-down list with its label. */
class Chooser {
  constructor(label, chosen) {
    this.values = [];
    this.select = element('select', { change: () => chosen(this.values[this.select.value]) });
    this.element = element('label', { class: 'chooser' }, element('span', {}, label), this.select);
  }

  /** Offers these pairs of a name and a value; gone where there is nothing to choose. */
  offer(entries, present) {
    this.values = entries.map(([, value]) => value);
    this.select.replaceChildren(...entries.map(([name, value], index) =>
      element('option', { value: index, ...(value === present ? { selected: '' } : {}) }, name)));
    this.element.hidden = entries.length < 2;
    return this.element;
  }
}

/** A button that is on or off, and says so. */
function switcher(text, on, changed, attributes = {}) {
  const button = element('button', { type: 'button', 'aria-pressed': on, ...attributes }, text);
  button.addEventListener('click', (event) => {
    const isOn = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', isOn);
    changed(isOn, event.shiftKey);
  });
  return button;
}

/** The formats that a plot is saved in, each with what makes a URL of one that is drawn. */
const SAVED = {
  SVG: (plot) => {
    const context = new SvgContext(plot);
    new Frame(plot, context).draw();
    return `data:image/svg+xml,${encodeURIComponent(context.text)}`;
  },
  PNG: (plot) => plot.canvas.toDataURL('image/png'),
};

/** Hands the plot to the reader as a file, as it is seen. */
function save(plot, format) {
  plot.draw();
  const words = [plot.data.workload, plot.shownView.metric, plot.shownView.parameters].filter(Boolean);
  const name = words.join('-').replace(/[^\w.-]+/g, '-');
  element('a', { href: SAVED[format](plot), download: `${name}.${format.toLowerCase()}` }).click();
}

/** Metric and parameters, the axes, and the view. */
function controls(plot, choose) {
  const unique = (key) => [...new Set(plot.data.views.map((view) => view[key]))];
  const wanted = { metric: plot.shownView.metric, parameters: plot.shownView.parameters };
  const find = (key) => (name) => {
    wanted[key] = name;
    const same = (view, of) => view[of] === wanted[of];
    const exact = plot.data.views.findIndex((v) => same(v, 'metric') && same(v, 'parameters'));
    choose(exact >= 0 ? exact : plot.data.views.findIndex((view) => same(view, key)));
  };
  const chooser = (key, index) => new Chooser(plot.data.choosers[index], find(key))
    .offer(unique(key).map((name) => [name, name]), wanted[key]);
  const axis = (name, text) => switcher(text, plot.log[name], (on) => plot.setLog(name, on));
  const middle = () => [plot.box.left + plot.box.width / 2, plot.box.top + plot.box.height / 2];
  const press = (text, label, act) =>
    element('button', { type: 'button', 'aria-label': label, title: label, click: act }, text);
  return element('div', { class: 'controls flow' },
    ...['metric', 'parameters'].map(chooser),
    element('div', { class: 'buttons', role: 'group', 'aria-label': 'Axes' },
      ...(plot.data.percentiles ? [] : [axis('x', 'log across')]), axis('y', 'log up')),
    element('div', { class: 'buttons', role: 'group', 'aria-label': 'View' },
      press('−', 'Zoom out', () => plot.zoom(1 / 0.7, ...middle())),
      press('+', 'Zoom in', () => plot.zoom(0.7, ...middle())),
      ...(plot.data.percentiles || plot.data.over_time ? []
        : [press('Without tails', 'Zoom to what lies below the 99th percentile', () => plot.withoutTails())]),
      press('Reset', 'Reset the view', () => plot.reset())),
    element('div', { class: 'buttons', role: 'group', 'aria-label': 'Save' },
      ...Object.keys(SAVED).map((format) =>
        press(format, `Save the plot as it is seen, as ${format}`, () => save(plot, format)))),
    // For one subject, whichever it is.
    ...(plot.data.trajectory && plot.data.rounds > 1
      ? [switcher('Colour by round', false, (on) => plot.setByRound(on), { 'data-by-round': '' })] : []));
}

/** The colours of the rounds, while samples are coloured by them. */
function rounds(plot) {
  const most = Math.max(...plot.shown.map((series) => series.samples.rounds), 0);
  return Array.from({ length: plot.byRound ? most : 0 }, (_, index) => {
    const colour = `color: var(--series-${index % COLOURS})`;
    const dot = element('span', { class: 'dot', style: colour, 'aria-hidden': 'true' });
    return element('li', {}, dot, `round ${index + 1}`);
  });
}

/** A small drawing that stands for something in the plot. */
function sign(name, style, drawing) {
  const holder = element('span', { class: name, style, 'aria-hidden': 'true' });
  holder.innerHTML = `<svg viewBox="-12 -6 24 12" width="24" height="12" fill="none" stroke="currentColor">${drawing}</svg>`;
  return holder;
}

/** A line with its dashes, and on it a marker that is filled where the line is solid. */
function dashed(number, marker) {
  const fill = number === 0 ? 'currentColor' : 'var(--paper)';
  return `<path d="M-12 0H12" stroke-width="1.6" stroke-dasharray="${dashesOf(number).join(' ')}"/><g fill="${fill}">${marker}</g>`;
}

/** A line with its marker, as the plot draws it. */
function swatch({ colour, shape }, number) {
  const marker = `<path d="${SHAPES[shape]}" transform="scale(4.2)" stroke-width=".25"/>`;
  return sign('swatch', `color: var(--series-${colour})`, dashed(number, marker));
}

/** A colour of the style sheet, as pale as a run is. */
function tinted(plot, name, run) {
  return `color-mix(in srgb, var(--paper) ${100 * plot.paleness(run)}%, var(${name}))`;
}

/** A run: the line and the marker that its series have, whatever their colours, on its samples. */
function swatchOfRun(plot, run) {
  const cloud = `<path d="M-12-5H12V5H-12Z" fill="${tinted(plot, '--muted', run)}" fill-opacity=".45" stroke="none"/>`;
  return sign('swatch', 'color: var(--ink)', cloud + dashed(plot.dashOf(run), '<circle r="3.6" stroke-width="1"/>'));
}

/** What a mark looks like in the plot. */
function signOf(plot, mark) {
  if (mark.kind === 'step') {
    const d = mark.rises ? 'M-8 4H0V-4H8' : 'M-8-4H0V4H8';
    return sign('sign', '', `<path d="${d}" stroke-width="2"/>`);
  }
  if (mark.kind === 'mode') {
    const { colour } = plot.lookOf(plot.seriesOf(mark)[0]);
    const dash = MODE_DASHES[mark.rank % MODE_DASHES.length].join(' ');
    return sign('sign', `color: ${tinted(plot, `--series-${colour}`, mark.run)}`,
      `<path d="M-12 0H12" stroke-width="2.4" stroke-dasharray="${dash}"/>`);
  }
  if (mark.kind === 'unfinished') {
    return sign('sign', '', '<path d="M-4-4L4 4M-4 4L4-4" stroke-width="1.8"/>');
  }
  const half = mark.kind === 'half' ? '<path d="M-5 0A5 5 0 0 0 5 0Z" fill="currentColor" stroke="none"/>' : '';
  return sign('sign', '', `<circle r="5" stroke-width="1.8"/>${half}`);
}

/** One button per subject, and per run where there are several: each isolates its series. */
function legend(plot) {
  const subject = (label, index) => {
    const button = switcher(label, false, (_, joins) => plot.isolate('subjects', label, joins), { 'data-subject': label });
    button.prepend(swatch(plot.data.looks[index], Math.min(...plot.data.lines.map((line) => line.dash))));
    button.addEventListener('pointerenter', () => plot.light(label));
    button.addEventListener('focus', () => button.matches(':focus-visible') && plot.light(label));
    for (const name of ['pointerleave', 'blur']) button.addEventListener(name, () => plot.light(null));
    return button;
  };
  const run = (name, index) => {
    const button = switcher(name, false, (_, joins) => plot.isolate('runs', index, joins), { 'data-run': index });
    button.prepend(swatchOfRun(plot, index));
    const kernel = plot.data.kernels[index];
    if (kernel) button.append(element('span', { class: 'kernel' }, ` · ${kernel}`));
    return button;
  };
  const showAll = (event) => {
    // It goes, and may have the focus.
    event.target.parentElement.querySelector('button:not([hidden])').focus();
    plot.showAll();
  };
  const all = element('button', { type: 'button', class: 'plain', 'data-all': '', click: showAll }, 'Show all');
  const onEscape = (event) => event.key === 'Escape' && plot.showAll();
  const made = element('div', { class: 'legend flow', role: 'group', 'aria-label': 'Isolate a series', keydown: onEscape },
    ...plot.data.subjects.map(subject), all);
  if (plot.data.runs.length < 2) return [made];
  const runs = element('div', { class: 'legend flow', role: 'group', 'aria-label': 'Isolate a run', keydown: onEscape },
    ...plot.data.runs.map(run));
  return [made, runs];
}

/** Shows in the legend what is isolated, of the subjects that the view has. */
function pressed(figure, plot) {
  const { subjects, runs } = plot.isolated;
  const press = (selector, is) => figure.querySelectorAll(selector).forEach((button) =>
    button.setAttribute('aria-pressed', is(button)));
  press('[data-subject]', (button) => subjects.has(button.dataset.subject));
  figure.querySelectorAll('[data-subject]').forEach((button) => {
    button.hidden = !plot.series.some((series) => series.label === button.dataset.subject);
  });
  press('[data-run]', (button) => runs.has(Number(button.dataset.run)));
  figure.querySelector('[data-all]').hidden = !plot.hasIsolated;
}

/** What is shown, in a sentence for ears. */
function isolation(plot) {
  if (!plot.hasIsolated) return 'All series are shown.';
  const names = plot.shown.map((series) => plot.nameOf(series));
  return `Only ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} shown.`;
}

/** What the read-out says of a percentile. */
function wordsOfPercentile(at, { count, max }, unit) {
  return [
    ['at most', quantity(at.median, unit)],
    ['max', quantity(max, unit)],
    ['operations', whole(count)],
  ];
}

/** What the read-out says of a point, as pairs of words and figures. */
function words(at, unit) {
  const say = (value) => quantity(value, unit);
  return [
    ...(at.rank ? [['rank', at.rank]] : []),
    ['median', say(at.median)],
    ['95 % CI', at.samples > 1 ? `${say(at.low)}–${say(at.high)}` : 'none: a single figure'],
    ['min', say(at.min)],
    ['p99', say(at.p99)],
    ['max', say(at.max)],
    ['samples', `${whole(at.samples)} in ${at.rounds} ${at.rounds === 1 ? 'round' : 'rounds'}`],
  ];
}

/** A mark in a sentence, with its run where there are several. */
function sentenceOf(plot, mark) {
  const several = plot.data.runs.length > 1;
  return several ? `${mark.text}, ${plot.data.brief[mark.run]}` : mark.text;
}

/** The marks of the plot, as a list below it. */
function listed(plot) {
  return plot.marks.map((mark) => {
    const rest = mark.pairs.map((pair) => ` · ${pair.join(' ').trim()}`);
    const more = element('span', { class: 'mark-more' }, ...rest);
    return element('li', {}, signOf(plot, mark), sentenceOf(plot, mark), more);
  });
}

/** What is read out of a mark; on a mode's curve also the figure at that position. */
function wordsOf(mark, corner, unit) {
  if (!mark.curve) return mark.pairs;
  const [x, y] = mark.curve[corner];
  return [[`median near ${whole(x)}`, quantity(y, unit)], ...mark.pairs];
}

/** A title with pairs of words and figures, in a line. */
function lineOf(title, pairs) {
  return `${title}: ${pairs.map((pair) => pair.join(' ').trim()).join(', ')}`;
}

/** The same as the content of a card, with the module that a function is in. */
function cardOf(title, pairs, module) {
  const figures = pairs.flatMap(([word, value]) => [element('dt', {}, word), element('dd', {}, value)]);
  const below = module ? [element('div', { class: 'module' }, module)] : [];
  return [element('strong', {}, title), ...below, element('dl', {}, ...figures)];
}

/** The figures that are pointed at: a card next to them, and a line below the drawing. */
function readers() {
  const card = element('div', { class: 'card', 'aria-hidden': 'true', hidden: '' });
  return [card, element('p', { class: 'readout', role: 'status', 'aria-live': 'polite' })];
}

/** Puts a card next to a pixel of a drawing, on the wider side. */
function place(card, [across, down], width, height) {
  const left = across > width / 2 ? across - card.offsetWidth - 16 : across + 16;
  const top = Math.min(Math.max(8, down - card.offsetHeight / 2), height - card.offsetHeight - 8);
  card.style.translate = `${Math.round(Math.max(0, left))}px ${Math.round(top)}px`;
}

/** The line below the plot and the card next to the point. */
function readOut(plot, series, at, readout, card) {
  const mark = plot.cursor?.mark;
  card.hidden = !at && !mark;
  if (card.hidden) {
    readout.textContent = '';
    return;
  }
  const title = at ? plot.titleOf(series, at) : sentenceOf(plot, mark);
  const { unit } = plot.shownView;
  const ofPoint = () => {
    // The title names the only figure of an interval.
    if (plot.data.over_time) return [['', quantity(at.median, unit)]];
    return plot.data.percentiles ? wordsOfPercentile(at, series, unit) : words(at, unit);
  };
  const pairs = at ? ofPoint() : wordsOf(mark, plot.cursor.corner, unit);
  readout.textContent = lineOf(title, pairs);
  card.replaceChildren(...cardOf(title, pairs));
  card.hidden = !plot.cursorPixel;
  if (plot.cursorPixel) place(card, plot.cursorPixel, plot.width, plot.height);
}

/** How many samples are seen, and how many lie elsewhere. */
function tally(plot) {
  if (plot.data.percentiles) {
    const most = Math.max(0, ...plot.shown.map((series) => series.count));
    return `Each line is every single one of up to ${whole(most)} operations.`;
  }
  if (plot.data.over_time) return 'Each point is an interval, at its end.';
  const sum = (key) => plot.drawn.reduce((total, series) => total + series[key], 0);
  const [inside, outside] = [sum('samples'), sum('outside')];
  const rest = outside ? `; ${whole(outside)} outside the view` : '';
  return `${whole(inside)} samples drawn behind the medians${rest}.`;
}

const HINT = 'Drag to zoom, shift-drag to pan, double-click to reset; the wheel zooms once the plot '
  + 'has the focus. Keys: arrows walk from point to point, shift and arrows pan, plus and minus '
  + 'zoom, Escape resets. A click on a name isolates its series, a second click or Escape shows all, '
  + 'shift-click adds another.';
const HINT_MARKS = ' M walks from mark to mark.';

/** Puts items into a list, if they are new: who selects or hears it is not disturbed by each frame. */
function relist(list, items) {
  const text = (all) => [...all].map((one) => one.textContent).join();
  if (text(items) !== text(list.children)) list.replaceChildren(...items);
  list.hidden = !items.length;
}

/** Fills a figure of the page with its plot. */
function fill(figure) {
  const number = figure.dataset.plot;
  const data = JSON.parse(document.getElementById(`plot-data-${number}`).textContent);
  if (!data.views.length) {
    figure.append(element('p', { class: 'note' }, 'Nothing was measured, so there is nothing to draw.'));
    return;
  }
  const [card, readout] = readers();
  const announced = element('p', { class: 'unseen', role: 'status' });
  const count = element('span', { class: 'count' });
  const marked = data.views.some((view) => view.marks.length) ? HINT_MARKS : '';
  const hint = element('p', { class: 'hint', id: `hint-${number}` }, count, ` ${HINT}${marked}`);
  const stage = element('div', {
    class: 'stage', tabindex: 0, role: 'application', 'aria-roledescription': 'interactive plot',
    'aria-label': `Plot of ${data.workload} over ${data.axis}. ${data.over_time ? 'Medians of its points' : 'The same figures'} stand in the table below.`,
    'aria-describedby': hint.id,
  }, element('canvas', { role: 'img', 'aria-label': figure.getAttribute('aria-label') }), card);
  figure.append(stage);
  const marks = element('ul', { class: 'marks', 'aria-label': 'Marks in the plot' });
  const ofRounds = element('ul', { class: 'rounds flow', 'aria-label': 'Colours of the rounds' });
  const listeners = {
    drawn: (plot) => {
      count.textContent = tally(plot);
      relist(marks, listed(plot));
      relist(ofRounds, rounds(plot));
      figure.querySelectorAll('[data-by-round]').forEach((button) =>
        button.setAttribute('aria-pressed', plot.byRound));
      pressed(figure, plot);
    },
    isolated: (plot) => {
      announced.textContent = isolation(plot);
    },
    reading: (plot, series, at) => readOut(plot, series, at, readout, card),
  };
  const plot = new Plot(figure, stage, data, listeners);
  figure.plot = plot;
  const tables = new Tables(figure.parentElement, plot);
  const choose = (index) => {
    plot.show(index);
    plot.point(null);
    tables.show();
  };
  stage.before(controls(plot, choose));
  figure.append(readout, ...legend(plot), ofRounds, marks, hint, announced);
}

/** The tables under a plot: the one of the view that is drawn, or all. */
class Tables {
  constructor(section, plot) {
    this.views = [...section.querySelectorAll(':scope > .view')];
    this.plot = plot;
    this.all = false;
    if (this.views.length > 1) {
      this.button = switcher(`Show all ${this.views.length} tables`, false, (on) => {
        this.all = on;
        this.show();
      }, { class: 'all-tables' });
      this.views[0].before(this.button);
    }
    this.show();
  }

  show() {
    this.views.forEach((view) => {
      view.hidden = !this.all && Number(view.dataset.view) !== this.plot.viewIndex;
    });
  }
}

/** Redraws every plot, after whatever changes its colours. */
function redraw() {
  document.querySelectorAll('figure.plot').forEach((figure) => figure.plot?.draw());
}

/** The button that turns light to dark and back; until it is used, the system decides. */
function themeButton() {
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const button = element('button', { type: 'button', class: 'theme' });
  const showTheme = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    redraw();
  };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    showTheme();
  });
  system.addEventListener('change', showTheme);
  // Paper is white: plots are drawn in the light colours for it, then as before.
  let before;
  let folded = [];
  addEventListener('beforeprint', () => {
    before = root.dataset.theme;
    root.dataset.theme = 'light';
    folded = [...document.querySelectorAll('details:not([open])')];
    folded.forEach((details) => { details.open = true; });
    fillOpen();
    redraw();
  });
  addEventListener('afterprint', () => {
    folded.forEach((details) => { details.open = false; });
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    redraw();
  });
  document.querySelector('.masthead').append(button);
  showTheme();
}

/** What fills the figures of a class. */
const FILLS = { plot: fill };

/** Fills the figures of open sections: a plot that is folded away has no width yet. */
function fillOpen() {
  Object.entries(FILLS).forEach(([name, fills]) => {
    document.querySelectorAll(`figure.${name}:not([data-filled])`).forEach((figure) => {
      if (figure.closest('details:not([open])')) return;
      figure.dataset.filled = '';
      fills(figure);
    });
  });
}

/** Opens the section that the address names: not every browser does. */
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const section = target?.closest('details');
  if (!section || section.open) return;
  section.open = true;
  target.scrollIntoView();
}

themeButton();
document.querySelectorAll('.fold').forEach((section) => section.addEventListener('toggle', fillOpen));
addEventListener('hashchange', openTarget);
openTarget();
fillOpen();
