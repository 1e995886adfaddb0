// What happens at every tick, from the agent: one stream a page.

import * as agent from "./agent";
import { unpressed } from "./press";
import type { ActiveTasks, Answers } from "./replies";

export interface LiveEvents {
  values(answers: Answers): void;
  tasks(tasks: ActiveTasks): void;
  /** The stream was interrupted and goes on: something may be missing. */
  resumed(): void;
}

export class Live {
  private source: EventSource | null = null;
  private address = "";

  constructor(private readonly events: LiveEvents) {}

  /** Watches expressions and tasks. Nothing happens if it does so already. */
  watch(expressions: string[], by: "process" | "thread"): void {
    const address = agent.live(expressions, by);
    if (this.source && this.address === address) return;
    this.end();
    this.address = address;
    const source = new EventSource(address);
    this.source = source;
    let is_open = false;
    source.addEventListener("open", () => {
      if (is_open) this.events.resumed();
      is_open = true;
    });
    const on = <T>(name: string, take: (data: T) => void) =>
      source.addEventListener(name, async (event) => {
        await unpressed();
        // It may have ended by then.
        if (this.source === source) take(JSON.parse((event as MessageEvent<string>).data) as T);
      });
    on<Answers>("values", (answers) => this.events.values(answers));
    on<ActiveTasks>("tasks", (tasks) => this.events.tasks(tasks));
  }

  end(): void {
    this.source?.close();
    this.source = null;
  }

  /** Whether values come by themselves. */
  get is_open(): boolean {
    return this.source?.readyState === EventSource.OPEN;
  }
}
