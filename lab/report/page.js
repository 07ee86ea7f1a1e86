// Draws a report's charts with Chart.js, and lets series be hidden and tables be sorted. All reckoning was done when the page
// was made (page.cpp): values come as places between 0 and 1 on their axes, labels as text. Where drawing fails, the picture
// that stands in the page stays.
"use strict";
(() => {
  // The shapes are those of marks.cpp, in the same order.
  const shapes = [
    { pointStyle: "circle", radius: 4 },
    { pointStyle: "rect", radius: 5 },
    { pointStyle: "triangle", radius: 5 },
    { pointStyle: "rectRot", radius: 5.5 },
    { pointStyle: "crossRot", radius: 5 },
    { pointStyle: "triangle", radius: 5, rotation: 180 },
    { pointStyle: "cross", radius: 5 },
    { pointStyle: "star", radius: 5 },
  ];
  const drawn = [];

  // The scheme's colours, read anew when it changes.
  const scheme = {};
  const readScheme = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["text", "quiet", "line", "sheet"]) scheme[name] = style.getPropertyValue("--" + name).trim();
    scheme.series = shapes.map((_, number) => style.getPropertyValue("--series-" + number).trim());
    scheme.font = getComputedStyle(document.body).fontFamily;
  };

  const withAlpha = (colour, alpha) => colour + Math.round(alpha * 255).toString(16).padStart(2, "0");

  // The names of rules: over the series, on a ground of their own, and none over another.
  const nameRules = ({ ctx, chartArea: area, scales }, rules) => {
    const height = 16;
    const names = [];
    const put = (name, x, top, endsThere) => {
      const width = ctx.measureText(name).width;
      const left = endsThere ? x - width : x;
      let y = top;
      const inTheWay = (other) => Math.abs(y - other.y) < height && left < other.right + 6 && left + width + 6 > other.left;
      while (names.some(inTheWay)) y += height;
      names.push({ left, right: left + width, y });
      ctx.strokeText(name, left, y);
      ctx.fillText(name, left, y);
    };
    ctx.font = "12px " + scheme.font;
    ctx.textAlign = "left";
    ctx.lineWidth = 4;
    ctx.lineJoin = "round";
    ctx.strokeStyle = scheme.sheet;
    ctx.fillStyle = scheme.quiet;
    for (const rule of rules) {
      if (rule.horizontal) {
        put(rule.name, area.right - 4, scales.y.getPixelForValue(rule.place) - 6, true);
      } else {
        const x = area.left + rule.place * (area.right - area.left);
        const atTheEnd = rule.place > 0.5;
        put(rule.name, x + (atTheEnd ? -5 : 5), area.top + 14, atTheEnd);
      }
    }
  };

  // Intervals around points, and rules across the chart, which Chart.js has not. (They cannot be options: it calls those that
  // are functions.)
  const extrasOf = (data) => ({
    id: "extras",
    beforeDatasetsDraw(chart) {
      const { ctx, chartArea: area, scales } = chart;
      ctx.save();
      ctx.strokeStyle = scheme.quiet;
      ctx.lineWidth = 1.5;
      for (const rule of data.rules) {
        ctx.setLineDash([2, 4]);
        ctx.beginPath();
        if (rule.horizontal) {
          const y = scales.y.getPixelForValue(rule.place);
          ctx.moveTo(area.left, y);
          ctx.lineTo(area.right, y);
        } else {
          const x = area.left + rule.place * (area.right - area.left);
          ctx.moveTo(x, area.top);
          ctx.lineTo(x, area.bottom);
        }
        ctx.stroke();
      }
      ctx.restore();
    },
    afterDatasetsDraw(chart) {
      const { ctx, scales } = chart;
      ctx.save();
      ctx.lineWidth = 1.3;
      chart.data.datasets.forEach((dataset, index) => {
        if (!chart.isDatasetVisible(index)) return;
        const marks = chart.getDatasetMeta(index).data;
        ctx.strokeStyle = dataset.type === "bar" ? scheme.text : scheme.series[dataset.colour];
        dataset.data.forEach((point, place) => {
          if (!(point.low <= point.high)) return;
          const x = marks[place].x;
          const low = scales.y.getPixelForValue(point.low);
          const high = scales.y.getPixelForValue(point.high);
          ctx.beginPath();
          ctx.moveTo(x, low);
          ctx.lineTo(x, high);
          ctx.moveTo(x - 4, low);
          ctx.lineTo(x + 4, low);
          ctx.moveTo(x - 4, high);
          ctx.lineTo(x + 4, high);
          ctx.stroke();
        });
      });
      nameRules(chart, data.rules);
      ctx.restore();
    },
  });

  const axisOptions = (axis, title) => ({
    type: "linear",
    min: 0,
    max: 1,
    title: { display: title, text: axis.title, color: () => scheme.text },
    grid: { color: () => scheme.line, borderColor: () => scheme.quiet, tickLength: 4 },
    ticks: { color: () => scheme.quiet, autoSkip: !axis.words, callback: (_, index, ticks) => ticks[index].text },
    afterBuildTicks: (scale) => {
      scale.ticks = axis.ticks.map((tick) => ({ value: tick.place, text: tick.label }));
    },
  });

  const wordsOptions = (axis) => ({
    type: "category",
    labels: axis.ticks.map((tick) => tick.label),
    offset: true,
    title: { display: true, text: axis.title, color: () => scheme.text },
    grid: { display: false, borderColor: () => scheme.quiet },
    ticks: { color: () => scheme.quiet, autoSkip: false },
  });

  const datasetOf = (series, place) => {
    const colour = () => scheme.series[series.colour];
    const bars = series.mark === "bars";
    return {
      label: series.name,
      type: bars ? "bar" : "line",
      colour: series.colour,
      data: series.points.map((point) => point ?? { x: NaN, y: NaN }),
      showLine: series.mark !== "points",
      borderColor: colour,
      borderWidth: bars ? 1 : 2,
      borderDash: series.dashed ? [7, 5] : [],
      backgroundColor: () => (bars ? withAlpha(scheme.series[series.colour], series.dashed ? 0.25 : 0.85) : scheme.series[series.colour]),
      base: bars ? series.base : undefined,
      categoryPercentage: 0.76,
      barPercentage: 0.95,
      // Later ones over earlier ones, as in the picture. (Of bars it would be their order from left to right.)
      order: bars ? 0 : -place,
      clip: 8,
      ...shapes[series.colour],
      pointBorderWidth: 2,
      pointRadius: series.mark === "line" ? 0 : shapes[series.colour].radius,
      pointHitRadius: 12,
      pointHoverRadius: 7,
    };
  };

  const draw = (figure) => {
    const data = JSON.parse(figure.querySelector("script.values").textContent);
    figure.classList.add("drawn");
    const chart = new Chart(figure.querySelector("canvas"), {
      type: "line",
      data: { datasets: data.series.map(datasetOf) },
      plugins: [extrasOf(data)],
      options: {
        parsing: false,
        normalized: false,
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        interaction: { mode: "nearest", intersect: false },
        layout: { padding: { top: 6, right: 12 } },
        scales: { x: data.x.words ? wordsOptions(data.x) : axisOptions(data.x, true), y: axisOptions(data.y, false) },
        plugins: {
          legend: { display: false },
          tooltip: {
            displayColors: false,
            callbacks: { title: (items) => items.map((item) => item.dataset.label)[0], label: (item) => item.raw.text },
          },
        },
      },
    });
    drawn.push(chart);
    const keys = figure.querySelector(".keys");
    if (!keys) return;
    keys.hidden = false;
    keys.querySelectorAll("button").forEach((button, index) => {
      button.addEventListener("click", () => {
        const visible = !chart.isDatasetVisible(index);
        chart.setDatasetVisibility(index, visible);
        button.setAttribute("aria-pressed", String(visible));
        chart.update("none");
      });
    });
  };

  // A table's rows by a column: by number where its cells have one (data-value), or else by their words.
  const sortBy = (table, column, ascending) => {
    const body = table.tBodies[0];
    const keyOf = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const compare = (a, b) => {
      const x = Number(keyOf(a));
      const y = Number(keyOf(b));
      if (Number.isNaN(x) || Number.isNaN(y)) return keyOf(a).localeCompare(keyOf(b), "en", { numeric: true });
      return x - y;
    };
    const rows = [...body.rows].sort((a, b) => (ascending ? compare(a, b) : compare(b, a)));
    body.append(...rows);
  };
  const makeSortable = (table) => {
    const titles = [...table.tHead.rows[0].cells];
    titles.forEach((title, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...title.childNodes);
      title.append(button);
      button.addEventListener("click", () => {
        const ascending = title.getAttribute("aria-sort") !== "ascending";
        for (const other of titles) other.removeAttribute("aria-sort");
        title.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        sortBy(table, column, ascending);
      });
    });
  };

  readScheme();
  Chart.defaults.font.family = scheme.font;
  for (const figure of document.querySelectorAll("figure.chart")) {
    try {
      draw(figure);
    } catch (problem) {
      figure.classList.remove("drawn");
      console.error(problem);
    }
  }
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readScheme();
    for (const chart of drawn) chart.update("none");
  });
  document.documentElement.dataset.chartsDrawn = String(drawn.length);
})();
