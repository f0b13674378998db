// The pictures of ops/guide/console.md.
import { mkdirSync } from "node:fs";
import { pagesOf } from "./walk.mjs";

/** By store: page, theme, width and height of the window. */
const SHOWN = {
  promoted: [
    ["now", "light", 1200, 1000],
    ["decision", "light", 1200, 900],
    ["certificate", "light", 1200, 820],
    ["now", "dark", 390, 780],
  ],
  proposed: [["approvals", "dark", 1200, 760]],
};

export async function pictures({ node, open, signIn }, folder, store) {
  mkdirSync(folder, { recursive: true });
  const token = await node.principal("anna", ["read", "audit", "approve", "operate"]);
  const pages = new Map((await pagesOf(node)).map(([name, ...rest]) => [name, rest]));
  // all pages whole, to look at while working on them
  const all = [...pages.keys()].flatMap((name) => [
    [name, "light", 1280, 0],
    [name, "dark", 390, 0],
  ]);
  for (const [name, theme, width, height] of process.env.RAMPART_ALL_PICTURES
    ? all
    : SHOWN[store]) {
    const { context, page } = await open({
      colorScheme: theme,
      viewport: { width, height: height || 900 },
    });
    const [hash, text, button] = pages.get(name);
    await signIn(page, token, hash);
    if (button) await page.getByRole("button", { name: button, exact: true }).click();
    await page.getByText(text).first().waitFor();
    if (name === "certificate") {
      await page.getByLabel("Reason").fill("yearly validation");
      await page.getByRole("button", { name: "Open the certificate" }).click();
      await page.getByText("What it does not say").waitFor();
    }
    await page.waitForFunction(() => document.querySelector(".waiting") === null);
    const path = `${folder}/${name}-${theme}-${width}.png`;
    await page.screenshot({ path, fullPage: height === 0 });
    await context.close();
  }
}
