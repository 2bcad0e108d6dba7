// Filters runs, and draws two of them side by side. All text reaches the page through textContent.
"use strict";
(() => {
  const { runs, palette } = JSON.parse(document.getElementById("explorer-data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const MOST_ROWS = 200; // of the table; filters find the others
  const ALL = "\u0000all";
  const FILTERS = [["algorithm", "algorithm"], ["graph", "graph"], ["gpu", "GPU"], ["unit", "unit"], ["style", "style"]];
  const COLUMNS = [
    ["algorithm", "algorithm"], ["graph", "graph"], ["gpu", "GPU"], ["unit", "unit"], ["style", "style"],
    ["changed", "changed"], ["microseconds", "time, µs"], ["mteps", "MTEPS"], ["energy", "energy, mJ"], ["check", "check"],
  ];
  // Name, label, how to write it, and whether more is better (null: neither).
  const FIGURES = [
    ["microseconds", "time, µs", "number", false], ["mteps", "MTEPS", "number", true], ["energy", "energy, mJ", "number", false],
    ["power_watts", "power, W", "number", null], ["dram_bytes", "DRAM traffic", "bytes", false],
    ["bandwidth_utilisation", "of peak bandwidth", "percent", null], ["instructions_per_cycle", "warp instr. per cycle", "number", null],
    ["l1_hit_rate", "L1 hits", "percent", null], ["l2_hit_rate", "L2 hits", "percent", null],
    ["mean_load_latency_cycles", "load latency, cycles", "number", null], ["warp_instructions", "warp instructions", "number", false],
    ["transactions", "transactions", "number", false],
  ];
  const TRAFFIC = [["DRAM reads, sectors", 3], ["L2 sectors", 2], ["L1 transactions", 0], ["L1 read misses", 1]];
  const state = { filters: {}, words: "", sort: null, down: false, A: -1, B: -1, traffic: 0 };

  // Small helpers.

  function html(parent, name, className = "", text = null) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== null) element.textContent = text;
    parent.append(element);
    return element;
  }

  function svg(parent, name, attributes = {}, text = null) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== null) element.textContent = text;
    parent.append(element);
    return element;
  }

  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

  function shown(value, format = "number") {
    if (!isNumber(value)) return value === null || value === undefined ? "–" : String(value);
    if (format === "percent") return `${+(100 * value).toPrecision(3)} %`;
    if (format === "bytes") {
      for (const [name, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
        if (value >= size) return `${+(value / size).toPrecision(3)} ${name}`;
      }
      return `${value} B`;
    }
    const size = Math.abs(value);
    if (size >= 1000) return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return String(+value.toPrecision(3));
  }

  const figure = (run, name) => (name === "energy" ? (isNumber(run.energy) ? 1e3 * run.energy : null) : run.numbers[name]);
  const changes = (run) => Object.entries(run.changed).map(([key, value]) => `${key}=${value}`).join(", ");
  const cell = (run, name) => {
    if (name === "changed") return changes(run);
    return name in run && name !== "energy" ? run[name] : figure(run, name);
  };
  const words = runs.map((run) => [run.algorithm, run.graph, run.gpu, run.unit, run.style, changes(run)].join(" ").toLowerCase());

  const phases = [...new Set(runs.flatMap((run) => run.phases.map((phase) => phase.name)))];
  const phaseColour = (name) => palette[Math.max(phases.indexOf(name), 0) % palette.length];
  const parts = [...new Set(runs.flatMap((run) => Object.keys(run.joules || {})))];
  const STALLS = ["issue", "alu", "memory", "shared", "barrier", "lsu"];
  const IDLE = "no_warp"; // nothing to do: the light rest of the bar
  const stallNames = [...new Set([...STALLS, ...runs.flatMap((run) => Object.keys(run.stalls || {})).filter((name) => name !== IDLE), IDLE])];
  const colourIn = (names, name) => palette[names.indexOf(name) % palette.length];

  const tooltip = html(document.body, "div", "tooltip");
  tooltip.hidden = true;
  function hover(element, title, text) {
    element.addEventListener("pointermove", (event) => {
      tooltip.replaceChildren();
      html(tooltip, "b", "", title);
      html(tooltip, "div", "", text);
      tooltip.hidden = false;
      tooltip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tooltip.offsetWidth - 8)}px`;
      tooltip.style.top = `${Math.max(8, event.clientY - tooltip.offsetHeight - 12)}px`;
    });
    element.addEventListener("pointerleave", () => { tooltip.hidden = true; });
  }

  // Choosing.

  const passes = (run, index, except) => {
    if (FILTERS.some(([name]) => name !== except && name in state.filters && run[name] !== state.filters[name])) return false;
    return state.words.toLowerCase().split(/\s+/).filter(Boolean).every((word) => words[index].includes(word));
  };
  const matching = () => runs.map((_, index) => index).filter((index) => passes(runs[index], index, null));

  function drawChoices() {
    const form = document.getElementById("choose");
    if (!form.children.length) {
      for (const [name, label] of FILTERS) {
        const holder = html(form, "label", "", label);
        const select = html(holder, "select");
        select.dataset.filter = name;
        select.addEventListener("change", () => {
          if (select.value === ALL) delete state.filters[name];
          else state.filters[name] = select.value;
          chosen();
        });
      }
      const holder = html(form, "label", "", "words");
      const box = html(holder, "input");
      box.type = "search";
      box.placeholder = "l2.ways=8";
      box.addEventListener("input", () => { state.words = box.value; chosen(); });
      html(form, "output").id = "found";
      const clear = html(form, "button", "", "show all");
      clear.type = "button";
      clear.addEventListener("click", () => { state.filters = {}; state.words = box.value = ""; chosen(); });
      form.addEventListener("submit", (event) => event.preventDefault());
    }
    for (const select of form.querySelectorAll("select")) {
      const name = select.dataset.filter;
      const counts = new Map();
      runs.forEach((run, index) => {
        if (passes(run, index, name)) counts.set(run[name], (counts.get(run[name]) || 0) + 1);
      });
      if (name in state.filters && !counts.has(state.filters[name])) counts.set(state.filters[name], 0);
      select.replaceChildren();
      html(select, "option", "", "all").value = ALL;
      for (const value of [...counts.keys()].sort()) {
        const option = html(select, "option", "", `${value} (${counts.get(value)})`);
        option.value = value;
      }
      select.value = name in state.filters ? state.filters[name] : ALL;
      select.parentElement.hidden = new Set(runs.map((run) => run[name])).size < 2;
    }
  }

  // The table of runs.

  function ordered(indexes) {
    if (state.sort === null) return indexes;
    const key = (index) => cell(runs[index], state.sort);
    return [...indexes].sort((a, b) => {
      const [one, two] = [key(a), key(b)];
      if (!isNumber(one) || !isNumber(two)) {
        if (isNumber(one) !== isNumber(two)) return isNumber(one) ? -1 : 1;
        return String(one ?? "").localeCompare(String(two ?? "")) * (state.down ? -1 : 1);
      }
      return (one - two) * (state.down ? -1 : 1);
    });
  }

  function drawTable(indexes) {
    const table = document.querySelector("#runs table");
    const head = table.tHead;
    head.replaceChildren();
    const line = html(head, "tr");
    html(line, "th", "", "show");
    const used = COLUMNS.filter(([name]) => runs.some((run) => cell(run, name) !== undefined && cell(run, name) !== null && cell(run, name) !== ""));
    for (const [name, label] of used) {
      const numeric = runs.some((run) => isNumber(cell(run, name)));
      const th = html(line, "th", numeric ? "sortable number" : "sortable", label);
      if (state.sort === name) th.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      th.addEventListener("click", () => {
        state.down = state.sort === name && !state.down;
        state.sort = name;
        drawTable(matching());
      });
    }
    const body = table.tBodies[0];
    body.replaceChildren();
    for (const index of ordered(indexes).slice(0, MOST_ROWS)) {
      const run = runs[index];
      const row = html(body, "tr", index === state.A ? "side-A" : index === state.B ? "side-B" : "");
      row.dataset.run = index;
      const marks = html(row, "td");
      for (const side of ["A", "B"]) {
        const button = html(marks, "button", `mark ${side}`, side);
        button.type = "button";
        button.title = `Show this run as ${side}`;
        button.setAttribute("aria-pressed", String(state[side] === index));
        button.addEventListener("click", () => {
          state[side] = state[side] === index && side === "B" ? -1 : index;
          drawTable(matching());
          drawSides();
        });
      }
      for (const [name] of used) {
        const value = cell(run, name);
        html(row, "td", isNumber(value) ? "number" : name === "graph" ? "name" : name, shown(value));
      }
    }
    const more = indexes.length - MOST_ROWS;
    document.getElementById("more").textContent = more > 0 ? `${more} more: choose or sort to see them.` : "";
    document.getElementById("found").textContent = `${indexes.length} of ${runs.length} runs`;
  }

  // A pair to begin with: a run without a unit and one with, alike in everything else.

  function pick(indexes) {
    if (!indexes.length) return;
    const alike = (a, b) => ["algorithm", "graph", "gpu"].every((name) => a[name] === b[name]) && changes(a) === changes(b);
    for (const sameStyle of [true, false]) {
      for (const a of indexes.filter((index) => runs[index].unit === "none")) {
        const b = indexes.find((index) => runs[index].unit !== "none" && alike(runs[a], runs[index])
          && (!sameStyle || runs[a].style === runs[index].style));
        if (b !== undefined) {
          [state.A, state.B] = [a, b];
          return;
        }
      }
    }
    [state.A, state.B] = [indexes[0], indexes.length > 1 ? indexes[1] : -1];
  }

  function chosen() {
    const indexes = matching();
    if (!indexes.includes(state.A) || (state.B >= 0 && !indexes.includes(state.B))) pick(indexes);
    drawChoices();
    drawTable(indexes);
    drawSides();
  }

  // Two runs side by side.

  function drawSides() {
    const holder = document.getElementById("sides");
    holder.replaceChildren();
    const sides = ["A", "B"].filter((side) => state[side] >= 0).map((side) => ({ side, run: runs[state[side]] }));
    if (!sides.length) {
      html(holder, "p", "empty", "No run is left: choose less, or show all.");
      return;
    }
    verdict(holder, sides);
    pair(holder, null, sides, drawHead);
    pair(holder, ["Time by phase", "shorter is better; both sides have one scale"], sides, drawPhases);
    pair(holder, ["What the schedulers did", "share of their cycles: issuing, or waiting for what"], sides, drawStalls);
    trafficPanel(holder, sides);
    pair(holder, ["Energy by part, mJ", "shorter is better; both sides have one scale"], sides, drawEnergy);
    pair(holder, ["Timeline", "one block per launch or unit operation; its height is the bandwidth of the DRAM; both sides have the same scales"], sides, drawTimeline);
    const commands = sides.filter(({ run }) => run.command);
    if (commands.length) {
      const again = pair(holder, ["Run it again", ""], sides, (place, run) => {
        html(html(place, "pre"), "code", "", run.command || "not known: the result came from a file");
      });
      again.dataset.panel = "commands";
    }
  }

  function pair(holder, title, sides, draw) {
    if (title) {
      const head = html(holder, "h3", "panel-title", title[0]);
      html(head, "small", "", title[1]);
    }
    const grid = html(holder, "div", sides.length > 1 ? "pair" : "pair one");
    for (const { side, run } of sides) draw(html(grid, "div", `side ${side}`), run, side, sides);
    return grid;
  }

  function verdict(holder, sides) {
    if (sides.length < 2) return;
    const [a, b] = sides.map(({ run }) => run);
    const [one, two] = [a, b].map((run) => run.numbers.microseconds);
    if (!isNumber(one) || !isNumber(two) || !one || !two) return;
    const faster = one / two;
    const said = Math.abs(faster - 1) < 0.005 ? "B takes as long as A" :
      faster > 1 ? `B is ${shown(faster)} times as fast as A` : `B takes ${shown(1 / faster)} times as long as A`;
    let energy = "";
    if (isNumber(a.energy) && isNumber(b.energy) && b.energy) {
      const saved = a.energy / b.energy;
      const same = Math.abs(saved - 1) < 0.005;
      energy = same ? " and needs as much energy" : saved > 1 ? ` and needs ${shown(saved)} times less energy` : ` and needs ${shown(1 / saved)} times the energy`;
      if ((faster > 1) !== (saved > 1) && !same && Math.abs(faster - 1) >= 0.005) energy = energy.replace(" and", ", but");
    }
    const differs = FILTERS.filter(([name]) => a[name] !== b[name] && name !== "unit" && name !== "style").map(([, label]) => label);
    const note = differs.length ? ` The two differ in ${differs.join(" and ")}, so this is no comparison of units.` : "";
    html(holder, "p", "verdict", `${said}${energy}.${note}`);
  }

  function drawHead(place, run, side, sides) {
    const head = html(place, "div", `side-head ${side}`);
    const unit = run.unit === "none" ? "plain GPU" : run.unit;
    html(head, "b", "", `${side}: ${run.algorithm} on ${run.graph}, ${run.gpu}, ${unit}`);
    const facts = [`${run.style} style`, `${shown(run.nodes)} nodes, ${shown(run.edges)} arcs`, `check: ${run.check}`];
    if (changes(run)) facts.push(changes(run));
    html(head, "div", "sub", facts.join(" · "));
    if (run.warning) html(head, "div", "warning", `warning: ${run.warning}`);
    const grid = html(place, "div", "figures");
    const other = side === "B" ? sides[0].run : null;
    for (const [name, label, format, more] of FIGURES) {
      const value = figure(run, name);
      if (!isNumber(value)) continue;
      const item = html(grid, "div");
      html(item, "b", "", shown(value, format));
      html(item, "span", "", label);
      const before = other && figure(other, name);
      if (isNumber(before) && before) {
        const ratio = value / before;
        const level = Math.abs(ratio - 1) < 0.005 || more === null ? "" : (ratio > 1) === more ? "better" : "worse";
        html(item, "i", level, `${shown(ratio)} × A`);
      }
    }
  }

  // Bars: rows of [label, value, colour, tooltip]; `most` is the end of the scale.

  function bars(place, rows, most, format) {
    const grid = html(place, "div", "bars");
    for (const [label, value, colour, about] of rows) {
      html(grid, "span", "label", label);
      const track = html(grid, "div", "track");
      const bar = html(track, "i");
      bar.style.width = `${(100 * value) / (most || 1)}%`;
      bar.style.background = colour;
      hover(track, label, about || shown(value, format));
      html(grid, "span", "value", shown(value, format));
    }
  }

  const missing = (place, what) => html(place, "p", "empty", what);
  const largest = (sides, of) => Math.max(0, ...sides.flatMap(({ run }) => of(run)));

  function phaseValues(run, timed) {
    const sums = new Map();
    for (const phase of run.phases) {
      const value = (timed ? phase.microseconds : phase.instructions) || 0;
      const name = phase.name;
      const before = sums.get(name) || { value: 0, launches: 0, compaction: phase.compaction };
      sums.set(name, { ...before, value: before.value + value, launches: before.launches + (phase.launches || 0) });
    }
    return sums;
  }

  function drawPhases(place, run, side, sides) {
    const timed = sides.every(({ run: each }) => each.phases.some((phase) => isNumber(phase.microseconds)));
    const most = largest(sides, (each) => [...phaseValues(each, timed).values()].map((entry) => entry.value));
    const values = phaseValues(run, timed);
    const sum = [...values.values()].reduce((total, entry) => total + entry.value, 0);
    if (!timed) missing(place, "Not timed: these are warp instructions.");
    bars(place, [...values].map(([name, entry]) => [
      name + (entry.compaction ? " *" : ""), entry.value, phaseColour(name),
      `${shown(entry.value)} ${timed ? "µs" : "warp instructions"}, ${shown(entry.value / (sum || 1), "percent")}, ${shown(entry.launches)} launches`,
    ]), most, "number");
    const split = stack(place, [...values].map(([name, entry]) => [name, entry.value, phaseColour(name)]));
    split.style.marginTop = ".5rem";
    if ([...values.values()].some((entry) => entry.compaction)) missing(place, "* stream compaction");
  }

  function stack(place, entries) {
    const total = entries.reduce((sum, [, value]) => sum + value, 0) || 1;
    const row = html(place, "div", "stack");
    for (const [name, value, colour] of entries) {
      if (!value) continue;
      const part = html(row, "i");
      part.style.width = `${(100 * value) / total}%`;
      part.style.background = colour;
      hover(part, name, shown(value / total, "percent"));
    }
    return row;
  }

  function keys(place, entries) {
    const holder = html(place, "div", "keys");
    for (const [name, text, colour] of entries) {
      const key = html(holder, "span");
      html(key, "i").style.background = colour;
      html(key, "span", "", text ? `${name} ${text}` : name);
    }
  }

  function drawStalls(place, run) {
    if (!run.stalls) return missing(place, "Not timed.");
    const entries = stallNames.filter((name) => run.stalls[name]).map((name) => [name.replaceAll("_", " "), run.stalls[name], name === IDLE ? "var(--idle)" : colourIn(stallNames, name)]);
    stack(place, entries);
    return keys(place, entries.map(([name, value, colour]) => [name, shown(value, "percent"), colour]));
  }

  function trafficPanel(holder, sides) {
    const head = html(holder, "h3", "panel-title", "Traffic by array");
    const select = html(head, "select");
    select.id = "traffic";
    select.setAttribute("aria-label", "what is counted");
    TRAFFIC.forEach(([label], k) => { html(select, "option", "", label).value = k; });
    select.value = state.traffic;
    html(head, "small", "", "of the GPU's launches; both sides have one scale");
    const place = html(holder, "div");
    const draw = () => {
      place.replaceChildren();
      pair(place, null, sides, drawTraffic);
    };
    select.addEventListener("change", () => { state.traffic = +select.value; draw(); });
    draw();
  }

  function drawTraffic(place, run, side, sides) {
    if (!run.arrays) return missing(place, "Not stored with this run: only timed runs of newer versions have it.");
    const column = TRAFFIC[state.traffic][1];
    const most = largest(sides, (each) => Object.values(each.arrays || {}).map((counts) => counts[column]));
    const rows = Object.entries(run.arrays).map(([name, counts]) => [name, counts[column]]).filter(([, value]) => value > 0);
    rows.sort((a, b) => b[1] - a[1]);
    if (!rows.length) return missing(place, "None.");
    bars(place, rows.slice(0, 14).map(([name, value]) => [name, value, palette[0]]), most, "number");
    return rows.length > 14 ? missing(place, `and ${rows.length - 14} smaller ones`) : null;
  }

  function drawEnergy(place, run, side, sides) {
    if (!run.joules) return missing(place, "No energy: not timed, or a machine without prices.");
    const most = largest(sides, (each) => Object.values(each.joules || {}).map((value) => 1e3 * value));
    const rows = parts.filter((name) => name in run.joules).map((name) => [name, 1e3 * run.joules[name], colourIn(parts, name)]);
    rows.sort((a, b) => b[1] - a[1]);
    return bars(place, rows, most, "number");
  }

  function drawTimeline(place, run, side, sides) {
    const held = run.timeline;
    if (!held || !held.start.length) return missing(place, "Not stored with this run: only timed runs of newer versions have it.");
    const scaleOf = (each) => each.numbers.microseconds / each.numbers.cycles;
    const longest = largest(sides, (each) => (each.timeline ? [each.numbers.microseconds] : []));
    const busiest = Math.max(10, ...sides.flatMap(({ run: each }) => (each.timeline ? each.timeline.bandwidth_per_mille : []))) / 1000;
    const width = Math.max(place.clientWidth || 500, 240);
    const [floor, top] = [80, 14];
    const picture = svg(place, "svg", { class: "timeline", viewBox: `0 0 ${width} 102`, role: "img", "aria-label": `Timeline of ${side}` });
    const x = (microseconds) => (microseconds / (longest || 1)) * width;
    held.start.forEach((start, k) => {
      const from = x(start * scaleOf(run));
      const long = Math.max(x(held.cycles[k] * scaleOf(run)), 0.4);
      const share = Math.min(held.bandwidth_per_mille[k] / 1000, 1);
      const name = held.phases[held.phase[k]];
      svg(picture, "rect", { x: from, width: long, y: floor - 6, height: 6, fill: phaseColour(name) });
      const high = Math.min(share / busiest, 1) * (floor - top - 8);
      const block = svg(picture, "rect", { x: from, width: long, y: floor - 8 - high, height: high + 8, fill: phaseColour(name), "fill-opacity": 0.75 });
      const time = `${shown(held.cycles[k] * scaleOf(run))} µs from ${shown(start * scaleOf(run))} µs, ${shown(share, "percent")} of the bandwidth`;
      hover(block, held.binned ? `${name} (most of this slice)` : `${name}, launch ${k + 1}`, time);
    });
    svg(picture, "line", { class: "axis", x1: 0, x2: width, y1: floor, y2: floor });
    svg(picture, "line", { class: "level", x1: 0, x2: width, y1: top, y2: top });
    svg(picture, "text", { x: width, y: top - 3, "text-anchor": "end" }, `${shown(busiest, "percent")} of peak`);
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const anchor = share === 0 ? "start" : share === 1 ? "end" : "middle";
      svg(picture, "text", { x: share * width, y: 97, "text-anchor": anchor }, `${shown(share * longest)}${share === 1 ? " µs" : ""}`);
    }
    return keys(place, held.phases.map((name) => [name, "", phaseColour(name)]));
  }

  pick(matching());
  chosen();
  let waiting = 0;
  let lastWidth = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === lastWidth) return;
    lastWidth = window.innerWidth;
    window.clearTimeout(waiting);
    waiting = window.setTimeout(drawSides, 120);
  });
  document.documentElement.dataset.drawn = "yes";
})();
