// Opens the browser and the nodes, and walks; or takes the pictures of the guide.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { actions } from "./actions.mjs";
import { pictures } from "./pictures.mjs";
import { ServedNode } from "./served_node.mjs";
import { walk } from "./walk.mjs";

const { values: given } = parseArgs({
  options: {
    programs: { type: "string" },
    work: { type: "string" },
    chromium: { type: "string" },
    packages: { type: "string" },
    pictures: { type: "string" },
  },
});
const packages = createRequire(`${given.packages}/`);
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");

/** What a page asked for, and what it complained of. */
class Seen {
  constructor(page) {
    this.origins = new Set();
    this.complaints = [];
    page.on("request", (one) => {
      // a file that the page saves is made in the page
      if (!one.url().startsWith("blob:")) this.origins.add(new URL(one.url()).origin);
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      const text = message.text();
      // the browser's line about an answer of 401 or 403, or about a lost connection
      if (message.type() === "error" && !text.startsWith("Failed to load resource"))
        this.complaints.push(text);
    });
  }
  check(origin) {
    assert.deepEqual([...this.origins], [origin], "requests elsewhere");
    assert.deepEqual(this.complaints, [], "errors of the page");
  }
}

async function open(browser, options) {
  const context = await browser.newContext({
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  return { context, page, seen: new Seen(page) };
}

async function signIn(node, page, token, hash = "") {
  await page.goto(`${node.url}/console/${hash}`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation").waitFor();
}

/** Does something with the node of a store, which ends in any case. */
async function onStore(store, browser, work) {
  const node = new ServedNode(given.programs, `${given.work}/${store}`);
  await node.start();
  try {
    await work({
      node,
      axe,
      open: (options) => open(browser, options),
      signIn: (page, token, hash) => signIn(node, page, token, hash),
    });
  } finally {
    await node.stop();
  }
}

const browser = await chromium.launch({
  executablePath: given.chromium,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
});
try {
  if (given.pictures) {
    for (const store of ["promoted", "proposed"])
      await onStore(store, browser, (tools) => pictures(tools, given.pictures, store));
  } else {
    await onStore("promoted", browser, walk);
    await onStore("proposed", browser, actions);
  }
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  await browser.close();
}
