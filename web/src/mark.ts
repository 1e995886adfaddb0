// Asks for the text of a mark, and sets it.

import * as agent from "./agent";
import { during, element } from "./element";
import { time, type Zone } from "./units";

/** Returns whether one was set. */
export function ask_for_mark(at_ms: number, zone: Zone): Promise<boolean> {
  const dialog = element<HTMLDialogElement>("mark");
  const text = element<HTMLInputElement>("mark-text");
  const form = element<HTMLFormElement>("mark-form");
  element("mark-time").textContent = `At ${time(at_ms, zone)}.`;
  text.value = "";
  text.setCustomValidity("");
  dialog.showModal();
  return new Promise((resolve) => {
    const end = (is_set: boolean) => {
      dialog.close();
      resolve(is_set);
    };
    dialog.oncancel = element("mark-cancel").onclick = () => end(false);
    form.onsubmit = (event) => {
      event.preventDefault();
      during(form, agent.set_mark(at_ms, text.value)).then(
        () => end(true),
        (error: Error) => {
          text.setCustomValidity(error.message);
          text.reportValidity();
          text.setCustomValidity("");
        },
      );
    };
  });
}
