//! Pans or zooms the first plot of the page, one step a frame, and says how long each frame took.
//!
//! `drawing` is the plot's own work. `frame` is all of it: from the first callback of the frame until
//! the page is free again, layout and painting included.
(async (gesture, steps) => {
  const { plot } = document.querySelector('figure.plot');
  plot.canvas.scrollIntoView({ block: 'center' });
  const count = (key) => plot.drawn.reduce((sum, series) => sum + series[key], 0);
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  plot.reset();
  await frames();
  const [samples, outside] = [count('samples'), count('outside')];
  const own = plot.draw.bind(plot);
  const [drawing, frame] = [[], []];
  plot.draw = () => {
    const begun = performance.now();
    own();
    drawing.push(performance.now() - begun);
  };
  const { left, top, width, height } = plot.box;
  const step = (number) => {
    const back = number % 40 < 20;
    if (gesture === 'pan') plot.pan(back ? -7 : 7, number % 20 < 10 ? 3 : -3);
    else plot.zoom(back ? 0.93 : 1 / 0.93, left + width / 2, top + height / 2);
  };
  for (let number = 0; number < steps; number++) {
    await new Promise((done) => {
      let begun;
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        frame.push(performance.now() - begun);
        port1.close();
        done();
      };
      // The plot draws between these two, in the same frame.
      requestAnimationFrame(() => { begun = performance.now(); });
      step(number);
      requestAnimationFrame(() => port2.postMessage(0));
    });
  }
  delete plot.draw;
  return { samples, outside, drawing, frame };
})
