// Why a machine of the fleet was slow.

import * as agent from "./agent";
import type { Window } from "./agent";
import { element } from "./element";
import { time, type Zone } from "./units";
import { renew_why } from "./why";

const MINUTE_MS = 60_000;
/** Recorded expressions of a minute have gone out so long after its end. */
const SENT_AFTER_MS = 30_000;

export class FleetReasons {
  /** The machine and the window whose reasons are shown, or were asked for in vain. */
  private shown = "";

  /** Those of others are shown. */
  forget(): void {
    this.shown = "";
  }

  /** Shows those of a window, of one that goes with the time up to the last minute that is known. The store is asked once for each. */
  async show(machine: string, { from_ms, to_ms }: Window, is_now: boolean, zone: Zone, signal: AbortSignal): Promise<void> {
    const known_ms = Math.floor((to_ms - SENT_AFTER_MS) / MINUTE_MS) * MINUTE_MS;
    const window = { from_ms, to_ms: is_now ? Math.max(known_ms, from_ms + MINUTE_MS) : to_ms };
    const question = `${machine} ${window.to_ms} ${to_ms - from_ms}`;
    if (question === this.shown) return;
    const title = `Why, ${time(window.from_ms, zone)} – ${time(window.to_ms, zone)}`;
    this.shown = question;
    await renew_why(`fleet ${machine}`, title, () => agent.fleet_why(machine, window, signal), null).catch((error: Error) => {
      if (signal.aborted) this.shown = "";
      else element("why-state").textContent = error.message;
    });
  }
}
