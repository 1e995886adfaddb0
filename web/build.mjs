// Builds the page into dist/, which is committed: building whit needs no Node. esbuild does it alone: Vite would bring forty packages for
// the same.

import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

// What is the same keeps its time: a build of whit that runs meanwhile would take it for changed.
function write(path, bytes) {
  let before;
  try {
    before = readFileSync(path);
  } catch {
    // It is not there yet.
  }
  if (!before?.equals(bytes)) writeFileSync(path, bytes);
}

const { outputFiles } = await build({
  entryPoints: { page: "src/main.ts", style: "src/page.css", reader: "src/reader.ts", "reader-style": "src/reader.css" },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "eof",
  logLevel: "warning",
  write: false,
});
for (const { path, contents } of outputFiles) write(path, Buffer.from(contents));
for (const page of ["index.html", "sign_in.html"]) write(`dist/${page}`, readFileSync(page));
