// Start the page: connect the controls and draw.
const page = document.documentElement;
let due = false;

// Tables that are wider than their box have a hint above them.
const markWide = () => {
  for (const box of document.querySelectorAll(".wide")) box.classList.toggle("scrolls", box.scrollWidth > box.clientWidth + 1);
};

const update = async () => {
  due = false;
  const flags = seen();
  say(flags);
  drawTable(flags);
  markWide();
  await refilter();
  if (!due) page.dataset.ready = "true";
};
// A moving brush reports several changes per frame.
const changed = () => {
  if (due) return;
  due = true;
  page.dataset.ready = "false";
  requestAnimationFrame(update);
};
const redraw = async () => {
  page.dataset.ready = "false";
  await drawPlots(changed);
  drawHead();
  await update();
};

const chooseTarget = (name) => {
  target = name;
  for (const part of document.querySelectorAll("[data-target]")) part.hidden = part.dataset.target !== (name ?? "");
  const time = document.getElementById("time-name");
  if (time) time.textContent = costs().unit === "cycles" ? "Cycles at most" : "Instructions at most";
};

const start = async () => {
  const redrawSoon = () => { redraw(); };
  chips(document.getElementById("families"), data.families.map((mark) => mark.family), chosen.families, data.families, redrawSoon);
  if (data.studies.length > 1) chips(document.getElementById("studies"), data.studies, chosen.studies, null, redrawSoon);
  const select = document.getElementById("target");
  if (select) {
    select.value = target;
    select.addEventListener("change", () => { chooseTarget(select.value); redraw(); });
  }
  for (const key of ["flash", "time"]) {
    const input = document.getElementById(`${key}-limit`);
    input?.addEventListener("input", () => { chosen[key] = limit(input.value, key === "flash" ? 1024 : 1000); changed(); });
  }
  document.getElementById("reset").addEventListener("click", () => {
    data.studies.forEach((_, k) => chosen.studies.add(k));
    data.families.forEach((_, k) => chosen.families.add(k));
    chosen.flash = chosen.time = Infinity;
    document.querySelectorAll(".controls input").forEach((input) => { input.value = ""; });
    document.querySelectorAll(".chips").forEach((box) => box.dispatchEvent(new Event("shown")));
    redraw();
  });
  const turn = (by) => { table.first += by; drawRows(); document.getElementById("trials").scrollIntoView(); };
  document.getElementById("before").addEventListener("click", () => turn(-PAGE));
  document.getElementById("after").addEventListener("click", () => turn(PAGE));
  for (const kind of ["csv", "json"]) document.getElementById(`get-${kind}`).addEventListener("click", () => download(kind));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const now = page.dataset.theme ?? (dark.matches ? "dark" : "light");
    page.dataset.theme = now === "dark" ? "light" : "dark";
    redraw();
  });
  dark.addEventListener("change", redrawSoon);
  for (const box of document.querySelectorAll("details.command-of")) {
    const code = box.querySelector("pre");
    code.after(copyButton(() => code.textContent));
  }
  addEventListener("resize", markWide);
  chooseTarget(target);
  await redraw();
};
// Interface for tests: time of readiness, number of marks of a plot, position of a trial.
window.bnccReport = {
  ready: null,
  marks: (k, name) => {
    const find = (group) => group.items.flatMap((item) => (item.items ?? []).flatMap((mark) => (mark.name === name ? mark.items : [])));
    return find(views[k].view.scenegraph().root).length;
  },
  place: (k, number) => {
    const { box, view, places } = views[k];
    const canvas = box.querySelector("canvas").getBoundingClientRect();
    for (let at = 0; at < places.length; at += 3) {
      if (cells.number[places[at]] === number) {
        return [canvas.left + view.origin()[0] + view.padding().left + places[at + 1], canvas.top + view.origin()[1] + view.padding().top + places[at + 2]];
      }
    }
    return null;
  },
};
start().then(() => { window.bnccReport.ready = performance.now(); });
