// What happens at every tick, from the agent: one stream a page.

import * as agent from "./agent";
import { is_held, unpressed } from "./press";
import type { ActiveTasks, Answers } from "./replies";

export interface LiveEvents {
  values(answers: Answers): void;
  tasks(tasks: ActiveTasks): void;
  /** The stream goes on after something was missed. */
  resumed(): void;
}

export class Live {
  private source: EventSource | null = null;
  private address = "";
  /** Something is pressed, and events came meanwhile. */
  private is_skipping = false;

  constructor(private readonly events: LiveEvents) {}

  /** Watches expressions and tasks. Nothing happens if it does so already. */
  watch(expressions: string[], by: "process" | "thread"): void {
    const address = agent.live(expressions, by);
    // One that the agent refused does not come back by itself.
    if (this.source && this.source.readyState !== EventSource.CLOSED && this.address === address) return;
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
      source.addEventListener(name, (event) => {
        if (is_held()) return this.skip(source);
        take(JSON.parse((event as MessageEvent<string>).data) as T);
      });
    on<Answers>("values", (answers) => this.events.values(answers));
    on<ActiveTasks>("tasks", (tasks) => this.events.tasks(tasks));
  }

  /** Leaves out what comes during a press, however long that is. */
  private skip(source: EventSource): void {
    if (this.is_skipping) return;
    this.is_skipping = true;
    void unpressed().then(() => {
      this.is_skipping = false;
      if (this.source === source) this.events.resumed();
    });
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
