// Every action, who may do it, and what is shown when the node or the session is gone.
import assert from "node:assert/strict";
import { checkPage } from "./walk.mjs";

const EVERYTHING = ["read", "audit", "approve", "operate", "erase", "grant"];

/** Fills the reason of the open dialog, and presses its button. */
async function confirm(page, button, fields = {}) {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: button }).click();
  await dialog.getByRole("alert").waitFor(); // nothing goes without a reason
  for (const [name, value] of Object.entries(fields)) await dialog.getByLabel(name).fill(value);
  const reason = dialog.getByLabel(/^(Reason|Comment)$/);
  await reason.fill("a test of the console");
  await dialog.getByRole("button", { name: button }).click();
  await dialog.waitFor({ state: "detached" });
}

async function approvals(page, node, axe) {
  await page.goto(`${node.url}/console/#/approvals`);
  const before = (await node.ask("GET", "/v1/policy")).policy_id;
  const proposal = (await node.ask("GET", "/v1/proposals")).proposals.find(
    (one) => one.state === "waiting",
  );
  assert.ok(proposal, "the demo's store has no proposal");
  await checkPage(page, axe, "what waits for approval");
  await page.getByRole("button", { name: "Approve …" }).click();
  await checkPage(page, axe, "a dialog");
  assert.ok(
    (await page.getByRole("dialog").textContent()).includes(proposal.digest),
    "what is approved is not shown",
  );
  await confirm(page, "Approve");
  await page.getByText("Nothing waits for approval").waitFor();
  assert.equal((await node.ask("GET", "/v1/policy")).policy_id, proposal.policy);
  await page.goto(`${node.url}/console/#/now`);
  await page.getByRole("button", { name: "Roll back …" }).click();
  await confirm(page, "Roll back");
  await page.getByText("by the declared rule").first().waitFor();
  assert.equal((await node.ask("GET", "/v1/policy")).policy_id, before);
}

async function stops(page, node) {
  await page.goto(`${node.url}/console/#/now`);
  for (const [press, button, name] of [
    ["Stop exploration …", "Stop exploration", "exploration"],
    ["Rules only …", "Rules only", "rules-only"],
    ["Refer all …", "Refer all", "refer-all"],
  ]) {
    await page.getByRole("button", { name: press }).click();
    await confirm(page, button);
    await page.getByText("This node decides, but").waitFor();
    assert.deepEqual((await node.ask("GET", "/v1/stops")).in_force, [name]);
    await page.getByRole("button", { name: "End the stop …" }).click();
    await confirm(page, "End the stop");
    await page.getByText("All is well").waitFor();
    assert.deepEqual((await node.ask("GET", "/v1/stops")).in_force, []);
  }
}

const search = (page) => page.getByRole("button", { name: "Search", exact: true }).click();

/** A search begins with its button alone, and no person is in an address. */
async function searching(page, node) {
  const { decision_id: id, application } = (await node.ask("GET", "/v1/decisions?limit=1"))
    .decisions[0];
  const searched = [];
  page.on("request", (one) => {
    const url = new URL(one.url());
    if (url.pathname === "/v1/decisions") searched.push(url.searchParams.get("person"));
  });
  const person = application.person_id;
  await page.goto(`${node.url}/console/#/decisions/${id}`);
  await page.getByRole("link", { name: person, exact: true }).click();
  const field = page.getByLabel("Person", { exact: true });
  await field.waitFor();
  assert.equal(await field.inputValue(), person, "the link fills nothing in");
  await page.goto(`${node.url}/console/#/decisions?person=${person}&period=365`);
  await field.waitFor();
  await page.waitForFunction(() => !location.hash.includes("person"));
  assert.equal(await field.inputValue(), person, "the address fills nothing in");
  await page.getByLabel("Period").selectOption("all");
  assert.deepEqual(searched, [], "a search began by itself");
  await search(page);
  await page.getByText(/\d rows?\./).waitFor();
  assert.deepEqual(searched, [person]);
  assert.equal(new URL(page.url()).hash, "#/decisions?period=all");
}

