import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

const root = import.meta.dirname;
const out = resolve(root, process.env["TAILROOM_PAGE_OUT"] ?? "../python/tailroom/explore/page");
const wasm = resolve(root, process.env["TAILROOM_WASM"] ?? "wasm");

/** Writes the list of the page's files into the service worker, so that it can keep them. */
function fillServiceWorker(): Plugin {
  let files: string[] = [];
  return {
    name: "fill-service-worker",
    apply: "build",
    writeBundle(_options, bundle) {
      files = Object.keys(bundle).filter((name) => !name.endsWith(".map"));
    },
    closeBundle() {
      if (files.length === 0) return;
      const source = readFileSync(resolve(root, "public/service-worker.js"), "utf8");
      const version = createHash("sha256").update(files.join("\n")).digest("hex").slice(0, 12);
      const list = JSON.stringify([
        ...files,
        "viewer.js",
        "from_disk.js",
        "icon.svg",
        "opened.json",
      ]);
      const filled = source.replace("[/* files */]", list).replace("/* version */", version);
      writeFileSync(resolve(out, "service-worker.js"), filled);
    },
  };
}

/** Fails with a remedy if the engine is not built. */
function needEngine(): Plugin {
  return {
    name: "need-engine",
    apply: "build",
    buildStart() {
      if (existsSync(resolve(wasm, "tailroom_web_bg.wasm"))) return;
      this.error(`${wasm} has no engine: run \`make page\`, which builds it first`);
    },
  };
}

// The page, and the pictures of an exported document as one script ("viewer").
export default defineConfig(({ mode }) => ({
  root,
  base: "./",
  resolve: { alias: { "#wasm": wasm } },
  worker: { format: "es" as const },
  plugins: mode === "viewer" ? [] : [needEngine(), fillServiceWorker()],
  publicDir: mode === "viewer" ? false : "public",
  build: {
    outDir: out,
    emptyOutDir: mode !== "viewer",
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    ...(mode === "viewer" && {
      lib: {
        entry: resolve(root, "src/keep/viewer.ts"),
        formats: ["iife" as const],
        name: "tailroomViewer",
        fileName: () => "viewer.js",
      },
    }),
  },
  test: { environment: "node", include: ["tests/**/*.test.ts"] },
}));
