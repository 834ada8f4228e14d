// Hover card: configuration, figures and command of a trial.
const card = document.getElementById("hover");
let pinned = false;

const fill = (row) => {
  const copy = copyButton(() => command(row));
  card.replaceChildren(
    element("div", { className: "who" }, glyph(family(row)), settings(row), element("small", {
      textContent: (data.studies.length > 1 ? `${data.studies[cells.study[row]]}, ` : "") + `trial ${cells.number[row]}`,
    })),
    figures(row),
    typed(command(row)),
    copy,
    element("p", { className: "hint", textContent: "Click to keep this card and copy the command." }),
  );
  copy.style.marginTop = "8px";
};

const place = (x, y) => {
  const { width, height } = card.getBoundingClientRect();
  const left = x + 16 + width < innerWidth - 8 ? x + 16 : Math.max(8, x - 16 - width);
  const top = Math.min(Math.max(8, y - height / 2), innerHeight - height - 8);
  card.style.transform = `translate(${Math.max(8, Math.min(left, innerWidth - width - 8))}px, ${Math.max(8, top)}px)`;
};

const show = (row, x, y) => {
  if (card.hidden || card.dataset.row !== String(row)) fill(row);
  card.dataset.row = row;
  card.hidden = false;
  place(x, y);
  ring(row);
};
const hide = () => {
  pinned = false;
  card.classList.remove("pinned");
  card.hidden = true;
  ring(-1);
};
const pin = (row, box) => {
  hide();
  show(row, box.right, (box.top + box.bottom) / 2);
  pinned = true;
  card.classList.add("pinned");
  place(box.right, (box.top + box.bottom) / 2);
};

const listen = (plot) => {
  let down = null;
  plot.box.addEventListener("pointermove", (event) => {
    if (pinned || event.buttons) return;
    const row = nearest(plot, event);
    if (row < 0) hide();
    else show(row, event.clientX, event.clientY);
  });
  plot.box.addEventListener("pointerleave", () => { if (!pinned) hide(); });
  plot.box.addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY]; if (!pinned) hide(); });
  plot.box.addEventListener("click", (event) => {
    if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return;
    const row = nearest(plot, event);
    if (row < 0) return;
    event.stopPropagation();
    pin(row, { right: event.clientX, top: event.clientY, bottom: event.clientY });
  });
};
document.addEventListener("click", (event) => { if (pinned && !card.contains(event.target)) hide(); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
addEventListener("scroll", () => { if (!card.hidden) hide(); }, { passive: true });
