// A plot as large as a word.

import { SVG } from "./element";

/** In pixels; a line along the edge is not cut off. */
const [WIDTH, HEIGHT, EDGE] = [90, 18, 1];

/** The line of values between 0 and the largest that there can be. Where a value is null, the line is interrupted. */
export function sparkline(values: (number | null)[], largest: number, label: string): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  const x = (place: number) => ((place * WIDTH) / Math.max(1, values.length - 1)).toFixed(1);
  const y = (value: number) => (HEIGHT - EDGE - (value / largest) * (HEIGHT - 2 * EDGE)).toFixed(1);
  const step = (value: number | null, place: number) => {
    if (value === null) return "";
    const is_first = (values[place - 1] ?? null) === null;
    // A value without neighbours is a dot.
    return `${is_first ? "M" : "L"}${x(place)} ${y(value)}${is_first ? "h0.1" : ""}`;
  };
  path.setAttribute("d", values.map(step).join(""));
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("class", "sparkline");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.append(path);
  return svg;
}
