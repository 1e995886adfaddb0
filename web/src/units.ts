// Numbers and times as people read them. The units are the terminal's (measures.ts).

import { MEASURES } from "./measures";

export type Measure = keyof typeof MEASURES;

/** In three digits, as `whit plot` writes it. Unknown is a dash, and not zero. */
export function written(value: number | null | undefined, measure: Measure): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const units: [number, string][] = MEASURES[measure];
  const [size, name] = units.findLast(([size]) => Math.abs(value) >= size) ?? units[0]!;
  const scaled = value / size;
  const digits = scaled === 0 ? 0 : Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(scaled)))));
  return decimals(scaled, digits) + name;
}

/** Half is rounded away from zero; no zeros at the end of decimals. */
function decimals(value: number, digits: number): string {
  if (Math.abs(value) >= 1e9) return value.toExponential(3).replace("e+", "e");
  const power = 10 ** digits;
  const rounded = Math.floor(Math.abs(value) * power + 0.5) / power;
  const text = rounded.toFixed(digits);
  return (value < 0 && rounded > 0 ? "-" : "") + (digits > 0 ? text.replace(/\.?0+$/, "") : text);
}

export type Zone = "local" | "utc";

interface Parts {
  day: string;
  clock: string;
}

function parts(at_ms: number, zone: Zone): Parts {
  const at = new Date(zone === "utc" ? at_ms : at_ms - new Date(at_ms).getTimezoneOffset() * 60_000);
  const [day, rest] = at.toISOString().split("T") as [string, string];
  return { day, clock: rest.slice(0, 8) };
}

/** A time of day, with the day where that is not today. */
export function time(at_ms: number, zone: Zone): string {
  const { day, clock } = parts(at_ms, zone);
  return day === parts(Date.now(), zone).day ? clock : `${day} ${clock}`;
}

/** A time at an axis, as exact as its steps in seconds are. */
export function tick(at_ms: number, step_s: number, zone: Zone): string {
  const { day, clock } = parts(at_ms, zone);
  if (step_s >= 86_400) return day.slice(5);
  return step_s < 60 ? clock : clock.slice(0, 5);
}

/** A length of time in the largest unit of which there is one at least. */
export const duration = (length_ms: number) => written(length_ms / 1000, "seconds");

/** How far the viewer's clock is ahead of UTC, in seconds. */
export const utc_offset_s = (at_ms: number, zone: Zone) =>
  zone === "utc" ? 0 : -new Date(at_ms).getTimezoneOffset() * 60;

/** The steps of an axis, in multiples of the measure's unit. */
export function increments(measure: Measure): number[] {
  if (measure === "bytes") return Array.from({ length: 60 }, (_, power) => 2 ** power);
  const decades = Array.from({ length: 30 }, (_, power) => 10 ** (power - 10));
  return decades.flatMap((decade) => [decade, 2 * decade, 5 * decade]);
}
