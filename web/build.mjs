// Builds the page into dist/, which is committed: building whit needs no Node.

import { copyFile } from "node:fs/promises";
import { build } from "esbuild";

await build({
  entryPoints: { page: "src/main.ts", style: "src/page.css", reader: "src/reader.ts", "reader-style": "src/reader.css" },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "eof",
  logLevel: "warning",
});
for (const page of ["index.html", "sign_in.html"]) await copyFile(page, `dist/${page}`);
