//! Builds what needs a script: the theme button, and around each plot its controls and legend.

/** An element with attributes and children; what is a function becomes a listener. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A drop-down list with its label; gone where there is nothing to choose. */
function chooser(label, names, chosen) {
  const options = names.map((name, index) => element('option', { value: index }, name));
  const select = element('select', { change: (event) => chosen(names[event.target.value]) }, ...options);
  const made = element('label', { class: 'chooser' }, element('span', {}, label), select);
  made.hidden = names.length < 2;
  return made;
}

/** A button that is on or off, and says so. */
function switcher(text, on, changed, attributes = {}) {
  const button = element('button', { type: 'button', 'aria-pressed': on, ...attributes }, text);
  button.addEventListener('click', (event) => {
    if (event.altKey) return;
    changed(button.getAttribute('aria-pressed') !== 'true');
  });
  return button;
}

/** Metric and conditions, the axes, and the view. */
function controls(plot, choose) {
  const unique = (key) => [...new Set(plot.data.views.map((view) => view[key]))];
  const wanted = { metric: plot.data.views[0].metric, conditions: plot.data.views[0].conditions };
  const find = (key) => (name) => {
    wanted[key] = name;
    const same = (view, of) => view[of] === wanted[of];
    const exact = plot.data.views.findIndex((v) => same(v, 'metric') && same(v, 'conditions'));
    choose(exact >= 0 ? exact : plot.data.views.findIndex((view) => same(view, key)));
  };
  const axis = (name, text) => {
    const button = switcher(text, true, (on) => {
      button.setAttribute('aria-pressed', on);
      plot.setLog(name, on);
    });
    return button;
  };
  const middle = () => [plot.box.left + plot.box.width / 2, plot.box.top + plot.box.height / 2];
  const press = (text, label, act) =>
    element('button', { type: 'button', 'aria-label': label, title: label, click: act }, text);
  return element('div', { class: 'controls' },
    chooser('Metric', unique('metric'), find('metric')),
    chooser('Conditions', unique('conditions'), find('conditions')),
    element('div', { class: 'buttons', role: 'group', 'aria-label': 'Axes' },
      axis('x', 'log across'), axis('y', 'log up')),
    element('div', { class: 'buttons', role: 'group', 'aria-label': 'View' },
      press('−', 'Zoom out', () => plot.zoom(1 / 0.7, ...middle())),
      press('+', 'Zoom in', () => plot.zoom(0.7, ...middle())),
      press('Reset', 'Reset the view', () => plot.reset())));
}

/** A line with its marker, as the plot draws it. */
function swatch({ colour, shape }, run) {
  const dash = DASHES[run % DASHES.length].join(' ');
  const fill = run === 0 ? 'currentColor' : 'var(--paper)';
  const holder = element('span', { class: 'swatch', style: `color: var(--series-${colour})`, 'aria-hidden': 'true' });
  holder.innerHTML = `<svg viewBox="-12 -6 24 12" width="24" height="12">`
    + `<path d="M-12 0H12" stroke="currentColor" stroke-width="1.6" stroke-dasharray="${dash}"/>`
    + `<path d="${SHAPES[shape]}" transform="scale(4.2)" fill="${fill}" stroke="currentColor" stroke-width=".25"/></svg>`;
  return holder;
}

/** One button per subject, and per run where there are several. */
function legend(plot) {
  const subject = (label, index) => {
    const button = switcher(label, true, () => plot.toggle('subjects', label), { 'data-subject': label });
    button.prepend(swatch(plot.data.looks[index], 0));
    button.addEventListener('click', (event) => event.altKey && plot.only(label));
    button.addEventListener('dblclick', () => plot.only(label));
    button.addEventListener('keydown', (event) => event.key.toLowerCase() === 'o' && plot.only(label));
    button.addEventListener('pointerenter', () => light(plot, label));
    button.addEventListener('pointerleave', () => light(plot, null));
    return button;
  };
  const run = (name, index) => {
    const button = switcher(name, true, () => plot.toggle('runs', index), { 'data-run': index });
    button.prepend(swatch(plot.data.looks[0], index));
    return button;
  };
  const every = (text, on) => element('button', { type: 'button', class: 'plain', click: () => plot.all(on) }, text);
  const made = element('div', { class: 'legend', role: 'group', 'aria-label': 'Series' },
    ...plot.data.subjects.map(subject), every('All', true), every('None', false));
  if (plot.data.runs.length < 2) return [made];
  const runs = element('div', { class: 'legend', role: 'group', 'aria-label': 'Runs' },
    ...plot.data.runs.map(run));
  return [made, runs];
}

/** Sets one series off against the others while the pointer rests on its name. */
function light(plot, label) {
  plot.lit = plot.shown.find((series) => series.label === label) ?? null;
  plot.later();
}

/** What the read-out says of a point, as pairs of words and figures. */
function words(at, unit) {
  const say = (value) => quantity(value, unit);
  return [
    ['median', say(at.median)],
    ['95 % interval', at.samples > 1 ? `${say(at.low)} to ${say(at.high)}` : 'none: a single figure'],
    ['min', say(at.min)],
    ['p99', say(at.p99)],
    ['max', say(at.max)],
    ['samples', `${whole(at.samples)} in ${at.rounds} ${at.rounds === 1 ? 'round' : 'rounds'}`],
  ];
}

/** A crossover in a sentence, with its run where there are several. */
function saidOf(plot, crossing) {
  const several = plot.data.runs.length > 1;
  return several ? `${crossing.said}, ${plot.data.runs[crossing.run]}` : crossing.said;
}

