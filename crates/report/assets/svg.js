//! The plot as SVG: what draws a frame writes elements here, in the place of pixels.

/** How far the line of a text lies below its anchor. */
const BASELINES = { top: '.86em', middle: '.33em', bottom: '-.2em' };
const ANCHORS = { left: 'start', center: 'middle', right: 'end' };

/** As much of a canvas's context as `Frame` draws with. */
class SvgContext {
  constructor({ context, ratio, width, height }) {
    Object.assign(this, { pixels: context, ratio, width, height });
    Object.assign(this, { body: '', path: '', dashes: [], globalAlpha: 1, globalCompositeOperation: 'source-over' });
  }

  /** The whole drawing. */
  get text() {
    const { width, height, font, body } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" style="font: ${escaped(font)}">${body}</svg>`;
  }

  setTransform() {}

  save() {}

  /** Ends what `clip` began: nothing else is saved. */
  restore() {
    this.body += '</g>';
  }

  clip() {
    this.body += `<clipPath id="axes"><path d="${this.path}"/></clipPath><g clip-path="url(#axes)">`;
  }

  beginPath() {
    this.path = '';
  }

  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x, y) {
    this.path += `${this.path ? 'L' : 'M'}${short(x)} ${short(y)}`;
  }

  rect(x, y, width, height) {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
  }

  /** In two parts: a whole circle as one would have no length. */
  arc(x, y, radius, from, to) {
    const at = (angle) => `${short(x + radius * Math.cos(angle))} ${short(y + radius * Math.sin(angle))}`;
    const ends = [(from + to) / 2, to].map((angle) => `A${radius} ${radius} 0 0 1 ${at(angle)}`);
    this.path += `M${at(from)}${ends.join('')}`;
  }

  setLineDash(dashes) {
    this.dashes = dashes;
  }

  measureText(text) {
    this.pixels.font = this.font;
    return this.pixels.measureText(text);
  }

  fillRect(...rectangle) {
    this.beginPath();
    this.rect(...rectangle);
    this.fill();
  }

  fill(shape) {
    this.#paint(shape, { fill: this.fillStyle });
  }

  stroke(shape) {
    const { strokeStyle, lineWidth, lineJoin, dashes } = this;
    this.#paint(shape, {
      fill: 'none', stroke: strokeStyle, 'stroke-width': lineWidth / (shape?.matrix[0] ?? 1),
      'stroke-linejoin': lineJoin ?? 'miter', 'stroke-dasharray': dashes.join(' ') || 'none',
    });
  }

  /** The path, or a shape that knows its own. */
  #paint(shape, attributes) {
    const { path, globalAlpha: opacity, globalCompositeOperation: over } = this;
    const transform = shape && { transform: `matrix(${shape.matrix.map(short).join(' ')})` };
    const style = over !== 'source-over' && { style: `mix-blend-mode: ${over}` };
    this.#add('path', { d: shape?.d ?? path, opacity, ...attributes, ...transform, ...style });
  }

  fillText(text, x, y, room = Infinity) {
    if (!text) return;
    const squeezed = this.measureText(text).width > room && { textLength: short(room), lengthAdjust: 'spacingAndGlyphs' };
    this.#add('text', {
      x: short(x), y: short(y), dy: BASELINES[this.textBaseline], 'text-anchor': ANCHORS[this.textAlign],
      fill: this.fillStyle, opacity: this.globalAlpha, ...squeezed,
    }, escaped(text));
  }

  putImageData(image, left, top) {
    const canvas = element('canvas', { width: image.width, height: image.height });
    canvas.getContext('2d').putImageData(image, 0, 0);
    const [x, y, width, height] = [left, top, image.width, image.height].map((length) => length / this.ratio);
    this.#add('image', { x, y, width, height, href: canvas.toDataURL() });
  }

  #add(name, attributes, content = '') {
    const pairs = Object.entries(attributes).map(([key, value]) => `${key}="${value}"`);
    this.body += `<${name} ${pairs.join(' ')}>${content}</${name}>`;
  }
}

/** A length to a hundredth of a pixel. */
function short(length) {
  return Number(length.toFixed(2));
}

/** A text as the content of an element, or as an attribute. */
function escaped(text) {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
