// Numbers as people read them: as the terminal has them (text/src/units.rs).

export type Unit = "percent" | "bytes" | "bytes_per_second" | "seconds" | "count";

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Of at most three digits. Unknown is a dash, and not zero. */
export function written(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  switch (unit) {
    case "percent":
      return `${digits(value * 100)} %`;
    case "bytes":
      return scaled(value, 1024, BINARY);
    case "bytes_per_second":
      return `${scaled(value, 1024, BINARY)}/s`;
    case "seconds":
      return `${digits(value)} s`;
    case "count":
      return digits(value);
  }
}

function digits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

function scaled(value: number, base: number, units: string[]): string {
  let place = 0;
  while (Math.abs(value) >= base - 0.5 && place + 1 < units.length) {
    value /= base;
    place += 1;
  }
  return `${value.toFixed(place > 0 && Math.abs(value) < 9.95 ? 1 : 0)} ${units[place]}`;
}

/** A time of day, with the day where that is not today. */
export function time(at_ms: number): string {
  const at = new Date(at_ms);
  const is_today = at.toDateString() === new Date().toDateString();
  const clock = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  return is_today ? clock : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
}

/** A time at an axis, as exact as its steps in seconds are. */
export function tick(at_ms: number, step_s: number): string {
  const at = new Date(at_ms);
  if (step_s >= 86_400) return `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return step_s < 60 ? `${clock}:${two(at.getSeconds())}` : clock;
}

/** The steps of an axis: those of bytes are powers of two. */
export function increments(unit: Unit): number[] {
  const is_bytes = unit === "bytes" || unit === "bytes_per_second";
  if (is_bytes) return Array.from({ length: 60 }, (_, power) => 2 ** power);
  const decades = Array.from({ length: 30 }, (_, power) => 10 ** (power - 6));
  return decades.flatMap((decade) => [decade, 2 * decade, 5 * decade]);
}

const two = (number: number) => String(number).padStart(2, "0");