/** The counters are read by the labels that the node gives them; a minute needs its time. */
async function traffic(page, node) {
  const counts = { approve_no: 5, approve_yes: 3, decline_no: 2, refer_no: 1 };
  const names = new Set();
  await page.route("**/metrics", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace(
      /^(rampart_decisions_total\{action="(\w+)",explored="(\w+)"\}) .*$/gm,
      (_, series, action, explored) => {
        names.add(`${action}_${explored}`);
        return `${series} ${counts[`${action}_${explored}`]}`;
      },
    );
    await route.fulfill({ response: answer, body });
  });
  await page.goto(`${node.url}/console/#/now`);
  const card = page.locator("section.card").filter({
    has: page.getByRole("heading", { name: "Decisions", exact: true }),
  });
  const figures = card.locator("dl.facts > div");
  const shown = { Approved: 8, Declined: 2, Referred: 1, Explored: 3 };
  for (const [name, count] of Object.entries(shown))
    await figures.filter({ hasText: new RegExp(`^${name}${count}$`) }).waitFor();
  assert.deepEqual([...names].sort(), Object.keys(counts), "the node has other labels");
  assert.match(await card.locator(".big").textContent(), /^–/, "a minute before it was over");
  await page.unroute("**/metrics");
}

async function reading(page, node, axe) {
  await page.goto(`${node.url}/console/#/certificate/e1r1`);
  await page.getByLabel("Reason").fill("a test of the console");
  await page.getByRole("button", { name: "Open the certificate" }).click();
  await page.getByText("What it does not say").waitFor();
  await page.getByText(/With confidence 90 %/).waitFor();
  await checkPage(page, axe, "a certificate");
  const read = await node.ask("GET", "/v1/audit?principal=editor&limit=1000");
  assert.ok(
    read.entries.some((one) => one.action === "sign_in"),
    "signing in is not on record",
  );
  await searching(page, node);
  await page.goto(`${node.url}/console/#/decisions?period=all&action=decline`);
  await search(page);
  await page.getByText("50 rows").waitFor();
  await page.getByRole("button", { name: "Load more" }).click();
  await page.getByText("100 rows").waitFor();
  await page.getByRole("button", { name: "Copy as a command" }).click();
  const text = await page.getByRole("dialog").textContent();
  assert.match(text, /rampart decisions --action decline --newest --config rampartd.toml/);
  assert.match(text, /curl -H .*v1\/decisions\?action=decline/);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.goto(`${node.url}/console/#/policies`);
  await page.getByLabel("Time, in UTC").fill("never");
  await page.getByRole("button", { name: "Ask" }).click();
  await page.getByRole("alert").getByText("What to do:").waitFor();
  await page.getByLabel("Time, in UTC").fill("2022-06-01");
  await page.getByRole("button", { name: "Ask" }).click();
  await page.getByText("the declared rule").first().waitFor();
}

async function privacy(page, node) {
  const person = (await node.ask("GET", "/v1/decisions?limit=1&from=2023-12-01")).decisions[0]
    .application.person_id;
  await page.goto(`${node.url}/console/#/privacy`);
  await page.getByRole("button", { name: "Place a hold …" }).click();
  await confirm(page, "Place the hold", { Person: person, Matter: "m-1" });
  await page.getByRole("cell", { name: "m-1" }).waitFor();
  await page.getByLabel("Person").fill(person);
  await page.getByLabel("Reason").fill("a test of the console");
  await page.getByRole("button", { name: "See what would be erased" }).click();
  await page.getByRole("alert").getByText("What to do:").waitFor(); // the hold forbids it
  await page.getByRole("button", { name: "Remove a hold …" }).click();
  await confirm(page, "Remove the hold", { Person: person, Matter: "m-1" });
  await page.getByText("There is no hold").waitFor();
}

/** Asks within the page's session, as a script of the page could. */
const asks = (page, method, path, headers = {}, body = undefined) =>
  page.evaluate(
    async ([how, where, given, sent]) => {
      const answer = await fetch(where, { method: how, headers: given, body: sent });
      return { status: answer.status, reason: (await answer.json()).reason };
    },
    [method, path, headers, body],
  );

/** Who may read sees nothing to press, and is refused if asking all the same. */
async function reader({ node, open, signIn }) {
  const { context, page, seen } = await open({ viewport: { width: 1280, height: 900 } });
  await signIn(page, await node.principal("reader", ["read"]));
  const shown = await page.getByRole("navigation").getByRole("link").allTextContents();
  assert.deepEqual(shown, [
    "Now",
    "Decisions",
    "Policies",
    "Runs",
    "Approvals",
    "Privacy",
    "Health",
  ]);
  await page.getByText("Stops").first().waitFor();
  for (const name of ["Stop exploration …", "Rules only …", "Refer all …", "Roll back …"])
    assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  await page.goto(`${node.url}/console/#/audit`);
  await page.getByText("Your token lacks the scope").waitFor();
  await page.goto(`${node.url}/console/#/decisions`);
  await page.getByText("your token needs the scope “audit”").waitFor();
  await page.goto(`${node.url}/console/#/privacy`);
  await page.getByText("your token needs the scope “erase”").waitFor();
  assert.equal(await page.getByRole("button", { name: /hold …/ }).count(), 0);
  await page.goto(`${node.url}/console/#/health`);
  await page.getByText("Work of this node").waitFor();
  assert.equal(await page.getByText("Who may call, and until when.").count(), 0);
  const key = (await page.evaluate(async () => (await fetch("/v1/session")).json())).write_key;
  const why = '{"reason":"test"}';
  const withKey = { "X-Rampart-Write-Key": key };
  assert.deepEqual(await asks(page, "POST", "/v1/stops/exploration", withKey, why), {
    status: 403,
    reason: "missing_scope",
  });
  assert.deepEqual(await asks(page, "GET", "/v1/audit"), { status: 403, reason: "missing_scope" });
  seen.check(node.url);
  await context.close();
}

