// Table of the trials that pass the filters, a hundred rows per page.
const PAGE = 100;
const table = { order: [], sort: { key: "error", down: false }, first: 0 };

const columns = () => {
  const cost = costs();
  return [
    { key: "number", head: "Trial", number: true, value: (row) => cells.number[row] },
    data.studies.length > 1 ? { key: "study", head: "Study", value: (row) => data.studies[cells.study[row]] } : null,
    { key: "family", head: data.kind, value: (row) => family(row).family },
    { key: "format", head: "Bits", number: true, value: (row) => bits(row) ?? 99, text: (row) => bits(row) ?? "float" },
    { key: "error", head: "Validation error", number: true, value: (row) => cells.error[row] },
    cells.test.some((test) => test !== null) ? { key: "test", head: "Test error", number: true, value: (row) => cells.test[row], text: (row) => percent(cells.test[row]) } : null,
    ...(cost === null ? [] : [
      { key: "flash", head: "Flash", number: true, value: (row) => cost.flash[row] },
      { key: "ram", head: "RAM", number: true, value: (row) => cost.ram[row] },
      { key: "stack", head: "Stack", number: true, value: (row) => cost.stack[row] },
      { key: "mean", head: cost.unit === "cycles" ? "Cycles" : "Instructions", number: true, value: (row) => cost.mean[row] },
    ]),
    { key: "bits", head: "Table bits", number: true, value: (row) => cells.bits[row] },
    paramNames.includes("optimize") ? { key: "optimize", head: "Optimized for", value: (row) => param("optimize", row) ?? "balanced" } : null,
    { key: "seconds", head: "Seconds", number: true, value: (row) => cells.seconds[row], text: (row) => cells.seconds[row].toFixed(1) },
  ].filter((column) => column !== null);
};

const sortRows = () => {
  const { key, down } = table.sort;
  const { value } = columns().find((column) => column.key === key) ?? columns()[0];
  const sign = down ? -1 : 1;
  table.order.sort((a, b) => {
    const [p, q] = [value(a), value(b)];
    if (p === null || q === null) return (p === null) - (q === null) || a - b;
    return (p < q ? -sign : p > q ? sign : 0) || a - b;
  });
};

const cell = (column, row) => {
  const made = element("td", { className: column.number ? "number" : "" });
  if (column.key === "family") made.append(glyph(family(row)), family(row).family);
  else if (column.key === "error") made.append(`${percent(cells.error[row])} `, element("small", { textContent: interval(row) }));
  else made.append(column.text ? String(column.text(row)) : column.number ? whole(column.value(row)) : column.value(row));
  return made;
};

const toggle = (line, row, n) => {
  const open = line.classList.toggle("open");
  line.firstChild.firstChild.setAttribute("aria-expanded", String(open));
  if (!open) {
    line.nextSibling.remove();
    return;
  }
  const inside = element("td", { colSpan: n }, figures(row), typed(command(row)), copyButton(() => command(row)));
  line.after(element("tr", { className: "more" }, inside));
};

const drawRows = () => {
  const shape = columns();
  const body = document.querySelector("#table tbody");
  body.replaceChildren(...table.order.slice(table.first, table.first + PAGE).map((row) => {
    const line = element("tr", {}, ...shape.map((column) => cell(column, row)));
    const opener = element("button", { type: "button", className: "link", textContent: cells.number[row], title: "Show the command" });
    opener.setAttribute("aria-expanded", "false");
    line.firstChild.replaceChildren(opener);
    line.addEventListener("click", () => toggle(line, row, shape.length));
    return line;
  }));
  const last = Math.min(table.first + PAGE, table.order.length);
  document.getElementById("range").textContent = table.order.length ? `${whole(table.first + 1)} to ${whole(last)} of ${whole(table.order.length)}` : "No trial passes the filters";
  document.getElementById("before").disabled = table.first === 0;
  document.getElementById("after").disabled = last === table.order.length;
};

const drawHead = () => {
  const head = document.querySelector("#table thead tr");
  head.replaceChildren(...columns().map((column) => {
    const button = element("button", { type: "button", textContent: column.head });
    const made = element("th", { scope: "col", className: column.number ? "number" : "" }, button);
    if (column.key === table.sort.key) made.setAttribute("aria-sort", table.sort.down ? "descending" : "ascending");
    button.addEventListener("click", () => {
      table.sort = { key: column.key, down: column.key === table.sort.key && !table.sort.down };
      table.first = 0;
      sortRows();
      drawHead();
      drawRows();
    });
    return made;
  }));
};

const drawTable = (flags) => {
  table.order = [];
  for (let row = 0; row < rows; row += 1) if (flags[row]) table.order.push(row);
  table.first = 0;
  sortRows();
  drawRows();
};

// Records of the filtered rows, with all figures and options.
const record = (row) => {
  const made = {
    study: data.studies[cells.study[row]], number: cells.number[row], family: family(row).family,
    q_format: cells.format[row], error_validation: cells.error[row], error_validation_low: cells.low[row],
    error_validation_high: cells.high[row], error_test: cells.test[row], bits: cells.bits[row],
    operations: cells.operations[row], seconds: cells.seconds[row],
  };
  for (const name of data.targets) {
    for (const key of ["flash", "ram", "stack"]) made[`${key}_${name}`] = data.costs[name][key][row];
    made[`${data.costs[name].unit}_${name}`] = data.costs[name].mean[row];
  }
  for (const name of paramNames) made[`param_${name}`] = param(name, row);
  made.command = command(row);
  return made;
};
const quoted = (value) => {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const download = (kind) => {
  const records = table.order.map(record);
  const lines = () => [Object.keys(records[0] ?? {}), ...records.map(Object.values)].map((line) => line.map(quoted).join(","));
  const text = kind === "csv" ? `${lines().join("\r\n")}\r\n` : `${JSON.stringify(records, null, 1)}\n`;
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: kind === "csv" ? "text/csv" : "application/json" })), download: `trials.${kind}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
