// Presses of a pointer: a link or button that is replaced, or moves away, between press and release gets no click, and a part of a plot that
// is marked must not move. Therefore nothing that comes from the agent changes the page while something is pressed.

/** A release that is never reported, as of a click that opens a menu, is assumed after this time without a move. */
const MAX_MS = 10_000;

/** Where a press marks a part of the time. */
const MARKED = ".u-over, #timeline";

let is_pressed = false;
let limit = 0;
/** What waits for the release, in its order. */
let waiting: (() => void)[] = [];

/** Begins to look at presses. */
export function watch_presses(): void {
  addEventListener("pointerdown", pressed, true);
  for (const end of ["pointerup", "pointercancel", "dragend", "contextmenu"]) {
    // The click follows the release.
    addEventListener(end, () => setTimeout(released), true);
  }
  // Text that is selected may lie below: the press would begin to drag it, and end for the plot without a release.
  addEventListener("dragstart", (event) => {
    if (event.target instanceof Element && event.target.closest(MARKED) !== null) event.preventDefault();
  });
  // Of the window alone: elements lose the focus by the press itself, which is seen in the capturing phase.
  addEventListener("blur", released);
  // A part of a plot may be marked slowly. A move without a button says nothing: browsers make such ones when something moves below the pointer.
  addEventListener("pointermove", (event) => {
    if (is_pressed && event.isPrimary && event.buttons !== 0) wait_on();
  }, true);
}

function pressed(event: PointerEvent): void {
  const is_click = event.isPrimary && event.button === 0 && !event.ctrlKey;
  if (!is_click || !(event.target instanceof Element) || event.target.closest(`a, button, ${MARKED}`) === null) return;
  is_pressed = true;
  wait_on();
}

function wait_on(): void {
  clearTimeout(limit);
  limit = setTimeout(released, MAX_MS);
}

function released(): void {
  is_pressed = false;
  clearTimeout(limit);
  const resumed = waiting;
  waiting = [];
  for (const resume of resumed) resume();
}

/** Whether something is pressed. */
export const is_held = () => is_pressed;

/** Resolves when nothing is pressed, in the order of the calls. */
export const unpressed = () => new Promise<void>((resolve) => (is_pressed ? void waiting.push(resolve) : resolve()));
