// What is done about several checks at once.

import * as agent from "./agent";
import { button, element, made } from "./element";

export class CheckActions {
  /** Names of checks. */
  private readonly chosen = new Set<string>();
  private readonly words = made("output", {});
  private readonly fields: HTMLInputElement[];

  /** `changed` is called when all were asked for. */
  constructor(private readonly changed: () => void) {
    const [author, comment] = [
      made("input", { placeholder: "Who says so", ariaLabel: "Who says so, of all that are chosen", autocomplete: "off" }),
      made("input", { placeholder: "Why", ariaLabel: "Why, of all that are chosen", autocomplete: "off" }),
    ];
    this.fields = [author, comment];
    const said = () => ({ author: author.value, comment: comment.value });
    element("check-actions").append(
      this.words,
      author,
      comment,
      button("acknowledge them", () => void this.ask("acknowledge", said)),
      button("two hours of downtime", () => void this.ask("downtime", () => ({ ...said(), minutes: 120 }))),
      button("check them now", () => void this.ask("now", () => ({}))),
      button("none", () => this.choose([...this.chosen], false)),
    );
    this.draw();
  }

  has(name: string): boolean {
    return this.chosen.has(name);
  }

  /** Chooses checks, or leaves them out. */
  choose(names: string[], is_chosen: boolean): void {
    for (const name of names) {
      if (is_chosen) this.chosen.add(name);
      else this.chosen.delete(name);
    }
    for (const box of document.querySelectorAll<HTMLInputElement>("#checks [data-check]")) {
      box.checked = this.chosen.has(box.dataset["check"]!);
    }
    this.draw();
  }

  private draw(): void {
    element("check-actions").hidden = this.chosen.size === 0;
    this.words.textContent = this.chosen.size === 1 ? "1 check" : `${this.chosen.size} checks`;
  }

  private async ask(what: string, parameters: () => Record<string, string | number>): Promise<void> {
    const trouble = element("check-trouble");
    trouble.textContent = "";
    const refused: string[] = [];
    // One after the other: the agent answers each at once.
    for (const name of this.chosen) {
      await agent.ask_check(what, { name, ...parameters() }).then(
        () => this.chosen.delete(name),
        (error: Error) => refused.push(`${name}: ${error.message}`),
      );
    }
    trouble.textContent = refused.slice(0, 3).join("; ") + (refused.length > 3 ? ` and ${refused.length - 3} more` : "");
    if (refused.length === 0) for (const field of this.fields) field.value = "";
    this.choose([], true);
    this.changed();
  }
}
