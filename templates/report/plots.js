// Linked plots: Vega draws them, a brush filters the other plots, the pointer selects a trial.
const plotSpec = document.getElementById("spec").textContent;
const views = []; // { view, box, axis, k, flags, places: [row, x, y, ...] }

const theme = () => {
  const probe = element("i");
  document.body.append(probe);
  const found = {};
  for (const name of ["ink", "muted", "grid", "axis", "paper"]) {
    probe.style.color = `var(--${name})`;
    found[`@${name}`] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
};

// Scales of the selected study, or those of all studies.
const scales = (axis) => {
  const [only] = chosen.studies;
  return axis.scales[chosen.studies.size === 1 ? only + 1 : 0];
};
// An error below a logarithmic axis, such as 0, is drawn at its low end.
const heightOf = (axis, error) => {
  const { y: { low, log } } = scales(axis);
  return log ? Math.max(error, low) : error;
};

const specFor = (axis, colors, sets) => {
  const { x, y } = scales(axis);
  const spec = JSON.parse(plotSpec, (key, value) => colors[value] ?? (value === "@title" ? axis.title : value));
  const by = (name) => (entry) => entry.name === name || entry.scale === name;
  const put = (name, { low, high, ticks, log }) => {
    Object.assign(spec.scales.find(by(name)), { domain: [low, high], type: log ? "log" : "linear" });
    spec.axes.filter(by(name)).forEach((entry) => { entry.values = ticks.map(([value]) => value); delete entry.tickCount; });
    spec.signals.find((entry) => entry.name === `${name}_labels`).value = Object.fromEntries(ticks);
  };
  put("x", x);
  put("y", y);
  // The more marks, the fainter; stronger on a dark background.
  const dark = getComputedStyle(page).colorScheme === "dark" || (!page.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  spec.signals.find(by("faint")).value = Math.min(0.42, 8 / Math.sqrt(sets.points.length + 1)) * (dark ? 1.35 : 0.9);
  for (const [name, some] of Object.entries(sets)) spec.data.find(by(name)).values = some;
  return spec;
};

const values = (axis) => {
  const points = [];
  const steps = [];
  const stairs = [];
  const ahead = new Set();
  const far = scales(axis).x.high;
  for (const front of axis.fronts) {
    const named = front.family < 0 ? "" : data.families[front.family].family;
    if (!chosen.studies.has(front.study) || (front.family >= 0 && !chosen.families.has(front.family))) continue;
    const series = `${front.study} ${front.family}`;
    front.rows.forEach((row, k) => {
      const datum = { row, cost: costOf(axis.key, row), error: heightOf(axis, cells.error[row]), family: named, study: front.study % 4, series };
      stairs.push(datum);
      if (front.family < 0) return;
      steps.push({ ...datum, low: heightOf(axis, cells.low[row]), high: cells.high[row], sure: front.sure[k] });
      ahead.add(row);
    });
    stairs.push({ ...stairs.at(-1), cost: far });
  }
  for (let row = 0; row < rows; row += 1) {
    const cost = costOf(axis.key, row);
    if (cost !== null && !ahead.has(row)) points.push({ row, cost, error: heightOf(axis, cells.error[row]), family: family(row).family });
  }
  return { points, steps, stairs };
};

const locate = (plot) => {
  const x = plot.view.scale("x");
  const y = plot.view.scale("y");
  const { y: { low, high } } = scales(plot.axis);
  const flags = plot.flags;
  plot.places = [];
  for (let row = 0; row < rows; row += 1) {
    const cost = costOf(plot.axis.key, row);
    const error = heightOf(plot.axis, cells.error[row]);
    if (cost !== null && error >= low && error <= high && (!flags || flags[row])) plot.places.push(row, x(cost), y(error));
  }
};

const nearest = (plot, event) => {
  const canvas = plot.box.querySelector("canvas").getBoundingClientRect();
  const [ox, oy] = plot.view.origin();
  const { left, top } = plot.view.padding();
  const x = event.clientX - canvas.left - ox - left;
  const y = event.clientY - canvas.top - oy - top;
  let found = -1;
  let least = 18 ** 2;
  for (let k = 0; k < plot.places.length; k += 3) {
    const away = (plot.places[k + 1] - x) ** 2 + (plot.places[k + 2] - y) ** 2;
    if (away < least) [found, least] = [plot.places[k], away];
  }
  return found;
};

// Ring a row in every plot, or none (-1).
let hot = -1;
const ring = (row) => {
  if (row === hot) return;
  hot = row;
  for (const { view, axis } of views) {
    const cost = row < 0 ? null : costOf(axis.key, row);
    const datum = cost === null ? [] : [{ row, cost, error: heightOf(axis, cells.error[row]) }];
    view.data("hot", datum).runAsync();
  }
};

// Draw the rows that pass the filters in each plot.
const refilter = () => Promise.all(views.map((plot) => {
  plot.flags = seen(plot.k);
  locate(plot);
  return plot.view.signal("shown", plot.flags).runAsync();
}));

const caption = (axis) => {
  const { high, log } = scales(axis).y;
  const beyond = cells.error.filter((error, row) => error > high && chosen.studies.has(cells.study[row]) && costOf(axis.key, row) !== null).length;
  const made = element("figcaption", { textContent: `Error rate${log ? " (logarithmic)" : ""} against ${axis.key === "time" ? axis.noun : axis.key}` });
  if (beyond) made.append(element("small", { textContent: `${whole(beyond)} above ${percent(high)}, not drawn` }));
  return made;
};

let drawn = 0;
const drawPlots = async (changed) => {
  drawn += 1;
  const round = drawn;
  const colors = theme();
  chosen.brushes = axes().map(() => null);
  hot = -1;
  // Create all figures first: the width of a plot depends on their number.
  const places = axes().map((axis, k) => ({ axis, k, box: element("div", { className: "view" }) })).filter(({ axis }) => scales(axis));
  views.splice(0).forEach(({ view }) => view.finalize());
  document.getElementById("views").replaceChildren(...places.map(({ axis, box }) => element("figure", {}, caption(axis), box)));
  const made = await Promise.all(places.map(async ({ axis, k, box }) => {
    const { view } = await vegaEmbed(box, specFor(axis, colors, values(axis)), {
      mode: "vega", renderer: "canvas", actions: false, tooltip: false, hover: false, defaultStyle: false,
    });
    return { view, box, axis, k, places: [], flags: null };
  }));
  if (round !== drawn) {
    made.forEach(({ view }) => view.finalize());
    return;
  }
  views.push(...made);
  for (const plot of views) {
    plot.view.addSignalListener("brush", (_, value) => {
      chosen.brushes[plot.k] = value.cost && value.error ? value : null;
      changed();
    });
    plot.view.addSignalListener("width", () => setTimeout(() => locate(plot)));
    listen(plot);
  }
};
