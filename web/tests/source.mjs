// A module of the page's sources, for tests without a browser.

import { build } from "esbuild";

/** Imports it. */
export async function source(name) {
  const built = await build({ entryPoints: [new URL(`../src/${name}.ts`, import.meta.url).pathname], bundle: true, format: "esm", write: false });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].text).toString("base64")}`);
}
