// What was wrong, in words.

import { element, link, made } from "./element";
import type { Why } from "./replies";

export interface WhyAddresses {
  /** Of the plot of an expression. */
  plot(expression: string): string;
  /** Of the tasks of a selector. */
  tasks(of: string): string;
}

/** Each sentence is a link to its plot, and behind it one to whoever caused it. */
export function show_why({ sentences, missing }: Why, addresses: WhyAddresses): void {
  const items = sentences.map(({ text, culprit, of, evidence }) => {
    const expression = evidence[0]?.expression;
    const item = made("li", {}, expression ? link(addresses.plot(expression), text) : text);
    if (culprit && of) item.append(" ", link(addresses.tasks(of), `Show ${culprit}`));
    return item;
  });
  if (items.length === 0) items.push(made("li", {}, "Nothing is wrong."));
  items.push(...missing.map((text) => made("li", { className: "missing" }, `Not known: ${text}.`)));
  element("why").replaceChildren(...items);
}
