// An agent and some load for the tests of the page, all of which end with them.

import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";

/** A name that would run if it were markup: all that fits into the name of a task. */
export const HOSTILE = "<img src=x one";
/** The name of the load, under which nothing else runs. */
export const LOAD = "page-load";

const CONFIG = `
[alerts]
interval = "1s"
[[alert]]
name = "busy"
expression = 'sum(rate(node_cpu_seconds_total{mode=~"user|system"}[10s])) > 0.2'
[[check]]
name = "fine"
command = ["sh", "-c", "echo 'all is well | wells=3;5;8'"]
interval = "2s"
[[check]]
name = "broken"
host = "web1"
command = ["sh", "-c", "echo '<b>it</b> is broken'; echo 'in long'; exit 2"]
interval = "2s"
attempts = 1
`;

export class Machine {
  directory = mkdtempSync(join(tmpdir(), "whit-page-"));
  #children = [];

  constructor() {
    // Also behind a test that failed, and one that did not end.
    process.on("exit", () => this.#kill("SIGKILL"));
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
  }

  /** Starts a command. It ends with the tests of the file. */
  start(command, ...words) {
    const child = spawn(command, words, { stdio: "ignore" });
    this.#children.push(child);
    return child;
  }

  /** Starts an agent. Returns its address and how it is asked. */
  async agent(port, more = "") {
    const place = join(this.directory, String(port));
    mkdirSync(place);
    writeFileSync(join(place, "agent.toml"), CONFIG + more);
    const at = (name) => join(place, name);
    const http = more.includes("[http]") ? [] : ["--http", `127.0.0.1:${port}`];
    const words = ["--config", at("agent.toml"), "--data", at("data"), "--now", at("now"), "--socket", at("socket"), ...http];
    this.start(process.env.WHIT, "agent", ...words);
    const address = `http://127.0.0.1:${port}`;
    for (let attempt = 0; attempt < 300; attempt += 1) {
      const reply = await fetch(`${address}/-/ready`, { signal: AbortSignal.timeout(2000) }).catch(() => null);
      if (reply) return { address, data: at("data") };
      await rest(100);
    }
    throw new Error("the agent does not answer");
  }

  /** Uses a share of a CPU, as one process: a parent of the same name would be another row, which is the first one now and then. It gives way
   * to what is tested. */
  load(share = 0.4) {
    const path = join(this.directory, LOAD);
    if (!existsSync(path)) copyFileSync("/usr/bin/perl", path);
    const rest_s = 0.1 * (1 - share) / share;
    const load = this.start(path, "-e", `while (1) { my $end = (times)[0] + 0.1; do { 1 for 1 .. 20000 } while ((times)[0] < $end); select undef, undef, undef, ${rest_s} }`);
    setPriority(load.pid, 10);
    return load;
  }

  /** Has a task of the hostile name. */
  hostile() {
    const path = join(this.directory, HOSTILE);
    copyFileSync("/bin/sleep", path);
    return this.start(path, "3600");
  }

  /** Ends everything, which must not take long. */
  async end() {
    this.#kill("SIGTERM");
    for (let attempt = 0; this.#children.some(is_there); attempt += 1) {
      if (attempt === 400) throw new Error(`these do not end: ${this.#children.filter(is_there).map(({ spawnargs }) => spawnargs.join(" "))}`);
      await rest(100);
    }
    rmSync(this.directory, { recursive: true });
  }

  #kill(signal) {
    for (const child of this.#children) child.kill(signal);
  }
}

const is_there = ({ exitCode, signalCode }) => exitCode === null && signalCode === null;

export const rest = (length_ms) => new Promise((resolve) => setTimeout(resolve, length_ms));
