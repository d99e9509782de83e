// Where labels go beside their points, in pixels of the plot area: no label on another, none outside.

// Up and left first: that side of the front is empty.
const PLACES = [[-1, -1], [0, -1], [-1, 0], [1, 0], [1, 1], [1, -1], [0, 1], [-1, 1]];
const REACHES = [12, 20, 34, 54, 80, 112];

function overlap(a, b) {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

function boxBeside(label, side, reach, size) {
  const x = label.x + side[0] * (reach + size.width / 2);
  const y = label.y + side[1] * (reach + (side[0] ? 0 : size.height / 2));
  return { x, y, left: x - size.width / 2, right: x + size.width / 2, top: y - size.height / 2, bottom: y + size.height / 2 };
}

/**
 * Place labels one by one, the first one first. A label is {text, x, y, must, reaches, font}. It never covers a dot or another
 * label, and crosses lines as little as it can; where there is no such place it is left out, unless it must stand: then
 * it takes the place that covers least. Dots and lines are boxes {left, right, top, bottom}.
 */
function placed(labels, dots, lines, area) {
  const done = [];
  for (const label of labels) {
    const size = { width: textWidth(label.text, label.font) + 10, height: 22 };
    const covered = (box, others) => others.reduce((sum, other) => sum + overlap(box, other), 0);
    let best = null;
    for (const [rank, side] of PLACES.entries()) {
      for (const reach of label.must ? REACHES : REACHES.slice(0, label.reaches)) {
        const box = boxBeside(label, side, reach, size);
        if (box.left < 0 || box.right > area.width || box.top < 0 || box.bottom > area.height) continue;
        const hidden = covered(box, done.map((one) => one.box)) + covered(box, dots);
        const cost = 100 * hidden + covered(box, lines) + reach + rank;
        if ((hidden === 0 || label.must) && (best === null || cost < best.cost)) best = { label, box, cost };
      }
    }
    if (best === null && label.must) best = { label, box: boxBeside(label, [0, -1], 12, size) };
    if (best !== null) done.push(best);
  }
  return done.map(({ label, box }) => ({ label, dx: box.x - label.x, dy: box.y - label.y }));
}
