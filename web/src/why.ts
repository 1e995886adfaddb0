// What was wrong, in words.

import { Busy } from "./agent";
import { element, link, made } from "./element";
import { unpressed } from "./press";
import type { Why } from "./replies";

/** An answer that takes longer is announced. */
const SLOW_MS = 1000;

export interface WhyAddresses {
  /** Of the plot of an expression. */
  plot(expression: string): string;
  /** Of the tasks of a selector. */
  tasks(of: string): string;
}

/** The state of the answer: what is being made, or why there is none. */
const state = (text: string) => (element("why-state").textContent = text);

/** What is shown: tasks, and the title that has the times. */
let answered = { of: "", title: "" };
/** The number of the last question: an older one says nothing any more. */
let questions = 0;

/** Asks, and shows the last answer about the same tasks until there is one, with links if there are addresses. Returns the seconds after which to ask again; 0: not by itself. */
export async function renew_why(of: string, title: string, ask: () => Promise<Why>, addresses: WhyAddresses | null): Promise<number> {
  const question = ++questions;
  if (of !== answered.of || answered.title === "") {
    element("why").replaceChildren();
    element("why-title").textContent = title;
    state("");
    answered = { of, title: "" };
  }
  const announce = async () => {
    await unpressed();
    if (question === questions) state(`Examining ${title.replace("Why, ", "")}${addresses ? ": what each task did is added up" : ""}.`);
  };
  const slow = setTimeout(announce, SLOW_MS);
  try {
    const why = await ask();
    answered = { of, title };
    element("why-title").textContent = title;
    show_why(why, addresses);
    if (question === questions) state("");
    return 0;
  } catch (error) {
    const is_busy = error instanceof Busy;
    if (question === questions) state(is_busy ? error.message : "");
    if (!is_busy) throw error;
    return error.retry_after_s;
  } finally {
    clearTimeout(slow);
  }
}

/** Each sentence is a link to its plot, and behind it one to whoever caused it. */
function show_why({ sentences, missing }: Why, addresses: WhyAddresses | null): void {
  const items = sentences.map(({ text, culprit, of, evidence }) => {
    const expression = evidence[0]?.expression;
    const item = made("li", {}, expression && addresses ? link(addresses.plot(expression), text) : text);
    if (culprit && of && addresses) item.append(" ", link(addresses.tasks(of), `Show ${culprit}`));
    return item;
  });
  if (items.length === 0) items.push(made("li", {}, "Nothing is wrong."));
  items.push(...missing.map((text) => made("li", { className: "missing" }, `Not known: ${text}.`)));
  element("why").replaceChildren(...items);
}
