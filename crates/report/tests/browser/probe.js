//! What the browser tests ask of a page; evaluated in it once it has loaded.
'use strict';

/** The n-th plot of the page. */
const plotOf = (number) => document.querySelectorAll('figure.plot')[number].plot;

/** The bytes of a part of the plot's canvas, from a copy: reading the canvas itself slows it. */
function bytesOf(plot, ...rectangle) {
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [plot.canvas.width, plot.canvas.height];
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(plot.canvas, 0, 0);
  return context.getImageData(...rectangle.map((length) => Math.round(length * plot.ratio))).data;
}

globalThis.probe = {
  plot: plotOf,

  /** When everything that was asked for so far has been drawn. */
  settled: () => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
  }),

  /** The middle of an element, scrolled to where a mouse can reach it. */
  middle(element) {
    element.scrollIntoView({ block: 'center', behavior: 'instant' });
    const box = element.getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  },

  button: (text) => [...document.querySelectorAll('button')]
    .find((button) => button.textContent.trim() === text),

  /** Chooses an option of the drop-down list with this label, as a reader would. */
  choose(label, start) {
    const chooser = [...document.querySelectorAll('.chooser')]
      .find((one) => one.querySelector('span').textContent === label);
    const select = chooser.querySelector('select');
    const option = [...select.options].find((one) => one.text.startsWith(start));
    select.value = option.value;
    select.dispatchEvent(new Event('change', { bubbles: true }));
    return option.text;
  },

  /** Where every point of the series that are on stands in the window, with what it should be. */
  points(number = 0) {
    const plot = plotOf(number);
    plot.canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
    const at = plot.canvas.getBoundingClientRect();
    return plot.shown.flatMap((series) => series.points.map((point) => ({
      subject: series.label, run: series.run, point: point.x,
      x: at.left + plot.acrossValue(point.x), y: at.top + plot.downValue(point.median),
    })));
  },

  /** A pixel of the plot, given as shares of the box inside its axes. */
  pixel(across, down) {
    const plot = plotOf(0);
    plot.canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
    const at = plot.canvas.getBoundingClientRect();
    const { left, top, width, height } = plot.box;
    return { x: at.left + left + across * width, y: at.top + top + down * height };
  },

  /** Isolates a subject as its name in the legend does, whatever was shown before. */
  async only(subject) {
    plotOf(0).showAll();
    document.querySelector(`button[data-subject="${subject}"]`).click();
    await this.settled();
  },

  /** Shows no series at all, which a reader can't. */
  async none() {
    plotOf(0).isolated.subjects = new Set([null]);
    plotOf(0).changed();
    await this.settled();
  },

  /**
   * How many pixels inside the axes have exactly the colour of a series, and how many lie between
   * it and the paper, as translucent samples and bands do.
   */
  pixels(index) {
    const plot = plotOf(0);
    const [paper, colour] = ['--paper', `--series-${index % 8}`].map(palette(plot.canvas)).map(channels);
    const { left, top, width, height } = plot.box;
    const bytes = bytesOf(plot, left, top, width, height);
    const length = colour.reduce((sum, to, k) => sum + (to - paper[k]) ** 2, 0);
    let [exact, between] = [0, 0];
    for (let at = 0; at < bytes.length; at += 4) {
      const along = colour.reduce((sum, to, k) => sum + (bytes[at + k] - paper[k]) * (to - paper[k]), 0);
      const share = along / length;
      const aside = colour.every((to, k) =>
        Math.abs(paper[k] + share * (to - paper[k]) - bytes[at + k]) < 5);
      if (aside && share > 0.995) exact++;
      // One sample is a share of at least 0.16; below that there are lines of the grid.
      else if (aside && share > 0.14) between++;
    }
    return { exact, between };
  },

  /** The pixel in the middle of each median's marker, and the colour it should have. */
  markers() {
    const plot = plotOf(0);
    const colourOf = palette(plot.canvas);
    return plot.shown.flatMap((series) => series.points.map((point) => {
      const pixel = [plot.acrossValue(point.x), plot.downValue(point.median)];
      const [red, green, blue] = bytesOf(plot, ...pixel, 1, 1);
      const index = plot.data.subjects.indexOf(series.label) % 8;
      return { point: point.x, found: `rgb(${red}, ${green}, ${blue})`, wanted: colourOf(`--series-${index}`) };
    }));
  },

  /** Every text of the plot with its ends, caught while a frame is drawn. */
  written() {
    const plot = plotOf(0);
    const { context } = plot;
    const written = [];
    context.fillText = (text, across, down, most = Infinity) => {
      const width = Math.min(context.measureText(text).width, most);
      const before = { left: 0, center: width / 2, right: width }[context.textAlign];
      written.push({ text, left: across - before, right: across - before + width, down });
    };
    plot.draw();
    delete context.fillText;
    plot.draw();
    return written;
  },

  /**
   * How many visible texts and markers in `within` have a contrast to what is behind them, which is
   * 21 at most, and those that have less than `least`. Each mixture of colours is painted once: a
   * page has few.
   */
  faint(least, within = document.body) {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [1, 1];
    const context = canvas.getContext('2d', { willReadFrequently: true });
    const mixed = new Map();
    const painted = (colours) => {
      const key = colours.join();
      if (!mixed.has(key)) mixed.set(key, paint(colours));
      return mixed.get(key);
    };
    const paint = (colours) => {
      for (const colour of colours) {
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
      }
      return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const brightness = (channels) => {
      const [red, green, blue] = channels.map((byte) => {
        const share = byte / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const known = new Map();
    const layers = (element) => {
      if (!element) return [];
      if (!known.has(element)) {
        known.set(element, [...layers(element.parentElement), getComputedStyle(element).backgroundColor]);
      }
      return known.get(element);
    };
    // A hatching is as hard to read on as the worst of its colours.
    const papers = (element) => {
      const behind = layers(element);
      const hatched = getComputedStyle(element.closest('.close, .shared') ?? element)
        .backgroundImage.match(/rgba?\([^)]*\)|color\([^)]*\)/g) ?? [];
      return [behind, ...hatched.map((colour) => [...behind, colour])];
    };
    const contrast = (element, colour) => Math.min(...papers(element).map((layers) => {
      const paper = brightness(painted(layers));
      const ink = brightness(painted([...layers, colour]));
      return (Math.max(paper, ink) + 0.05) / (Math.min(paper, ink) + 0.05);
    }));
    const faint = [];
    let looked = 0;
    for (const shape of within.querySelectorAll('svg.shape')) {
      const found = contrast(shape, getComputedStyle(shape).fill);
      if (found < 21.1) looked++;
      if (found < least) faint.push(`a marker in ${shape.parentElement.className}: ${found.toFixed(2)}`);
    }
    for (const element of within.querySelectorAll('*')) {
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      if (!own || !element.checkVisibility({ visibilityProperty: true })) continue;
      const found = contrast(element, getComputedStyle(element).color);
      if (found < 21.1) looked++;
      if (found < least) {
        faint.push(`${element.tagName} ${element.className}: ${found.toFixed(2)} "${element.textContent.trim().slice(0, 40)}"`);
      }
    }
    return { looked, faint };
  },

  /** The paper's colour in the plot, as the brightness of its red. */
  paper: () => bytesOf(plotOf(0), 1, 1, 1, 1)[0],

  background: () => getComputedStyle(document.documentElement).backgroundColor,
};
