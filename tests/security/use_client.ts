// The client that tools/clients/typescript writes, used as a lender's program would. The compiler
// has to refuse each line below a `@ts-expect-error`: the types are those of the document.
import * as api from "./rampart.js";

declare const process: { argv: string[] };
const [url, token, poor, text] = process.argv.slice(2) as [string, string, string, string];
const client: api.Client = { url, token, timeoutMs: 60_000 };
const application = JSON.parse(text) as api.Application;

function expect(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error("not as expected: " + JSON.stringify(what));
}

async function refused(asked: Promise<unknown>): Promise<api.Refusal> {
  const got = await asked.catch((error: unknown) => error);
  expect(got instanceof api.Refusal, String(got));
  return got;
}

const { status, body: decision } = await api.decide(client, application);
expect(status === 200 && "decision_id" in decision, decision);
expect(decision.action === "approve" || decision.action === "decline", decision);
const { body: batch } = await api.decide(client, { applications: [application] });
expect("decisions" in batch && batch.decisions[0]?.draw === decision.draw, "one draw for each");
const found = await api.getDecision(client, decision.decision_id);
expect(JSON.stringify(found.body) === JSON.stringify(decision), found.body);
// @ts-expect-error: no such action
expect(decision.action !== "perhaps", decision);
// @ts-expect-error: no such member
expect(decision.verdict === undefined, decision);

const accepted = await api.reportOutcomes(client, {
  decision_id: decision.decision_id,
  measure: "repaid",
  value: 1,
  observed_at: application.event_time,
});
expect(accepted.body.accepted === 1, accepted);
const attributes = ["white", "asian"].map((race, i) => ({
  person_id: `person-${i}`,
  event_time: application.event_time,
  attributes: { race },
}));
const many = await api.reportProtectedAttributes(client, attributes);
expect(many.body.accepted === 2, many);
const metrics: string = (await api.getMetrics({ url })).body;
expect(metrics.includes("\nrampart_decisions_total"), metrics.slice(0, 200));
const ready = await api.getReadiness({ url: url + "/" });
expect(ready.status === 200 && ready.body.ok, ready);
expect((await api.getStatus(client)).body.ready, "not ready");

// refusals have the details of the problem document
// @ts-expect-error: dry_run is a boolean
const wrong: api.ErasureByPerson = { person_id: "p", reason: "r", dry_run: "true" };
const mistyped = await refused(api.erase(client, wrong));
expect(mistyped.status === 400 && mistyped.problem.field === "dry_run", mistyped.problem);
const person = { person_id: application.person_id, reason: "asked", dry_run: true };
const kept = await refused(api.erase(client, person, { Prefer: "wait=5" }));
expect(kept.status === 409 && kept.problem.reason === "retention", kept.problem);
expect(kept.problem.status === 409 && (kept.problem.remedy ?? "") !== "", kept.problem);
expect(kept.message.startsWith("retention: "), kept.message);
const misfit = { ...application, application_id: "other", features: { none: 1 } };
const unknown = await refused(api.decide(client, misfit));
expect(unknown.problem.reason === "unknown_feature", unknown.problem);
const none = await refused(api.getDecision(client, decision.decision_id + "#b"));
expect(none.status === 404, none.problem);
const model = new Blob(["no model"]);
const proposed = await refused(api.proposeCandidate(client, model, { plan: 1, file: true }));
expect(proposed.problem.type.startsWith("urn:rampart:reason:"), proposed.problem);
const planned = await refused(api.proposeCandidate(client, model, { plan: 33 }));
expect(planned.problem.field === "plan", planned.problem);
// @ts-expect-error: the reason is required
const read = await refused(api.getCertificate(client, "e1r1", {}));
expect(read.status === 403, read.problem);

// who asks
const stranger = await refused(api.getStatus({ url, token: "0".repeat(64) }));
expect(stranger.problem.reason === "unauthenticated", stranger.problem);
const lacking = await refused(api.decide({ url, token: poor }, application));
expect(lacking.status === 403 && lacking.problem.reason === "missing_scope", lacking.problem);
// @ts-expect-error: no such scope
const nosuch: api.Scopes = ["reed"];
const day = { expires: "2999-01-01", scopes: ["read" as const] };
const made = await api.createToken(client, { name: "typescript", ...day });
expect((await api.getStatus({ url, token: made.body.token })).status === 200, nosuch);
expect((await api.revokeToken(client, "typescript")).status === 200, "not revoked");

// what never reaches the service, and what is none
for (const bad of ["", ".", ".."]) {
  const got = await api.getJob(client, bad).catch((error: unknown) => error);
  expect(got instanceof RangeError, String(got));
}
const html = { headers: { "content-type": "text/html" } };
const other = () => Promise.resolve(new Response("<html>", html));
const page = await api.getStatus({ url, fetch: other }).catch((error: unknown) => error);
expect(page instanceof api.UnexpectedAnswer && page.contentType === "text/html", String(page));
console.log("the TypeScript client decides, reports, reads and is refused");
