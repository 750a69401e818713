"use strict";
(() => {
  const PRINT_WIDTH = 660;
  const MOST_AT_ONCE = 80;
  const settings = { responsive: true, displayModeBar: false, scrollZoom: false };
  const plots = [...document.querySelectorAll(".plot")];
  const specOf = (plot) => JSON.parse(document.querySelector(`script[data-figure="${plot.id}"]`).textContent);
  const draw = (plot) => {
    if (plot.dataset.drawn) return;
    plot.dataset.drawn = "yes";
    const { data, layout } = specOf(plot);
    Plotly.newPlot(plot, data, layout, settings);
  };
  if ("IntersectionObserver" in window) {
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((e) => e.isIntersecting)) {
        draw(entry.target);
        seen.unobserve(entry.target);
      }
    }, { rootMargin: "800px" });
    plots.forEach((plot) => seen.observe(plot));
  }
  // an ordinary night is drawn ahead of the reader, one figure at a time; a long one only where they scroll
  const drawNext = (i) => {
    if (i === plots.length) return;
    draw(plots[i]);
    setTimeout(drawNext, 0, i + 1);
  };
  if (plots.length <= MOST_AT_ONCE || !("IntersectionObserver" in window)) drawNext(0);
  // paper: everything drawn and open, at the width of a page
  const folded = () => document.querySelectorAll("details");
  let wasOpen = [];
  addEventListener("beforeprint", () => {
    wasOpen = [...folded()].map((d) => d.open);
    folded().forEach((d) => { d.open = true; });
    plots.forEach((plot) => { draw(plot); Plotly.relayout(plot, { width: PRINT_WIDTH }); });
  });
  addEventListener("afterprint", () => {
    folded().forEach((d, i) => { d.open = wasOpen[i]; });
    plots.forEach((plot) => Plotly.relayout(plot, { width: null, autosize: true }));
  });
})();
