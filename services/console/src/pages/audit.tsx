import { useId, useState } from "preact/hooks";
import type { PageProps } from "../app";
import { client, may } from "../api";
import { type AuditEntry, getStatus, listAudit } from "../client";
import { link, quoted } from "../format";
import { useAsk } from "../hooks";
import { Card, Command, Empty, Failure, Id, Page, Shown, When } from "../parts/basics";
import { Ways } from "../parts/dialogs";
import { usePages } from "../parts/pages_of";
import { Period, TextField, fromOf } from "../parts/period";
import { Table } from "../parts/table";
import { t } from "../texts";

const FIELDS = ["principal", "action", "object"] as const;
const LIMIT = 50;

function Form({ query }: { query: URLSearchParams }) {
  const id = useId();
  const [values, set] = useState<Record<string, string>>(Object.fromEntries(query));
  const put = (name: string) => (value: string) => set({ ...values, [name]: value });
  return (
    <form
      class="search"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        location.hash = link(
          "audit",
          [],
          Object.fromEntries(Object.entries(values).map(([k, v]) => [k, v.trim()])),
        );
      }}
    >
      <Period id={`${id}-period`} value={values["period"] ?? "30"} set={put("period")} />
      {FIELDS.map((name) => (
        <TextField
          key={name}
          id={`${id}-${name}`}
          label={t.audit[name]}
          value={values[name] ?? ""}
          set={put(name)}
        />
      ))}
      <button type="submit" class="primary">
        {t.decisions.go}
      </button>
    </form>
  );
}

function Details({ entry }: { entry: AuditEntry }) {
  const parts = Object.entries(entry.details).map(
    ([name, value]) => `${name}: ${value.length > 40 ? `${value.slice(0, 12)}…` : value}`,
  );
  if (entry.withheld.length > 0) parts.push(t.audit.withheld(entry.withheld.join(", ")));
  return <div class="why">{parts.join(" · ") || "–"}</div>;
}

function Rows({ rows }: { rows: AuditEntry[] }) {
  const names = t.audit.columns;
  return (
    <Table
      label={t.audit.title}
      rows={rows}
      keyOf={(one) => one.number}
      columns={[
        { name: names.number, number: true, cell: (one) => String(one.number) },
        { name: names.at, cell: (one) => <When time={one.at} /> },
        { name: names.principal, cell: (one) => one.principal },
        { name: names.action, cell: (one) => <code>{one.action}</code> },
        { name: names.object, cell: (one) => (one.object ? <Id id={one.object} /> : "–") },
        { name: names.change, cell: (one) => <Details entry={one} /> },
      ]}
    />
  );
}

function Found({ query, now }: { query: URLSearchParams; now: string }) {
  const asked: Record<string, string> = {};
  for (const name of FIELDS) {
    const value = query.get(name);
    if (value) asked[name] = value;
  }
  const from = fromOf(query.get("period") ?? "30", now);
  if (from) asked["from"] = from;
  const found = usePages(
    async (cursor: number | undefined) =>
      (
        await listAudit(client, {
          ...asked,
          limit: LIMIT,
          ...(cursor === undefined ? {} : { cursor }),
        })
      ).body,
    (page) => page.entries,
    [asked],
  );
  const options = Object.entries(asked).map(([name, value]) => ` --${name} ${quoted(value)}`);
  return (
    <>
      {found.error !== undefined ? <Failure error={found.error} again={found.next} /> : null}
      {found.rows.length > 0 ? <Rows rows={found.rows} /> : null}
      {found.page && found.rows.length === 0 && !found.more ? (
        <Empty title={t.audit.empty} text={t.audit.emptyText}>
          {query.get("period") !== "all" ? (
            <a href={link("audit", [], { ...Object.fromEntries(query), period: "all" })}>
              {t.decisions.all}
            </a>
          ) : null}
        </Empty>
      ) : null}
      {found.busy ? (
        <p class="quiet waiting" role="status">
          {t.loading}
        </p>
      ) : null}
      <div class="foot">
        {found.more && !found.busy ? (
          <button type="button" onClick={found.next}>
            {t.table.more}
          </button>
        ) : null}
        <Ways
          path={`/v1/audit?${new URLSearchParams({ ...asked, limit: String(LIMIT) })}`}
          rampart={`rampart audit list --store STORE${options.join("")}`}
        />
        <span class="quiet">{t.table.rows(found.rows.length)}</span>
      </div>
    </>
  );
}

export function AuditPage({ route }: PageProps) {
  const now = useAsk(
    async () => (may("read") ? (await getStatus(client)).body.clock.now : new Date().toISOString()),
    [],
  );
  const query = route.query;
  return (
    <Page title={t.audit.title} lead={t.audit.lead}>
      <div class="stack-gap">
        <section class="card">
          <Form query={query} key={query.toString()} />
          <Shown asked={now}>{(time) => <Found query={query} now={time} />}</Shown>
        </section>
        <Card title={t.audit.proof}>
          <p class="quiet">{t.audit.proofText}</p>
          <Command
            label={t.copy.rampart}
            text="rampart audit export --config audit.toml --out audit.jsonl"
          />
          <Command
            label={t.audit.proof}
            text="tools/audit/verify_export STORE/gate.pub.pem audit.jsonl"
          />
        </Card>
      </div>
    </Page>
  );
}
