// All checks at one glance: hosts one way, checks the other.

import { link, made } from "./element";
import type { CheckCell } from "./replies";

/** What stands in a square beside its colour. */
const LETTERS: Record<string, string> = { CRITICAL: "C", UNKNOWN: "U", WARNING: "W", OK: "", PENDING: "·" };
/** What a host's own check is called. */
const OF_HOST = "host";
/** Of checks without a host. */
const OF_MACHINE = "this machine";

const order = new Intl.Collator(undefined, { numeric: true });

/** The grid; null if there is nothing to be seen in one. */
export function grid(cells: CheckCell[], address: (check: string) => string): HTMLElement | null {
  const hosts = new Map<string, Map<string, CheckCell>>();
  const uses = new Map<string, number>();
  for (const cell of cells) {
    const of_host = hosts.get(cell.host) ?? new Map<string, CheckCell>();
    hosts.set(cell.host, of_host.set(cell.service, cell));
    uses.set(cell.service, (uses.get(cell.service) ?? 0) + 1);
  }
  if (cells.length < 2) return null;
  // A host's own first, then what most hosts have.
  const services = [...uses.keys()].sort(
    (one, other) => Number(one !== "") - Number(other !== "") || uses.get(other)! - uses.get(one)! || order.compare(one, other),
  );
  const of_hosts = [...hosts.keys()].sort(order.compare);
  const cell = (host: string, service: string) => made("td", {}, ...square(hosts.get(host)!.get(service), address));
  const [host_name, service_name] = [(host: string) => host || OF_MACHINE, (service: string) => service || OF_HOST];
  // A screen has more room to the side, a phone below.
  const is_wide = of_hosts.length > services.length === matchMedia("(min-width: 40rem)").matches;
  const across = is_wide ? of_hosts.map(host_name) : services.map(service_name);
  const head = made("tr", {}, made("td", {}), ...across.map((name) => made("th", { scope: "col" }, made("span", {}, name))));
  const row = (name: string, squares: HTMLElement[]) => made("tr", {}, made("th", { scope: "row" }, name), ...squares);
  const rows = is_wide
    ? services.map((service) => row(service_name(service), of_hosts.map((host) => cell(host, service))))
    : of_hosts.map((host) => row(host_name(host), services.map((service) => cell(host, service))));
  return made("table", { className: "grid" }, made("thead", {}, head), made("tbody", {}, ...rows));
}

function square(cell: CheckCell | undefined, address: (check: string) => string): HTMLElement[] {
  if (!cell) return [];
  const { host, service, is_acknowledged } = cell;
  const state = cell.state ?? "PENDING";
  const name = [host, service].filter((part) => part !== "").join("/");
  const made = link(address(name), LETTERS[state] ?? "");
  made.className = `square is-${state.toLowerCase()}${is_acknowledged ? " known" : ""}`;
  made.title = made.ariaLabel = `${name}: ${state}${is_acknowledged ? ", acknowledged" : ""}`;
  return [made];
}
