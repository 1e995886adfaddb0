// Completes an expression: names of metrics and functions, labels within braces, their values within quotation marks.

import * as agent from "./agent";
import { element, made } from "./element";
import type { Language } from "./replies";

const MAX_SHOWN = 12;

interface Choice {
  text: string;
  help: string;
  /** What is written for it. */
  written: string;
}

/** What stands before the cursor: a word, and where it is. */
export interface Context {
  kind: "name" | "label" | "value";
  word: string;
  metric: string;
  label: string;
}

/** What can be written at the end of a text. */
export function context(before: string): Context {
  const value = /(\w+)\s*(?:=|!=|=~|!~)\s*"([^"]*)$/.exec(before);
  const brace = /([a-zA-Z_:][\w:]*)?\{([^{}]*)$/.exec(before);
  const metric = brace?.[1] ?? "";
  if (brace && value) return { kind: "value", word: value[2]!, metric, label: value[1]! };
  const word = /[a-zA-Z_:][\w:]*$/.exec(before)?.[0] ?? "";
  return { kind: brace ? "label" : "name", word, metric, label: "" };
}

/** A list below a field, as https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ has it. */
export class Completion {
  private readonly list = element("completion");
  private values = new Map<string, string[]>();
  private choices: Choice[] = [];
  private chosen = -1;

  constructor(private readonly field: HTMLTextAreaElement) {
    field.addEventListener("input", () => void this.suggest());
    field.addEventListener("keydown", (event) => this.pressed(event));
    field.addEventListener("blur", () => this.close());
  }

  private async suggest(): Promise<void> {
    const before = this.field.value.slice(0, this.field.selectionStart);
    const language = await agent.language().catch(() => null);
    const found = context(before);
    const choices = language === null ? [] : await this.known(found, language);
    // Something else was typed meanwhile.
    if (before !== this.field.value.slice(0, this.field.selectionStart)) return;
    const word = found.word.toLowerCase();
    const begins = choices.filter(({ text }) => text.toLowerCase().startsWith(word));
    const contains = choices.filter(({ text }) => text.toLowerCase().indexOf(word) > 0);
    this.choices = [...begins, ...contains].slice(0, MAX_SHOWN);
    const is_done = this.choices.length === 1 && this.choices[0]!.text === found.word;
    if (is_done || (word === "" && found.kind === "name")) this.choices = [];
    this.chosen = -1;
    this.draw();
  }

  private async known({ kind, metric, label }: Context, { functions, metrics }: Language): Promise<Choice[]> {
    switch (kind) {
      case "name":
        return [
          ...metrics.map(({ name, help }) => ({ text: name, help, written: name })),
          ...functions.map((name) => ({ text: name, help: "a function", written: `${name}(` })),
        ];
      case "label": {
        const of = metrics.find(({ name }) => name === metric)?.labels ?? [...new Set(metrics.flatMap(({ labels }) => labels))];
        return of.map((name) => ({ text: name, help: "", written: `${name}="` }));
      }
      case "value": {
        const key = `${metric}\n${label}`;
        if (!this.values.has(key)) {
          const found = await agent.label_values(label, metric || "{}").catch(() => null);
          if (found === null) return [];
          this.values.set(key, found);
        }
        // The language reads escapes as JSON has them.
        return this.values.get(key)!.map((value) => ({ text: value, help: "", written: JSON.stringify(value).slice(1) }));
      }
    }
  }

  private pressed(event: KeyboardEvent): void {
    if (this.choices.length === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      this.chosen = (this.chosen + step + this.choices.length) % this.choices.length;
      this.draw();
    } else if ((event.key === "Enter" || event.key === "Tab") && this.chosen >= 0) {
      this.take(this.choices[this.chosen]!);
    } else if (event.key === "Escape") {
      this.close();
    } else {
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  private take(choice: Choice): void {
    const end = this.field.selectionStart;
    const { word } = context(this.field.value.slice(0, end));
    this.field.setRangeText(choice.written, end - word.length, end, "end");
    this.close();
    if (choice.written.endsWith('="')) void this.suggest();
  }

  close(): void {
    this.choices = [];
    this.chosen = -1;
    this.draw();
  }

  private draw(): void {
    const is_open = this.choices.length > 0;
    this.list.hidden = !is_open;
    this.field.setAttribute("aria-expanded", String(is_open));
    this.list.replaceChildren(
      ...this.choices.map((choice, place) => {
        const item = made("li", { id: `completion-${place}`, role: "option" }, made("b", {}, choice.text), ` ${choice.help}`);
        item.ariaSelected = String(place === this.chosen);
        // Before the field loses the focus.
        item.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          this.take(choice);
        });
        return item;
      }),
    );
    if (this.chosen >= 0) this.field.setAttribute("aria-activedescendant", `completion-${this.chosen}`);
    else this.field.removeAttribute("aria-activedescendant");
  }
}
