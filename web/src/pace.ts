// How often something is asked for again: so rarely that it costs the agent no more than a thousandth of a CPU.

import { agent_cpu_ms } from "./agent";

const COST = 1 / 1000;
const MIN_MS = 15_000;

export class Pace {
  private due_ms = Date.now() + MIN_MS;
  private works = 0;

  /** Does the work if it is due. */
  async keep(work: () => Promise<void>, least_ms = MIN_MS): Promise<void> {
    if (Date.now() >= this.due_ms) await this.work(work, least_ms);
  }

  /** Does the work now. */
  async work(work: () => Promise<void>, least_ms = MIN_MS): Promise<void> {
    // What is asked for meanwhile by other works counts, too.
    const used_ms = agent_cpu_ms();
    const number = ++this.works;
    // Not twice at the same time.
    this.due_ms = Infinity;
    try {
      await work();
    } finally {
      // A newer one has begun otherwise.
      if (number === this.works) this.due_ms = Date.now() + Math.max(least_ms, (agent_cpu_ms() - used_ms) / COST);
    }
  }
}
