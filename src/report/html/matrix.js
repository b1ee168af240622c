// The matrix: requirements × targets, a group a folder. One grid, of which one cell at a time is in the tab order.

/** A mark for the eye alone; whoever uses it says it in words too. */
const glyph = (name) => el("span", { class: `mark ${classOf(name)}`, "aria-hidden": "true" }, GLYPHS[name]);

/** A share, rounded, but 100 % only for all of it, and 0 % only for nothing. */
const percent = (share) => {
  if (share === 1) return "100 %";
  const rounded = Math.min(Math.max(Math.round(share * 1000), share > 0 ? 1 : 0), 999);
  return `${(rounded / 10).toFixed(1)} %`;
};

/** Draws the matrix of a filter, and says how much it shows. */
function matrix(filter) {
  const found = cells(filter.test);
  const whole = filter.text ? cells(filter.spoken) : found;
  const columns = filter.columns;
  const wide = columns.length <= 3;
  const table = el("table", { role: "grid", "aria-label": "Requirements and targets", class: wide ? "roomy" : "" });
  table.style.setProperty("--columns", columns.length);
  table.append(head(columns));
  const shown = { rows: 0, cells: 0, columns: columns.length };
  const context = { found, whole, filter, wide };
  const ranked = ranks(found, columns);
  const folders = FOLDERS.map((folder) => {
    const rows = [...ROWS.keys()].filter((row) => ROWS[row].folder === folder && isShown(row, found, filter));
    return { folder, rows: rows.sort((a, b) => ranked[a] - ranked[b] || a - b) };
  });
  const there = folders.filter(({ rows }) => rows.length).sort((a, b) => ranked[a.rows[0]] - ranked[b.rows[0]]);
  for (const { rows } of there) {
    shown.rows += rows.filter((row) => !ROWS[row].unjudged).length;
    for (const row of rows) shown.cells += columns.filter((target) => isSought(markOf(found, row * TARGETS.length + target), filter)).length;
  }
  const holds = ({ folder, rows }) => filter.folds && !UNFOLDED.has(folder) && ranked[rows[0]] >= HOLDS;
  for (const { folder, rows } of there.filter((one) => !holds(one))) table.append(group(folder, rows, ranked, context));
  const calm = there.filter(holds);
  if (calm.length) table.append(foldedGroups(calm, ranked, context));
  table.querySelector("td[data-cell]")?.setAttribute("tabindex", "0");
  return { table, shown };
}

const isSought = (mark, filter) => mark !== "none" && (!filter.any || filter.mark(mark));

/** The rank from which on every check of a row holds. */
const HOLDS = 1e6;

/** The order of rows: violations by their gravity, other findings, and rows of which every check holds. */
function ranks(found, columns) {
  return ROWS.map((one, row) => {
    const worst = columns.map((target) => found.worst[row * TARGETS.length + target]);
    const order = one.unjudged ? 99 : gravity(row);
    const few = 99 - Math.min(worst.filter(isViolation).length, 99);
    if (worst.some(isViolation)) return order * 100 + few;
    return (worst.some((rank) => rank >= 0 && isFinding(rank)) ? HOLDS / 2 : HOLDS) + order * 100;
  });
}

/** The folders that the reader unfolded; empty text is for the folders of which everything holds. */
const UNFOLDED = new Set();

/** A row with a button, which gives way to what it stands for. */
function fold(words, key, make) {
  const button = el("button", { type: "button", class: "unfold" }, words);
  const line = el("tr", { role: "row", class: "fold" }, el("td", { role: "gridcell" }, button));
  button.addEventListener("click", () => {
    UNFOLDED.add(key);
    make(line);
  });
  return line;
}

/** The folders of which every requirement holds, in one line. */
function foldedGroups(calm, ranked, context) {
  const names = calm.map(({ folder }) => folder).join(", ");
  const words = `${count(calm.length, "area")} in which every check of the shown targets holds: ${names}`;
  const body = el("tbody", { role: "rowgroup" });
  const line = fold(words, "", () => {
    for (const { folder } of calm) UNFOLDED.add(folder);
    const groups = calm.map(({ folder, rows }) => group(folder, rows, ranked, context));
    body.replaceWith(...groups);
    groups[0].querySelector("td[data-cell]")?.focus();
  });
  body.append(line);
  return body;
}

/** A row is shown where a column of it has what is looked for. */
function isShown(row, found, filter) {
  if (!filter.row(row)) return false;
  const marks = filter.columns.map((target) => markOf(found, row * TARGETS.length + target));
  const asked = marks.some((mark) => mark !== "none");
  if (!asked) return false;
  if (filter.changed && !filter.columns.some((target) => trend(found, row, target))) return false;
  return !filter.any || marks.some((mark) => mark !== "none" && filter.mark(mark));
}

function head(columns) {
  const names = columns.map((target) => {
    const { id, version, title } = TARGETS[target];
    const said = [id, version].filter(Boolean).map(plain).join(" ");
    const short = version?.trim().split(/\s+/).at(-1);
    return el("th", { scope: "col", role: "columnheader", title: plain(`${said}: ${title ?? id}`) }, el("span", {}, id, short && el("small", {}, short)));
  });
  const first = el("th", { scope: "col", role: "columnheader" }, "Requirement");
  return el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, first, names));
}