/** The crossovers that are marked in the plot, as a list below it. */
function listed(plot) {
  return plot.crossings.map((crossing) => {
    const ring = element('span', { class: 'ring', 'aria-hidden': 'true' });
    const rest = crossing.brief && ` · ${crossing.brief}`;
    const more = element('span', { class: 'crossing-more' }, rest);
    return element('li', {}, ring, saidOf(plot, crossing), more);
  });
}

/** The line below the plot and the card beside the point. */
function readOut(plot, series, at, readout, card) {
  const crossing = plot.cursor?.crossing;
  card.hidden = !at && !crossing;
  if (card.hidden) {
    readout.textContent = '';
    return;
  }
  const title = at ? `${plot.nameOf(series)} at ${whole(at.x)}` : saidOf(plot, crossing);
  const pairs = at ? words(at, plot.shownView.unit) : crossing.pairs;
  readout.textContent = `${title}: ${pairs.map((pair) => pair.join(' ')).join(', ')}`;
  const list = element('dl', {}, ...pairs.flatMap(([word, value]) =>
    [element('dt', {}, word), element('dd', {}, value)]));
  card.replaceChildren(element('strong', {}, title), list);
  const [across, down] = plot.cursorSpot;
  const left = across > plot.width / 2 ? across - card.offsetWidth - 16 : across + 16;
  const top = Math.min(Math.max(8, down - card.offsetHeight / 2), plot.height - card.offsetHeight - 8);
  card.style.translate = `${Math.round(Math.max(0, left))}px ${Math.round(top)}px`;
}

/** How many samples are seen, and how many lie elsewhere. */
function tally(plot) {
  const sum = (key) => plot.drawn.reduce((total, series) => total + series[key], 0);
  const [inside, outside] = [sum('samples'), sum('outside')];
  const rest = outside ? `; ${whole(outside)} outside the view` : '';
  return `${whole(inside)} samples drawn behind the medians${rest}.`;
}

const HINT = 'Drag to zoom, shift-drag to pan, double-click to reset; the wheel zooms once the plot '
  + 'has the focus. Keys: arrows walk from point to point, shift and arrows pan, plus and minus '
  + 'zoom, Escape resets. Alt-click, double-click or O on a name shows only that one.';
const HINT_CROSSINGS = ' C walks from crossover to crossover.';

/** Fills a figure of the page with its plot. */
function fill(figure) {
  const number = figure.dataset.plot;
  const data = JSON.parse(document.getElementById(`plot-data-${number}`).textContent);
  if (!data.views.length) {
    figure.append(element('p', { class: 'note' }, 'Nothing was measured, so there is nothing to draw.'));
    return;
  }
  const card = element('div', { class: 'card', 'aria-hidden': 'true' });
  card.hidden = true;
  const readout = element('p', { class: 'readout', role: 'status', 'aria-live': 'polite' });
  const count = element('span', { class: 'count' });
  const crossed = data.views.some((view) => view.crossings.length) ? HINT_CROSSINGS : '';
  const hint = element('p', { class: 'hint', id: `hint-${number}` }, count, ` ${HINT}${crossed}`);
  const stage = element('div', {
    class: 'stage', tabindex: 0, role: 'application', 'aria-roledescription': 'interactive plot',
    'aria-label': `Plot of ${data.workload} over ${data.axis}. The same medians stand in the table below.`,
    'aria-describedby': hint.id,
  }, element('canvas', { 'aria-hidden': 'true' }), card);
  figure.append(stage);
  const crossings = element('ul', { class: 'crossings', 'aria-label': 'Crossovers' });
  const told = {
    drawn: (plot) => {
      count.textContent = tally(plot);
      const list = listed(plot);
      // Only what is new, so that nobody who selects or hears it is disturbed by each frame.
      if (list.map((one) => one.textContent).join() !== [...crossings.children].map((one) => one.textContent).join()) {
        crossings.replaceChildren(...list);
      }
      crossings.hidden = !list.length;
      figure.querySelectorAll('[data-subject]').forEach((button) =>
        button.setAttribute('aria-pressed', !plot.hidden.subjects.has(button.dataset.subject)));
      figure.querySelectorAll('[data-run]').forEach((button) =>
        button.setAttribute('aria-pressed', !plot.hidden.runs.has(Number(button.dataset.run))));
    },
    reading: (plot, series, at) => readOut(plot, series, at, readout, card),
  };
  const plot = new Plot(figure, stage, data, told);
  figure.plot = plot;
  const tables = new Tables(figure.closest('section'), plot);
  const choose = (index) => {
    plot.show(index);
    plot.point(null);
    tables.show();
  };
  stage.before(controls(plot, choose));
  figure.append(readout, crossings, ...legend(plot), hint);
}

/** The tables under a plot: the one of the view that is drawn, or all. */
class Tables {
  constructor(section, plot) {
    this.views = [...section.querySelectorAll('.view')];
    this.plot = plot;
    this.all = false;
    if (this.views.length > 1) {
      this.button = switcher(`Show all ${this.views.length} tables`, false, (on) => {
        this.all = on;
        this.button.setAttribute('aria-pressed', on);
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
  const button = switcher('Dark', isDark(), (dark) => {
    root.dataset.theme = dark ? 'dark' : 'light';
    said();
  }, { class: 'theme' });
  const said = () => {
    button.setAttribute('aria-pressed', isDark());
    redraw();
  };
  system.addEventListener('change', said);
  // Paper is white: plots are drawn in the light colours for it, then as before.
  let before;
  addEventListener('beforeprint', () => {
    before = root.dataset.theme;
    root.dataset.theme = 'light';
    redraw();
  });
  addEventListener('afterprint', () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    redraw();
  });
  document.querySelector('.masthead').append(button);
}

themeButton();
document.querySelectorAll('figure.plot').forEach(fill);
