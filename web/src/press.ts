// Presses of a pointer: a link or button that is replaced between press and release gets no click.

let is_pressed = false;
/** The last change of each part of the page that waits for the release. */
const waiting = new Map<object, () => void>();

addEventListener("pointerdown", ({ target }) => (is_pressed = target instanceof Element && target.closest("a, button") !== null), true);
for (const end of ["pointerup", "pointercancel", "dragend", "blur"]) {
  // The click follows the release.
  addEventListener(end, () => setTimeout(released), true);
}

function released(): void {
  is_pressed = false;
  const changes = [...waiting.values()];
  waiting.clear();
  for (const change of changes) change();
}

/** Changes a part of the page, when nothing is pressed; a later change of it takes the place of one that waits. */
export function unpressed(part: object, change: () => void): void {
  if (is_pressed) waiting.set(part, change);
  else change();
}
