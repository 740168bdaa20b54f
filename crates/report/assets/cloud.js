//! Samples as pixels: small translucent squares, half a million of them during a pan.
//!
//! A call to the canvas for each would take seconds. Here each sample is one hit on a pixel, and each
//! pixel that was hit is blended once, as strongly as all its hits one after the other would be:
//! squares of one colour may be laid in any order.

/** Hits beyond this change nothing that could be seen. */
const HITS_MOST = 255;

/** The samples of one frame, of which `paper` is the colour behind them. */
class Cloud {
  constructor(context, width, height, paper) {
    this.image = context.createImageData(width, height);
    [this.width, this.height] = [width, height];
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.hits = new Uint8Array(width * height);
    // The pixels that were hit, each once.
    this.touched = new Uint32Array(width * height);
    this.clear(paper);
  }

  clear(paper) {
    this.pixels.fill(new Uint32Array(Uint8Array.of(...paper, 255).buffer)[0]);
  }

  /**
   * Lays the samples from `first` to before `end` over what is there. `projection` says how positions become
   * pixels, `tone` is the colour, `alpha` how much of it one sample adds, `size` the side of a square.
   * Returns how many lie within the image.
   */
  lay({ x, y, jitter }, [first, end], projection, { tone, alpha, size }) {
    const { hits, touched, width } = this;
    const { x0, y0, alongX, alongY, spread } = projection;
    const [right, bottom, height] = [width - size, this.height - size, this.height];
    let [inside, distinct] = [0, 0];
    for (let index = first; index < end; index++) {
      const across = ((x[index] - x0) * alongX + jitter[index] * spread) | 0;
      const down = (height - (y[index] - y0) * alongY) | 0;
      if (across < 0 || across > right || down < 0 || down > bottom) continue;
      inside++;
      const at = down * width + across;
      const before = hits[at];
      if (before === 0) touched[distinct++] = at;
      if (before < HITS_MOST) hits[at] = before + 1;
    }
    this.blend(distinct, tone, alpha, size);
    return inside;
  }

  /**
   * Blends the squares of all pixels that were hit, and forgets the hits. Red and blue of a pixel are
   * blended at once, then green, in whole numbers; the lowest byte of a pixel is red.
   */
  blend(distinct, [red, green, blue], alpha, size) {
    const { hits, touched, pixels, width } = this;
    const [left, redBlue, greens] = [new Uint32Array(256), new Uint32Array(256), new Uint32Array(256)];
    for (let times = 0; times <= HITS_MOST; times++) {
      const share = Math.round(256 * (1 - (1 - alpha) ** times));
      left[times] = 256 - share;
      redBlue[times] = (red + blue * 0x10000) * share + 0x800080;
      greens[times] = green * 0x100 * share + 0x8000;
    }
    for (let index = 0; index < distinct; index++) {
      let at = touched[index];
      const times = hits[at];
      hits[at] = 0;
      const [stays, addRedBlue, addGreen] = [left[times], redBlue[times] | 0, greens[times]];
      for (let line = 0; line < size; line++, at += width - size) {
        for (const end = at + size; at < end; at++) {
          const pixel = pixels[at];
          pixels[at] = 0xff000000
            | (((Math.imul(pixel & 0xff00ff, stays) + addRedBlue) >>> 8) & 0xff00ff)
            | (((Math.imul(pixel & 0xff00, stays) + addGreen) >>> 8) & 0xff00);
        }
      }
    }
  }
}