/** A folder: its name with the share that holds, then its requirements. */
function group(folder, rows, ranked, { found, whole, filter, wide }) {
  const body = el("tbody", { role: "rowgroup", id: `area-${plain(folder)}` });
  body.style.setProperty("--rows", rows.length);
  // Of what is looked for by words or verdicts a share would mislead: it is that of the folder.
  const judged = [...ROWS.keys()].filter((row) => ROWS[row].folder === folder && !ROWS[row].unjudged && filter.row(row));
  const shares = filter.columns.map((target) => {
    const { held, asked, tested } = shareOf(judged, target, whole);
    const share = asked ? percent(held / asked) : "–";
    const said = `${held} of ${count(asked, "check")} hold, ${tested} of ${count(judged.length, "requirement")} tested`;
    const named = { role: "gridcell", class: "share", "aria-label": said, title: said, "data-target": plain(TARGETS[target].name) };
    return el("td", named, share, el("small", {}, `${tested}/${judged.length}`));
  });
  const name = el("th", { scope: "rowgroup", role: "rowheader" }, folder, el("small", {}, "checks that hold · requirements tested"));
  body.append(el("tr", { role: "row", class: "group" }, name, shares));
  const folds = filter.folds && !UNFOLDED.has(folder);
  const calm = rows.filter((row) => folds && ranked[row] >= HOLDS);
  for (const row of rows) if (!calm.includes(row)) body.append(line(row, found, filter, wide));
  const words = `${count(calm.length, "requirement")} of which every check of the shown targets holds`;
  const unfold = (button) => {
    const lines = calm.map((row) => line(row, found, filter, wide));
    button.replaceWith(...lines);
    lines[0].querySelector("td[data-cell]")?.focus();
  };
  if (calm.length) body.append(fold(words, folder, unfold));
  return body;
}

/** How many checks of these rows hold, how many were asked, and how many rows have one that was decided. */
function shareOf(rows, target, found) {
  const share = { held: 0, asked: 0, tested: 0 };
  for (const row of rows) {
    const cell = row * TARGETS.length + target;
    share.held += found.held[cell];
    share.asked += found.asked[cell];
    if (found.decided[cell]) share.tested += 1;
  }
  return share;
}

function line(row, found, filter, wide) {
  const one = ROWS[row];
  const name = one.unjudged ? "observed, not judged" : one.id.slice(one.folder.length + 1) || one.id;
  const title = el("span", { class: "name" }, name, one.level && el("span", { class: `level ${plain(one.level).split(" ")[0]}` }, one.level));
  const head = el("th", { scope: "row", role: "rowheader" }, title, one.quote && el("q", {}, one.quote));
  const made = el("tr", { role: "row", "data-row": row }, head);
  for (const target of filter.columns) made.append(cellOf(row, target, found, filter, wide));
  return made;
}

function cellOf(row, target, found, filter, wide) {
  const cell = row * TARGETS.length + target;
  const mark = markOf(found, cell);
  const made = document.createElement("td");
  made.setAttribute("role", "gridcell");
  made.dataset.target = plain(TARGETS[target].name);
  if (mark === "none") {
    made.className = "none";
    made.setAttribute("aria-label", LABELS.none);
    return made;
  }
  made.tabIndex = -1;
  made.dataset.cell = cell;
  const change = trend(found, row, target);
  made.className = `${classOf(mark)}${isSought(mark, filter) ? "" : " faded"}`;
  const changed = change ? `, ${change > 0 ? "better" : "worse"} than ${plain(TARGETS[target - 1].version ?? "before")}` : "";
  made.setAttribute("aria-label", `${cellLabel(found, cell)}${changed}`);
  const bad = found.bad[cell];
  made.append(glyph(mark));
  if (wide) made.append(el("span", { class: "word" }, bad ? `${mark} ${bad} of ${found.checks[cell]}` : labelOf(mark)));
  else if (bad) made.append(el("small", { "aria-hidden": "true" }, bad));
  if (change) made.append(el("span", { class: "trend", "aria-hidden": "true" }, change > 0 ? "▲" : "▼"));
  return made;
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Arrows, Home, End and the pages move through the grid; Enter and the space bar open a cell, and so does a click. */
function operate(holder, open) {
  const cellAt = (event) => event.target.closest?.("td[data-cell]");
  holder.addEventListener("click", (event) => cellAt(event) && open(cellAt(event)));
  holder.addEventListener("focusin", (event) => cellAt(event) && rove(holder, cellAt(event)));
  holder.addEventListener("keydown", (event) => {
    const cell = cellAt(event);
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = event.key === "Enter" || event.key === " " ? undefined : neighbour(cell, event.key);
    if (next === null) return;
    event.preventDefault();
    if (next) next.focus();
    else open(cell);
  });
}

/** Where a key leads: a cell, or `null` where it leads nowhere. */
function neighbour(cell, key) {
  const row = cell.parentElement;
  const across = [...row.querySelectorAll("td[data-cell]")];
  if (key === "Home") return across[0];
  if (key === "End") return across.at(-1);
  const [down, right] = STEPS[key] ?? (key === "PageDown" ? [10, 0] : key === "PageUp" ? [-10, 0] : [0, 0]);
  if (right) return across[across.indexOf(cell) + right] ?? cell;
  if (!down) return null;
  const column = cell.cellIndex;
  const rows = [...row.closest("table").rows];
  const line = rows.filter((one) => one.cells[column]?.dataset.cell);
  return line[Math.min(Math.max(line.indexOf(row) + down, 0), line.length - 1)].cells[column];
}

function rove(holder, cell) {
  holder.querySelector('td[tabindex="0"]')?.setAttribute("tabindex", "-1");
  cell.setAttribute("tabindex", "0");
}

/** Stacks the rows where the columns don't fit beside their sentences, as wide as the page happens to be. */
function keepFitting(holder) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const fit = () => {
    const table = holder.querySelector("table");
    const columns = Number(table?.style.getPropertyValue("--columns"));
    const needed = 17 + columns * (table?.classList.contains("roomy") ? 9 : 2.6);
    table?.classList.toggle("stacked", holder.clientWidth < needed * rem);
  };
  new ResizeObserver(fit).observe(holder);
  return fit;
}
