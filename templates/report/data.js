// Data of the page, row by row, and its texts.
const data = JSON.parse(document.getElementById("data").textContent);
const cells = data.columns;
const rows = cells.number.length;
const paramNames = Object.keys(data.params);

const param = (name, row) => {
  const { values, index } = data.params[name];
  return index[row] < 0 ? null : values[index[row]];
};
const modelName = (row) => `trial-${cells.number[row]}.bncc`;
const command = (row) => data.commands.values[data.commands.index[row]]
  .split("\x01").map((text, k) => (k % 2 === 0 ? text : text === "" ? modelName(row) : param(text, row))).join("");

const family = (row) => data.families[cells.family[row]];
const bits = (row) => {
  const [whole, fraction] = cells.format[row].split(".").map(Number);
  return Number.isNaN(whole) ? null : whole + fraction;
};
const isBaseline = (row) => paramNames.includes("classifier") && param("classifier", row) === "baseline";
const settings = (row) => {
  const n = bits(row);
  if (isBaseline(row)) return family(row).family;
  const name = family(row).family === "tables" ? "boosted tables" : family(row).family;
  return name + (n === null ? " in floats" : ` with ${n} bit${n === 1 ? "" : "s"}`);
};
const options = (row) => paramNames.filter((name) => name !== "structure" && name !== "bits")
  .map((name) => [name, param(name, row)]).filter(([, value]) => value !== null);
const brief = (value) => (/^-?\d*\.\d{4,}(e-?\d+)?$/.test(value) ? Number(value).toPrecision(3) : value);

const figure = (share) => (100 * share + 1e-9).toFixed(share === 0 || share >= 0.00995 ? 1 : 2);
const percent = (share) => (share === null ? "–" : `${figure(share)} %`);
const whole = (value) => (value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en-US"));
const interval = (row) => `${figure(cells.low[row])} to ${figure(cells.high[row])}`;

// Selected target; null if nothing was measured.
let target = data.target;
const costs = () => (target === null ? null : data.costs[target]);
const axes = () => data.axes[target ?? ""];
const costOf = (key, row) => {
  if (key === "bits" || key === "operations") return cells[key][row];
  return costs()[key === "time" ? "mean" : key][row];
};

// Elements are built without markup, so that no name from the data is parsed as HTML.
const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== null));
  return made;
};
const glyph = (mark) => document.querySelector(`#glyphs [data-shape="${mark.shape}"][data-color="${mark.color}"]`).cloneNode(true);

const figures = (row) => {
  const list = element("dl", { className: "figures" });
  const add = (name, text) => list.append(element("dt", { textContent: name }), element("dd", { textContent: text }));
  add("validation", `${percent(cells.error[row])} (${interval(row)})`);
  if (cells.test[row] !== null) add("test", percent(cells.test[row]));
  const cost = costs();
  if (cost !== null && cost.flash[row] !== null) {
    add("flash, RAM, stack", `${whole(cost.flash[row])}, ${whole(cost.ram[row])}, ${whole(cost.stack[row])} bytes`);
    add(cost.unit, `${whole(cost.mean[row])} per decision, ${whole(cost.most[row])} at most`);
  } else if (cost !== null) {
    const { values, index } = cost.why;
    add(target, index[row] < 0 ? "not measured" : values[index[row]]);
  }
  add("tables", `${whole(cells.bits[row])} bits, ${whole(cells.operations[row])} additions`);
  add("options", options(row).map(([name, value]) => `${name} ${brief(value)}`).join(", "));
  return list;
};
// Lines of a command break between its words only.
const typed = (text) => {
  const made = element("pre", { className: "command" });
  text.split(" ").forEach((word, k) => made.append(k ? " " : "", element("span", { textContent: word })));
  return made;
};
const copyButton = (text) => {
  const button = element("button", { type: "button", textContent: "Copy command" });
  button.addEventListener("click", async (event) => {
    event.stopPropagation();
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      const area = element("textarea", { value: text() });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy command"; }, 1500);
  });
  return button;
};
