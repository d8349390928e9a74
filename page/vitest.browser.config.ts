import { defineConfig } from "vitest/config";

// The built page in Chromium, served by a static host and by `tailroom explore`.
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.browser.ts"],
    // One browser at a time: each page uses every core.
    fileParallelism: false,
    // The page begins with a scenario of a million packets, on machines that do other work too.
    testTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
  },
});