/** The cookie alone changes nothing; it is gone after signing out, and with its token. */
async function sessions({ node, open, signIn }) {
  const { context, page } = await open({ viewport: { width: 1280, height: 900 } });
  await signIn(page, await node.principal("leaver", EVERYTHING));
  const [cookie] = await context.cookies();
  assert.deepEqual(
    [cookie.name, cookie.httpOnly, cookie.sameSite],
    ["rampart_session", true, "Strict"],
  );
  const why = '{"reason":"test"}';
  assert.deepEqual(await asks(page, "POST", "/v1/stops/exploration", {}, why), {
    status: 403,
    reason: "write_key_missing",
  });
  assert.deepEqual((await node.ask("GET", "/v1/stops")).in_force, []);
  await node.ask("DELETE", "/v1/tokens/leaver");
  await page.getByText("Your session has ended").waitFor();
  await signIn(page, await node.principal("leaver", EVERYTHING));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").waitFor();
  assert.deepEqual(await context.cookies(), []);
  assert.equal(
    (
      await fetch(`${node.url}/v1/session`, {
        headers: { Cookie: `rampart_session=${cookie.value}` },
      })
    ).status,
    401,
  );
  await page.getByLabel("Token").fill("0".repeat(64));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("What to do:").waitFor();
  await context.close();
}

/** A page whose session was replaced in its browser shows nothing more. */
async function replaced({ node, open, signIn }) {
  const { context, page } = await open({ viewport: { width: 1280, height: 900 } });
  await signIn(page, await node.principal("first", EVERYTHING));
  await page.getByText("Policy in charge").waitFor();
  const second = { Authorization: `Bearer ${await node.principal("second", ["read"])}` };
  assert.equal((await asks(page, "POST", "/v1/session", second)).status, 200);
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.getByText("Another session was opened in this browser").waitFor();
  assert.equal(await page.getByText("Policy in charge").count(), 0, "what was seen is still there");
  await context.close();
}

/** A lost connection is shown and mends by itself; after a new start one signs in again. */
async function connection({ node, open, signIn }) {
  const { context, page } = await open({ viewport: { width: 1280, height: 900 } });
  const token = await node.principal("watcher", EVERYTHING);
  await signIn(page, token);
  await page.getByText("All is well").waitFor();
  await context.setOffline(true);
  await page.getByText("No connection to the service.").waitFor();
  assert.ok(await page.getByText("Policy in charge").isVisible(), "what was seen is gone");
  await context.setOffline(false);
  await page.getByText("Connected again.").waitFor();
  await page.getByText("No connection to the service.").waitFor({ state: "detached" });
  node.keepPort();
  await node.stop();
  await page.getByText("No connection to the service.").waitFor();
  await node.start();
  await page.getByText("Your session has ended").waitFor();
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("All is well").waitFor();
  await context.close();
}

/** The keyboard alone reaches a page and a dialog, and comes back. */
async function keyboard(page, node) {
  await page.goto(`${node.url}/console/#/now`);
  await page.getByText("All is well").waitFor();
  await page.reload();
  await page.getByText("All is well").waitFor();
  await page.getByRole("link", { name: "Decisions", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Decisions", exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "H1");
  await page.goto(`${node.url}/console/#/now`);
  const button = page.getByRole("button", { name: "Rules only …" });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.ok(await button.evaluate((one) => one === document.activeElement), "the focus is lost");
}

export async function actions(tools) {
  const { node, open, signIn, axe } = tools;
  const { context, page, seen } = await open({ viewport: { width: 1280, height: 900 } });
  await signIn(page, await node.principal("editor", EVERYTHING));
  for (const step of [keyboard, traffic, reading, approvals, stops, privacy]) {
    await step(page, node, axe);
    console.log(`${step.name}: good`);
  }
  seen.check(node.url);
  await context.close();
  for (const step of [reader, sessions, replaced, connection]) {
    await step(tools);
    console.log(`${step.name}: good`);
  }
}
