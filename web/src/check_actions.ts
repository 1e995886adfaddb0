// Actions on several checks at once.

import * as agent from "./agent";
import { button, during, element, made } from "./element";

export class CheckActions {
  /** Names of checks. */
  private readonly chosen = new Set<string>();
  private readonly words = made("output", {});
  private readonly author = made("input", { placeholder: "Who says so", ariaLabel: "Who says so, of all that are chosen", autocomplete: "off", required: true });
  private readonly comment = made("input", { placeholder: "Why", ariaLabel: "Why, of all that are chosen", autocomplete: "off" });
  private readonly form: HTMLFormElement;
  private is_list = false;

  /** `changed` is called when all were asked for. */
  constructor(private readonly changed: () => void) {
    const said = () => ({ author: this.author.value, comment: this.comment.value });
    const asks = (text: string, what: string, more: () => Record<string, string | number>, title = "") =>
      button(text, () => this.form.reportValidity() && void this.ask(what, more()), title);
    this.form = made(
      "form",
      { className: "asks" },
      this.words,
      this.author,
      this.comment,
      asks("acknowledge them", "acknowledge", said),
      asks("two hours of downtime", "downtime", () => ({ ...said(), minutes: 120 }), "That of a host's own check is of all its checks"),
      button("check them now", () => void this.ask("now", {})),
      button("none", () => this.choose([...this.chosen], false)),
    );
    this.form.onsubmit = (event) => event.preventDefault();
    element("check-actions").append(this.form);
    this.draw();
  }

  has(name: string): boolean {
    return this.chosen.has(name);
  }

  /** Shows what can be done, if a list is shown and something in it is chosen. */
  show(is_list: boolean): void {
    this.is_list = is_list;
    this.draw();
  }

  /** Chooses checks, or leaves them out. */
  choose(names: string[], is_chosen: boolean): void {
    for (const name of names) {
      if (is_chosen) this.chosen.add(name);
      else this.chosen.delete(name);
    }
    const boxes = [...document.querySelectorAll<HTMLInputElement>("#checks [data-check]")];
    for (const box of boxes) box.checked = this.chosen.has(box.dataset["check"]!);
    const all = document.querySelector<HTMLInputElement>("#checks thead input");
    if (all) all.checked = boxes.length > 0 && boxes.every(({ checked }) => checked);
    this.draw();
  }

  private draw(): void {
    element("check-actions").hidden = !this.is_list || this.chosen.size === 0;
    this.words.textContent = this.chosen.size === 1 ? "1 check" : `${this.chosen.size} checks`;
  }

  private async ask(what: string, parameters: Record<string, string | number>): Promise<void> {
    const trouble = element("check-trouble");
    trouble.textContent = "";
    const refused: string[] = [];
    // One after the other: the agent answers each at once. What is chosen meanwhile is not meant.
    const ask_all = async () => {
      for (const name of [...this.chosen]) {
        await agent.ask_check(what, { name, ...parameters }).then(
          () => this.choose([name], false),
          (error: Error) => refused.push(`${name}: ${error.message}`),
        );
      }
    };
    await during(this.form, ask_all());
    trouble.textContent = refused.slice(0, 3).join("; ") + (refused.length > 3 ? ` and ${refused.length - 3} more` : "");
    if (refused.length === 0) this.author.value = this.comment.value = "";
    this.changed();
  }
}
