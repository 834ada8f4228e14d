// Filters: study, family, budget, and the brush of each plot.
const chosen = {
  studies: new Set(data.studies.keys()),
  families: new Set(data.families.keys()),
  flash: Infinity,
  time: Infinity,
  brushes: [], // one per plot: { cost: [low, high], error: [low, high] } or null
};

// The ends of a brush come from pixels and are rounded.
const ROUNDING = 1e-9;
const within = (value, [a, b]) => value >= Math.min(a, b) * (1 - ROUNDING) && value <= Math.max(a, b) * (1 + ROUNDING);

// Return a flag per row. A plot is not filtered by its own brush, which is left out.
const seen = (except = -1) => {
  const found = new Uint8Array(rows);
  const brushes = chosen.brushes.map((brush, k) => [axes()[k], brush, k])
    .filter(([, brush, k]) => brush && k !== except);
  const limited = costs() !== null && (chosen.flash < Infinity || chosen.time < Infinity);
  for (let row = 0; row < rows; row += 1) {
    let keep = chosen.studies.has(cells.study[row]) && chosen.families.has(cells.family[row]);
    if (keep && limited) {
      const flash = costs().flash[row];
      keep = flash !== null && flash <= chosen.flash && costs().mean[row] <= chosen.time;
    }
    for (let k = 0; keep && k < brushes.length; k += 1) {
      const [axis, brush] = brushes[k];
      const cost = costOf(axis.key, row);
      keep = cost !== null && within(cost, brush.cost) && within(heightOf(axis, cells.error[row]), brush.error);
    }
    found[row] = keep ? 1 : 0;
  }
  return found;
};

// Parse "8k", "8 KB" or "2,000"; other texts set no limit.
const limit = (text, kilo) => {
  const match = /^\s*([\d.,]+)\s*(k?)(i?b)?\s*$/i.exec(text);
  const value = match ? Number(match[1].replaceAll(",", "")) * (match[2] ? kilo : 1) : NaN;
  return Number.isFinite(value) && value > 0 ? value : Infinity;
};

const chips = (box, names, set, marks, changed) => {
  names.forEach((name, k) => {
    const button = element("button", { type: "button", className: "chip" }, marks ? glyph(marks[k]) : null, name);
    const show = () => button.setAttribute("aria-pressed", String(set.has(k)));
    button.addEventListener("click", () => {
      // The first click selects one chip only; the next ones add or remove theirs.
      if (set.size === names.length && names.length > 1) {
        set.clear();
        set.add(k);
      } else if (!set.delete(k)) set.add(k);
      if (set.size === 0) names.forEach((_, j) => set.add(j));
      box.dispatchEvent(new Event("shown"));
      changed();
    });
    box.addEventListener("shown", show);
    show();
    box.append(button);
  });
};

// Compares rows by error rate, then by size, as the recommendations do.
const betters = (row, other) => {
  const size = (k) => (target === null ? cells.bits[k] : costs().flash[k] ?? Infinity);
  const less = cells.error[row] - cells.error[other];
  return less < 0 || (less === 0 && size(row) < size(other));
};

const say = (flags) => {
  const status = document.getElementById("status");
  let count = 0;
  let best = -1;
  for (let row = 0; row < rows; row += 1) {
    if (!flags[row]) continue;
    count += 1;
    if (best < 0 || betters(row, best)) best = row;
  }
  status.replaceChildren(`${whole(count)} of ${whole(rows)} trials shown.`);
  if (best < 0) {
    status.append(" No trial passes the filters; relax a limit or reset.");
    return;
  }
  if (chosen.studies.size > 1) return;
  const button = element("button", { type: "button", className: "link", textContent: `${settings(best)}, trial ${cells.number[best]}` });
  button.addEventListener("click", (event) => { event.stopPropagation(); pin(best, button.getBoundingClientRect()); });
  const cost = costs();
  const paid = cost === null || cost.flash[best] === null ? `${whole(cells.bits[best])} bits`
    : `${whole(cost.flash[best])} bytes and ${whole(cost.mean[best])} ${cost.unit}`;
  status.append(" Most accurate: ", button, `, with an error rate of ${percent(cells.error[best])} on validation rows, ${paid}.`);
};
