// Where exploring begins: expressions that matter, and all metrics, to be searched.

import { link, made } from "./element";
import type { Language, MetricEntry } from "./replies";

const SUGGESTED: [string, string][] = [
  ["Which programs waited for a CPU", "topk(5, sum by (comm) (rate(whit_task_run_queue_seconds_total[1m])))"],
  ["Which programs waited for disks", "topk(5, sum by (comm) (rate(whit_task_block_io_seconds_total[1m])))"],
  ["Which programs computed", "topk(5, sum by (comm) (rate(whit_task_on_cpu_seconds_total[1m])))"],
  ["Which programs wrote", "topk(5, sum by (comm) (rate(whit_task_written_bytes_total[1m])))"],
  ["Which programs have memory", "topk(5, sum by (comm) (whit_task_resident_bytes))"],
  ["How much memory is left", "node_memory_MemAvailable_bytes"],
  ["How busy each disk is", "rate(node_disk_io_time_seconds_total[1m])"],
  ["How full each filesystem is", "1 - node_filesystem_avail_bytes / node_filesystem_size_bytes"],
  ["When a filesystem will be full, in hours", "node_filesystem_avail_bytes / -deriv(node_filesystem_avail_bytes[1h]) / 3600 > 0"],
  ["What each interface receives", "rate(node_network_receive_bytes_total[1m])"],
  ["How many processes were started a second", "rate(node_forks_total[1m])"],
];

/** Words that are no names of metrics. */
const KEYWORDS = ["and", "or", "unless", "bool", "offset", "start", "end", "inf", "nan", "by", "without", "on", "ignoring", "group_left", "group_right"];

/** The names of metrics in an expression. */
export function metrics_in(expression: string): string[] {
  const bare = expression
    .replace(/"(?:[^"\\]|\\.)*"|'[^']*'|#.*|\[[^\]]*\]|\{[^}]*\}/g, " ")
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/gi, " ");
  const words = [...bare.matchAll(/(?<![\w:.])[a-zA-Z_:][\w:]*(?![\w:]*\s*\()/g)].map(([word]) => word);
  return [...new Set(words)].filter((word) => !KEYWORDS.includes(word.toLowerCase()));
}

/** The names of metrics that are written most like a word, the nearest first. */
export function nearest(word: string, metrics: MetricEntry[], most: number): string[] {
  const ranked = metrics.map(({ name }) => ({ name, distance: distance(word, name) }));
  ranked.sort((one, other) => one.distance - other.distance);
  return ranked.slice(0, most).map(({ name }) => name);
}

/** Letters that are added, removed or exchanged: Levenshtein. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let place = 1; place <= one.length; place += 1) {
    const next = [place];
    for (let at = 1; at <= other.length; at += 1) {
      const exchanged = row[at - 1]! + Number(one[place - 1] !== other[at - 1]);
      next.push(Math.min(exchanged, row[at]! + 1, next[at - 1]! + 1));
    }
    row = next;
  }
  return row[other.length]!;
}

/** The suggestions and the metrics; `address` is that of an expression. */
export function start(language: Language, address: (expression: string) => string): HTMLElement[] {
  const suggested = SUGGESTED.map(([words, expression]) =>
    made("li", {}, link(address(expression), words), " ", made("code", {}, expression)),
  );
  const rows = language.metrics.map((metric) => {
    const { name, help, labels } = metric;
    const [expression, text] = [first_expression(metric), `${name} ${help}`.toLowerCase()];
    const row = made("tr", {}, ...[link(address(expression), name), help, labels.join(", ")].map((content) => made("td", {}, content)));
    return { row, text };
  });
  const find = made("input", { type: "search", id: "metric-find", autocomplete: "off" });
  const count = made("output", {});
  const choose = () => {
    const words = find.value.toLowerCase().split(" ");
    for (const { row, text } of rows) row.hidden = !words.every((word) => text.includes(word));
    count.textContent = `${rows.filter(({ row }) => !row.hidden).length} metrics`;
  };
  find.oninput = choose;
  choose();
  const head = made("tr", {}, ...["metric", "what it is", "labels"].map((text) => made("th", { scope: "col" }, text)));
  const table = made("table", {}, made("thead", {}, head), made("tbody", {}, ...rows.map(({ row }) => row)));
  return [
    made("h3", {}, "Where to begin"),
    made("ul", { className: "suggested" }, ...suggested),
    made("h3", {}, "Metrics"),
    made("p", {}, made("label", { htmlFor: "metric-find" }, "Find "), find, " ", count),
    made("div", { className: "scroller", tabIndex: 0, role: "region", ariaLabel: "Metrics" }, table),
  ];
}

/** A counter says something by its growth. */
const first_expression = ({ name }: MetricEntry) => (name.endsWith("_total") ? `rate(${name}[1m])` : name);
