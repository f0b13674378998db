// Every page, in both themes and two widths: it is there, axe finds nothing, nothing overflows.
import assert from "node:assert/strict";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The pages, with a text that only the page with its data has, and what is pressed before. */
export async function pagesOf(node) {
  const found = await node.ask("GET", "/v1/decisions?action=decline&from=2023-06-01&limit=3");
  const declined = found.decisions[0].decision_id;
  const approved = (await node.ask("GET", "/v1/decisions?action=approve&from=2023-06-01&limit=1"))
    .decisions[0].decision_id;
  return [
    ["now", "#/now", "Policy in charge"],
    ["decisions", "#/decisions?period=365", "rows.", "Search"],
    ["nothing", "#/decisions?period=1", "No decision fits", "Search"],
    ["decision", `#/decisions/${declined}`, "Notice to the applicant"],
    ["approved", `#/decisions/${approved}`, "An approval has no reasons."],
    ["no_decision", "#/decisions/none", "What to do:"],
    ["policies", "#/policies", "Registered policies"],
    ["runs", "#/runs", "11 rows"],
    ["run", "#/runs/1", "Figures of the training"],
    ["certificate", "#/certificate/e1r1", "Open the certificate"],
    ["approvals", "#/approvals", "Before"],
    ["audit", "#/audit?period=all", "Prove that nothing was changed"],
    ["privacy", "#/privacy", "There is no hold"],
    ["health", "#/health", "Work of this node"],
    ["unknown", "#/nowhere", "There is no such page"],
    ["broken", "#/%", "There is no such page"],
  ];
}

export async function checkPage(page, axe, what) {
  const wide = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.ok(wide <= 0, `${what}: is ${wide} px wider than the window`);
  await page.evaluate(axe);
  const found = await page.evaluate(
    (rules) => globalThis.axe.run(document, { runOnly: rules }),
    RULES,
  );
  const faults = found.violations.map(
    (one) =>
      `${one.id}: ${one.help}\n${one.nodes
        .slice(0, 3)
        .map((at) => at.html.slice(0, 200))
        .join("\n")}`,
  );
  assert.deepEqual(faults, [], `${what}: axe`);
  assert.ok(found.passes.length > 10, `${what}: axe has looked at nothing`);
}

export async function walk({ node, open, signIn, axe }) {
  const pages = await pagesOf(node);
  const token = await node.principal("walker", [
    "read",
    "audit",
    "approve",
    "operate",
    "erase",
    "grant",
  ]);
  for (const theme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      const { context, page, seen } = await open({
        colorScheme: theme,
        viewport: { width, height: 900 },
      });
      await page.goto(`${node.url}/console/`);
      await page.getByLabel("Token").waitFor();
      await checkPage(page, axe, `sign in, ${theme}, ${width} px`);
      await signIn(page, token);
      for (const [name, hash, text, button] of pages) {
        await page.goto(`${node.url}/console/${hash}`);
        if (button) await page.getByRole("button", { name: button, exact: true }).click();
        await page.getByText(text).first().waitFor();
        await page.waitForFunction(() => document.querySelector(".waiting") === null);
        await checkPage(page, axe, `${name}, ${theme}, ${width} px`);
      }
      seen.check(node.url);
      const stored = await page.evaluate(() =>
        JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
      );
      assert.equal(stored, '[{},{},""]', "the page keeps something");
      await context.close();
      console.log(`${pages.length + 1} pages, ${theme}, ${width} px: good`);
    }
  }
}
