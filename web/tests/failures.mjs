// A reporter for Node's test runner that writes one line for each failed test, at the end: its name, where its error was thrown, and
// what it says. It stands behind the reporter "spec", so that a log that is cut from its front keeps these lines.

import { Transform } from "node:stream";

/** The most characters of a line. */
const WIDTH = 400;

/** Where an error was thrown in a file of tests. */
const place = (stack = "") => /tests\/(\w+\.test\.mjs:\d+)/.exec(stack)?.[1] ?? "elsewhere";

function line_of({ name, details }) {
  const error = details.error?.cause ?? details.error;
  const message = String(error?.message ?? error).replaceAll(/\s+/g, " ");
  return `✖ ${name}, ${place(error?.stack)}: ${message}`.slice(0, WIDTH);
}

const lines = [];

export default new Transform({
  writableObjectMode: true,
  transform(event, _, next) {
    // A file fails if a test in it does.
    if (event.type === "test:fail" && event.data.details.error?.failureType !== "subtestsFailed") lines.push(line_of(event.data));
    next();
  },
  flush(next) {
    next(null, lines.length > 0 ? `\n${lines.join("\n")}\n` : null);
  },
});
