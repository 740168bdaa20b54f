//! Describes a run while it is pointed at or selected with the arrow keys.

/** Each run as words, the oldest first, from the table of runs. */
const runsOfHistory = [...document.querySelectorAll('#runs tbody tr')].reverse().map((row) => {
  const [, date, labels] = [...row.children].map((cell) => cell.textContent.trim());
  return [date, labels].filter(Boolean).join(', ');
});

/** Shows the selected run below a timeline. */
function describeRuns(timeline) {
  const svg = timeline.querySelector('svg');
  const summary = timeline.querySelector('.summary');
  const usual = summary.textContent;
  const runs = [...svg.querySelectorAll('.run')];
  const titles = runs.map((run) => run.querySelector('title').textContent);
  let chosen = -1;
  const choose = (index) => {
    runs[chosen]?.classList.remove('chosen');
    chosen = index;
    runs[chosen]?.classList.add('chosen');
    summary.textContent = chosen < 0 ? usual
      : `${titles[chosen]} · ${runsOfHistory[runs[chosen].dataset.run]}`;
  };
  /** The run that is nearest across, wherever the pointer is up and down. */
  const nearest = (event) => {
    const off = (run) => {
      const box = run.querySelector('circle').getBoundingClientRect();
      return Math.abs(box.left + box.width / 2 - event.clientX);
    };
    return runs.reduce((best, run, index) => (off(run) < off(runs[best]) ? index : best), 0);
  };
  svg.addEventListener('pointermove', (event) => choose(nearest(event)));
  svg.addEventListener('pointerdown', (event) => choose(nearest(event)));
  svg.addEventListener('pointerleave', () => choose(-1));
  svg.addEventListener('blur', () => choose(-1));
  svg.addEventListener('keydown', (event) => {
    const last = runs.length - 1;
    const to = {
      ArrowRight: Math.min(chosen + 1, last),
      ArrowLeft: chosen < 0 ? last : Math.max(chosen - 1, 0),
      Home: 0,
      End: last,
      Escape: -1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
  });
}

document.querySelectorAll('.timeline').forEach(describeRuns);
