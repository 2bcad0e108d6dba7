// Draws the charts of a report, filters them and the tables by the words in the box, sorts tables, copies commands.
// All text reaches the page through textContent: names from files are never parsed as HTML.
"use strict";
(() => {
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const HEIGHT = 250;
  const GAP = 18; // between panels, as in the style sheet
  const MARGIN = { top: 24, right: 10, bottom: 30, left: 64 };
  const ROW_LETTERS = 34; // of a label along the y axis; a longer one has two rows
  const hiddenSeries = report.figures.map(() => new Set());
  let words = [];

  // Small helpers.

  function make(parent, name, attributes = {}, text = null) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== null) element.textContent = text;
    parent.append(element);
    return element;
  }

  function html(parent, name, className = "", text = null) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== null) element.textContent = text;
    parent.append(element);
    return element;
  }

  const unique = (rows, column) => (column === null ? [null] : [...new Set(rows.map((row) => row[column]))]);
  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
  // An error bar of a positive value does not reach below zero, where such a value cannot lie.
  const lowEnd = (value, error) => (value > 0 ? Math.max(value - error, 0) : value - error);

  function shown(value, format) {
    if (value === null || value === undefined) return "–";
    if (!isNumber(value)) return String(value);
    if (format === "percent") return `${+(100 * value).toPrecision(3)} %`;
    if (format === "bytes") {
      for (const [name, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024]]) {
        if (value >= size) return `${+(value / size).toPrecision(4)} ${name}`;
      }
      return `${value} B`;
    }
    const size = Math.abs(value);
    if (size >= 1e6) return value.toExponential(2);
    if (size >= 1000) return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return String(+value.toPrecision(size >= 1 ? 4 : 3));
  }

  // A label as lines of at most so many letters, broken behind spaces where there are any; nothing is cut.
  const LINE_LETTERS = 22;
  function lines(text) {
    const found = [""];
    for (const word of text.split(/(?<=[\s])/)) {
      let rest = word;
      if (found[found.length - 1] && found[found.length - 1].length + word.trimEnd().length > LINE_LETTERS) found.push("");
      while (rest.trimEnd().length > LINE_LETTERS) {
        found[found.length - 1] += rest.slice(0, LINE_LETTERS);
        rest = rest.slice(LINE_LETTERS);
        found.push("");
      }
      found[found.length - 1] += rest;
    }
    return found.filter((line, k) => line || !k);
  }

  function label(svg, attributes, text) {
    const element = make(svg, "text", attributes);
    lines(text).forEach((line, k) => make(element, "tspan", { x: attributes.x, dy: k ? 12 : 0 }, line));
  }

  // Scales.

  function niceStep(span, count) {
    const rough = span / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
  }

  function linear(low, high, from, to, count) {
    const step = niceStep(high - low || Math.abs(high) || 1, count);
    const first = Math.floor(low / step + 1e-9) * step;
    const last = Math.ceil(high / step - 0.02) * step || step;
    const ticks = [];
    for (let k = 0; first + k * step <= last + step / 2; k++) ticks.push(+(first + k * step).toPrecision(12));
    const end = ticks[ticks.length - 1];
    const at = (value) => from + ((value - first) / (end - first || 1)) * (to - from);
    return { at, ticks };
  }

  function logarithmic(low, high, from, to) {
    const first = Math.log10(low) - 0.05;
    const last = Math.log10(high) + 0.05;
    const ticks = [];
    for (let power = Math.floor(first); power <= last; power++) {
      for (const digit of last - first < 1.5 ? [1, 2, 5] : [1]) {
        const tick = digit * 10 ** power;
        if (Math.log10(tick) >= first && Math.log10(tick) <= last) ticks.push(+tick.toPrecision(6));
      }
    }
    const at = (value) => from + ((Math.log10(value) - first) / (last - first || 1)) * (to - from);
    return { at, ticks };
  }

  function band(categories, from, to) {
    const step = (to - from) / categories.length;
    return { step, at: (value) => from + (categories.indexOf(value) + 0.5) * step };
  }

  // What belongs to a panel.

  function inPanel(value, chart, facet) {
    return chart.facet === null || !(chart.facet in value.at) || value.at[chart.facet] === facet;
  }

  function papersOf(figure, facet, rows) {
    return figure.paper.filter((value) => {
      if (!Object.keys(value.at).length || !inPanel(value, figure.chart, facet)) return false;
      if (!(figure.chart.x in value.at)) return rows.length > 0;
      return rows.some((row) => Object.entries(value.at).every(([key, v]) => row[key] === v));
    });
  }

  function extent(figure, rows, facets) {
    const chart = figure.chart;
    const values = [];
    if (chart.kind === "stacked") {
      const sums = new Map();
      for (const row of rows) {
        const key = JSON.stringify([row[chart.x], chart.facet && row[chart.facet]]);
        sums.set(key, (sums.get(key) || 0) + (row[chart.y] || 0));
      }
      values.push(...sums.values());
    } else {
      for (const row of rows) {
        if (!isNumber(row[chart.y])) continue;
        const error = (chart.error !== null && row[chart.error]) || 0;
        values.push(row[chart.y] + error, lowEnd(row[chart.y], error));
      }
    }
    for (const facet of facets) {
      const mine = chart.facet === null ? rows : rows.filter((row) => row[chart.facet] === facet);
      for (const value of papersOf(figure, facet, mine)) values.push(value.value);
    }
    if (chart.reference !== null) values.push(chart.reference);
    const good = values.filter((value) => isNumber(value) && (!chart.log_y || value > 0));
    if (!good.length) return [0, 1];
    let low = Math.min(...good);
    const high = Math.max(...good);
    const fromZero = chart.kind === "bars" || chart.kind === "stacked" || low < 0.6 * high;
    if (!chart.log_y && fromZero) low = Math.min(0, low);
    return [low, high];
  }

  // Drawing.

  function drawFigure(index) {
    const figure = report.figures[index];
    const section = document.getElementById(figure.id);
    const holder = section.querySelector(".panels");
    holder.replaceChildren();
    const chart = figure.chart;
    const hidden = hiddenSeries[index];
    const rows = figure.rows.filter((row) => rowMatches(figure, row) && !(chart.series && hidden.has(row[chart.series])));
    if (!rows.length) {
      html(holder, "p", "empty", "Nothing is left to draw.");
      return;
    }
    const series = unique(figure.rows, chart.series);
    const visible = series.filter((name) => chart.series === null || rows.some((row) => row[chart.series] === name));
    const facets = unique(rows, chart.facet);
    const total = holder.clientWidth || 760;
    const perPanel = Math.max(...facets.map((facet) => unique(facetRows(chart, rows, facet), chart.x).length));
    const group = chart.kind === "bars" ? visible.length : 1;
    const wish = MARGIN.left + MARGIN.right + Math.max(200, perPanel * (group * 15 + 20));
    const columns = Math.max(1, Math.min(facets.length, Math.floor((total + GAP) / (wish + GAP))));
    const width = Math.min(total, Math.max(Math.floor((total - GAP * (columns - 1)) / columns), 240));
    if (chart.kind === "heat") {
      for (const facet of facets) drawHeat(holder, figure, facet, facetRows(chart, rows, facet), Math.min(total, 520));
      return;
    }
    const colour = new Map(series.map((name, k) => [name, report.palette[k % report.palette.length]]));
    const view = { figure, chart, visible, colour, width, domain: extent(figure, rows, facets) };
    for (const facet of facets) {
      const mine = facetRows(chart, rows, facet);
      drawPanel(holder, chart.own_axes ? { ...view, domain: extent(figure, mine, [facet]) } : view, facet, mine);
    }
  }

  const facetRows = (chart, rows, facet) => (chart.facet === null ? rows : rows.filter((r) => r[chart.facet] === facet));

  function drawPanel(holder, view, facet, rows) {
    const { chart, width, figure } = view;
    const categories = unique(rows, chart.x);
    const labels = categories.map((value) => shown(value, chart.x_format));
    const room = (width - MARGIN.left - MARGIN.right) / categories.length;
    const numericX = (chart.kind === "lines" || chart.kind === "scatter") && categories.every(isNumber);
    const longest = Math.max(...labels.flatMap((label) => lines(label).map((line) => line.length)));
    const most = Math.max(...labels.map((label) => lines(label).length));
    const tilted = !numericX && longest * 6.2 > room - 4;
    const bottom = MARGIN.bottom + (tilted ? longest * 4.2 : 0) + (most - 1) * 12 + (chart.x_label ? 16 : 0);
    const height = HEIGHT + bottom - MARGIN.bottom;
    const title = `${figure.title}${facet === null ? "" : `, ${facet}`}`;
    const svg = make(holder, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
    const floor = height - bottom;
    const [low, high] = view.domain;
    const y = chart.log_y ? logarithmic(low, high, floor, MARGIN.top) : linear(low, high, floor, MARGIN.top, 5);
    for (const tick of y.ticks) {
      make(svg, "line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y.at(tick), y2: y.at(tick) });
      make(svg, "text", { x: MARGIN.left - 7, y: y.at(tick) + 4, "text-anchor": "end" }, shown(tick, chart.y_format));
    }
    if (facet !== null) make(svg, "text", { class: "title", x: MARGIN.left, y: 12 }, shown(facet, "number"));
    const scale = numericX ? xNumeric(chart, categories, width) : band(categories, MARGIN.left, width - MARGIN.right);
    xLabels(svg, { chart, numericX, scale, categories, labels, tilted, floor, width, height });
    const panel = { ...view, svg, rows, scale, y, floor, facet, categories };
    if (chart.reference !== null) {
      const at = y.at(chart.reference);
      make(svg, "line", { class: "reference-line", x1: MARGIN.left, x2: width - MARGIN.right, y1: at, y2: at });
    }
    ({ bars: drawBars, stacked: drawStacked, lines: drawLines, scatter: drawLines })[chart.kind](panel);
    drawPaper(panel);
    if (chart.y_label) {
      const middle = (MARGIN.top + floor) / 2;
      const rows = chart.axis_label.length > ROW_LETTERS && chart.better ? [chart.y_label, `(${chart.better} is better)`] : [chart.axis_label];
      rows.forEach((row, k) => {
        const x = 9 + 13 * k;
        make(svg, "text", { x, y: middle, "text-anchor": "middle", transform: `rotate(-90 ${x} ${middle})` }, row);
      });
    }
  }

  // A cell's colour lies between loss, neither and gain, on a logarithmic scale (heat_map.py).
  function shade(value, reference) {
    const at = value > 0 ? Math.min(1, Math.max(-1, Math.log(value / reference) / Math.log(report.heat.factor))) : -1;
    const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
    const [low, middle, high] = report.heat.colours.map(channels);
    const mixed = middle.map((c, k) => Math.round(c + Math.abs(at) * ((at < 0 ? low : high)[k] - c)));
    return { fill: `rgb(${mixed.join(",")})`, text: Math.abs(at) > 0.72 ? "#fff" : "#1f2430" };
  }

  function drawHeat(holder, figure, facet, rows, width) {
    const chart = figure.chart;
    const [columns, names] = [unique(rows, chart.x), unique(rows, chart.series)];
    const [left, top, tall] = [130, 40, 34];
    const wide = (width - left) / columns.length;
    const height = top + names.length * tall;
    const title = `${figure.title}${facet === null ? "" : `, ${facet}`}`;
    const svg = make(holder, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
    if (facet !== null) make(svg, "text", { class: "title", x: 0, y: 12 }, shown(facet, "number"));
    columns.forEach((column, k) => {
      make(svg, "text", { x: left + (k + 0.5) * wide, y: top - 8, "text-anchor": "middle" }, shown(column, chart.x_format));
    });
    names.forEach((name, k) => {
      make(svg, "text", { x: left - 7, y: top + (k + 0.5) * tall + 4, "text-anchor": "end" }, shown(name, "number"));
    });
    for (const row of rows) {
      const x = left + columns.indexOf(row[chart.x]) * wide;
      const y = top + names.indexOf(chart.series === null ? null : row[chart.series]) * tall;
      const { fill, text } = shade(row[chart.y], chart.reference ?? 1);
      const cell = make(svg, "rect", { class: "cell", x: x + 1, y: y + 1, width: wide - 2, height: tall - 2, fill });
      explain(cell, { chart, facet }, row);
      const said = chart.mark === null ? [] : String(row[chart.mark]).split("\n");
      said.forEach((line, k) => {
        const at = y + tall / 2 + 4 + (k - (said.length - 1) / 2) * 13;
        make(svg, "text", { x: x + wide / 2, y: at, "text-anchor": "middle", style: `fill:${text};pointer-events:none` }, line);
      });
    }
  }

  function xNumeric(chart, values, width) {
    const low = Math.min(...values);
    const high = Math.max(...values);
    const from = MARGIN.left + 14;
    const to = width - MARGIN.right - 22;
    if (chart.log_x && low > 0) {
      const at = (value) => from + (Math.log(value / low) / (Math.log(high / low) || 1)) * (to - from);
      return { at, step: 20 };
    }
    return { at: (value) => from + ((value - low) / (high - low || 1)) * (to - from), step: 20 };
  }

  function xLabels(svg, { chart, numericX, scale, categories, labels, tilted, floor, width, height }) {
    make(svg, "line", { class: "axis", x1: MARGIN.left, x2: width - MARGIN.right, y1: floor, y2: floor });
    let free = -Infinity;
    const order = numericX ? [...categories.keys()].sort((a, b) => categories[a] - categories[b]) : categories.keys();
    for (const k of order) {
      const x = scale.at(categories[k]);
      if (numericX && x - labels[k].length * 3.2 < free) continue;
      free = x + labels[k].length * 3.2 + 4;
      if (tilted) {
        label(svg, { x, y: floor + 14, "text-anchor": "end", transform: `rotate(-38 ${x} ${floor + 10})` }, labels[k]);
      } else {
        label(svg, { x, y: floor + 16, "text-anchor": "middle" }, labels[k]);
      }
    }
    if (chart.x_label) {
      make(svg, "text", { x: (MARGIN.left + width) / 2, y: height - 3, "text-anchor": "middle" }, chart.x_label);
    }
  }

  function barPlace(panel, row) {
    const { chart, scale, visible } = panel;
    const group = chart.kind === "bars" ? visible.length : 1;
    const full = Math.min(scale.step * 0.8, 46 * group);
    const width = full / group;
    const shift = chart.kind === "bars" && chart.series !== null ? visible.indexOf(row[chart.series]) : 0;
    return { x: scale.at(row[chart.x]) - full / 2 + shift * width, width };
  }

  function drawBars(panel) {
    const { chart, svg, rows, y, colour } = panel;
    // On a logarithmic axis ratios leave from their reference: up for a gain, down for a loss.
    const zero = !chart.log_y ? y.at(0) : chart.reference !== null ? y.at(chart.reference) : panel.floor;
    for (const row of rows) {
      if (!isNumber(row[chart.y])) continue;
      const { x, width } = barPlace(panel, row);
      const top = y.at(row[chart.y]);
      const gap = width > 6 ? 1.5 : 0.5;
      const bar = make(svg, "rect", {
        class: "bar", x: x + gap / 2, width: width - gap, y: Math.min(top, zero), height: Math.abs(zero - top),
        fill: colour.get(chart.series === null ? null : row[chart.series]), rx: 1.5,
      });
      explain(bar, panel, row);
      whisker(panel, row, x + width / 2);
      const text = shown(row[chart.y], chart.y_format);
      if (width > text.length * 6 && chart.error === null) {
        make(svg, "text", { class: "value", x: x + width / 2, y: Math.min(top, zero) - 4, "text-anchor": "middle" }, text);
      }
    }
  }

  function drawStacked(panel) {
    const { chart, svg, rows, y, colour, visible, categories } = panel;
    for (const category of categories) {
      let base = 0;
      for (const name of visible) {
        for (const row of rows.filter((r) => r[chart.x] === category && (chart.series === null || r[chart.series] === name))) {
          const value = row[chart.y] || 0;
          const { x, width } = barPlace(panel, row);
          const top = y.at(base + value);
          const bar = make(svg, "rect", { class: "bar", x, width, y: top, height: y.at(base) - top, fill: colour.get(name) });
          explain(bar, panel, row);
          base += value;
        }
      }
    }
  }

  function drawLines(panel) {
    const { chart, svg, rows, y, scale, colour, visible } = panel;
    for (const name of visible) {
      const mine = rows.filter((row) => (chart.series === null || row[chart.series] === name) && isNumber(row[chart.y]));
      const points = mine.map((row) => [scale.at(row[chart.x]), y.at(row[chart.y])]);
      if (chart.kind === "lines" && points.length > 1) {
        const d = points.map(([px, py], k) => `${k ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("");
        make(svg, "path", { class: "line", d, fill: "none", stroke: colour.get(name), "stroke-width": 2 });
      }
      mine.forEach((row, k) => {
        whisker(panel, row, points[k][0]);
        const dot = make(svg, "circle", { class: "dot", cx: points[k][0], cy: points[k][1], r: 4, fill: colour.get(name) });
        explain(dot, panel, row);
      });
    }
  }

  function whisker(panel, row, x) {
    const { chart, svg, y } = panel;
    const error = chart.error === null ? 0 : row[chart.error];
    if (!isNumber(error) || error <= 0) return;
    const low = chart.log_y ? Math.max(row[chart.y] - error, row[chart.y] * 1e-3) : lowEnd(row[chart.y], error);
    const [top, bottom] = [y.at(row[chart.y] + error), y.at(low)];
    const d = `M${x} ${top}V${bottom}M${x - 3} ${top}H${x + 3}M${x - 3} ${bottom}H${x + 3}`;
    make(svg, "path", { class: "whisker", d, fill: "none" });
  }

  function drawPaper(panel) {
    const { figure, chart, svg, rows, y, scale, facet, width } = panel;
    for (const value of papersOf(figure, facet, rows)) {
      const at = y.at(value.value);
      if (!(chart.x in value.at)) {
        make(svg, "line", { class: "paper-line", x1: MARGIN.left, x2: width - MARGIN.right, y1: at, y2: at });
        const text = `paper ${shown(value.value, chart.y_format)}`;
        make(svg, "text", { class: "paper", x: width - MARGIN.right, y: at - 4, "text-anchor": "end" }, text);
        continue;
      }
      const row = rows.find((r) => Object.entries(value.at).every(([key, v]) => r[key] === v));
      let x = scale.at(row[chart.x]);
      if (chart.kind === "bars" || chart.kind === "stacked") {
        const place = barPlace(panel, row);
        x = place.x + place.width / 2;
      }
      const mark = make(svg, "path", { class: "paper-mark", d: `M${x} ${at - 6}l5 6l-5 6l-5-6z` });
      hover(mark, value.claim, [["paper", shown(value.value, chart.y_format)], ["ours", shown(value.ours, chart.y_format)]]);
    }
  }

  // Tooltips.

  const tooltip = html(document.body, "div", "tooltip");
  tooltip.hidden = true;

  function hover(element, title, lines) {
    element.addEventListener("pointermove", (event) => {
      tooltip.replaceChildren();
      html(tooltip, "b", "", title);
      for (const [name, text] of lines) html(tooltip, "div", "", `${name}: ${text}`);
      tooltip.hidden = false;
      const left = Math.min(event.clientX + 14, window.innerWidth - tooltip.offsetWidth - 8);
      tooltip.style.left = `${left}px`;
      tooltip.style.top = `${Math.max(8, event.clientY - tooltip.offsetHeight - 12)}px`;
    });
    element.addEventListener("pointerleave", () => { tooltip.hidden = true; });
  }

  function explain(element, { chart, facet }, row) {
    const title = [facet, chart.series && shown(row[chart.series], chart.series_format), shown(row[chart.x], chart.x_format)].filter((t) => t !== null);
    const lines = [[chart.y_label || chart.y, shown(row[chart.y], chart.y_format)]];
    if (chart.error !== null && isNumber(row[chart.error])) lines.push(["±", shown(row[chart.error], chart.y_format)]);
    hover(element, title.join(" · "), lines);
  }

  // Legend.

  function drawLegend(index) {
    const figure = report.figures[index];
    const holder = document.getElementById(figure.id).querySelector(".legend");
    if (figure.chart.kind === "heat") html(holder, "span", "", figure.chart.x_label);
    else if (figure.chart.series !== null) {
      unique(figure.rows, figure.chart.series).forEach((name, k) => {
        const button = html(holder, "button");
        button.type = "button";
        button.setAttribute("aria-pressed", "true");
        html(button, "i").style.background = report.palette[k % report.palette.length];
        html(button, "span", "", shown(name, figure.chart.series_format));
        button.addEventListener("click", () => {
          const hidden = hiddenSeries[index];
          if (!hidden.delete(name)) hidden.add(name);
          button.setAttribute("aria-pressed", String(!hidden.has(name)));
          drawFigure(index);
        });
      });
    }
    if (!figure.paper.some((value) => Object.keys(value.at).length)) return;
    const entry = html(holder, "span");
    const across = figure.paper.every((value) => !(figure.chart.x in value.at));
    const svg = make(entry, "svg", { width: 16, height: 12 });
    if (across) make(svg, "path", { d: "M0 6h16", stroke: "currentColor", "stroke-dasharray": "4 3" });
    else make(svg, "path", { d: "M8 0l5 6l-5 6l-5-6z", fill: "none", stroke: "currentColor", "stroke-width": 1.5 });
    html(entry, "span", "", "paper");
  }

  // The filter.

  const has = (text) => words.every((word) => text.includes(word));
  const rowMatches = (figure, row) => !words.length || has(`${figure.text} ${row._text}`);

  function applyFilter() {
    words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    let figures = 0;
    let rows = 0;
    report.figures.forEach((figure, index) => {
      const section = document.getElementById(figure.id);
      let found = 0;
      for (const line of section.querySelectorAll("tr[data-row]")) {
        line.hidden = !rowMatches(figure, figure.rows[Number(line.dataset.row)]);
        found += !line.hidden;
      }
      let claims = 0;
      for (const line of section.querySelectorAll("table.comparison tbody tr")) {
        line.hidden = words.length > 0 && !has(`${figure.text} ${line.textContent.toLowerCase()}`);
        claims += !line.hidden;
      }
      for (const table of section.querySelectorAll("table.comparison")) table.hidden = !claims;
      section.hidden = found + claims === 0;
      const link = document.querySelector(`nav.contents a[href="#${CSS.escape(figure.id)}"]`);
      if (link) link.parentElement.hidden = section.hidden;
      figures += !section.hidden;
      rows += found;
      if (!section.hidden) drawFigure(index);
    });
    for (const line of document.querySelectorAll("section.about tbody tr")) {
      line.hidden = words.length > 0 && !has(line.textContent.toLowerCase());
    }
    const output = document.getElementById("found");
    output.textContent = words.length ? `${figures} of ${report.figures.length} figures, ${rows} rows` : "";
  }

  // Tables and commands.

  function sortTable(header) {
    const table = header.closest("table");
    const column = [...header.parentElement.children].indexOf(header);
    const down = header.getAttribute("aria-sort") === "ascending";
    for (const other of header.parentElement.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => row.children[column].dataset.value ?? row.children[column].textContent;
    const compare = (a, b) => {
      const [one, two] = [key(a), key(b)];
      const numbers = one !== "" && two !== "" && !Number.isNaN(+one) && !Number.isNaN(+two);
      return (numbers ? one - two : one.localeCompare(two)) * (down ? -1 : 1);
    };
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort(compare));
  }

  async function copy(button) {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.command);
      button.textContent = "copied";
    } catch {
      window.prompt("Copy the command", button.dataset.command);
    }
    window.setTimeout(() => { button.textContent = before; }, 1200);
  }

  document.addEventListener("click", (event) => {
    const header = event.target.closest("th.sortable");
    if (header) sortTable(header);
    const button = event.target.closest("button.copy");
    if (button) copy(button);
  });
  document.getElementById("filter").addEventListener("input", applyFilter);
  document.querySelector(".toolbar form").addEventListener("submit", (event) => event.preventDefault());
  report.figures.forEach((_, index) => drawLegend(index));
  applyFilter();
  let waiting = 0;
  let lastWidth = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === lastWidth) return;
    lastWidth = window.innerWidth;
    window.clearTimeout(waiting);
    waiting = window.setTimeout(applyFilter, 120);
  });
  document.documentElement.dataset.drawn = "yes";
})();
