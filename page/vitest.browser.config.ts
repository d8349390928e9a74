import { defineConfig } from "vitest/config";

// The built page in Chromium, served by a static host and by `tailroom explore`.
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.browser.ts"],
    // One browser at a time: each page uses every core.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
