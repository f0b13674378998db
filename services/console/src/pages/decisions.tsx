import { useId, useState } from "preact/hooks";
import type { PageProps } from "../app";
import { client, may, session } from "../api";
import { type Decision, getStatus, listDecisions } from "../client";
import { count, link, number, quoted } from "../format";
import { useAsk } from "../hooks";
import { Action, Card, Empty, Failure, Id, Page, Shown, When } from "../parts/basics";
import { Ways } from "../parts/dialogs";
import { usePages } from "../parts/pages_of";
import { Period, TextField, fromOf } from "../parts/period";
import { Table } from "../parts/table";
import { t } from "../texts";

const FIELDS = ["person", "application", "policy", "reason"] as const;
const LIMIT = 50;

function OpenOne() {
  const id = useId();
  const [value, set] = useState("");
  const [empty, setEmpty] = useState(false);
  return (
    <Card title={t.decisions.find}>
      <form
        class="one-line"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setEmpty(value.trim() === "");
          if (value.trim() !== "") location.hash = link("decisions", [value.trim()]);
        }}
      >
        <TextField id={id} label={t.decisions.id} value={value} set={set} />
        <button type="submit">{t.decisions.open}</button>
      </form>
      {empty ? (
        <p class="wrong" role="alert">
          {t.decisions.idEmpty}
        </p>
      ) : null}
      {may("audit") ? null : <p class="quiet">{t.decisions.needsAudit}</p>}
    </Card>
  );
}

type Values = Record<string, string>;

/** What is never in an address, and so not in the browser's history. */
const PERSONAL = ["person", "application"] as const;

/** What was last given of these, and in the search of which address; forgotten with the session. */
let kept: { hash: string; values: Values } | undefined;
session.watch(() => {
  if (!session.value) kept = undefined;
});

/** Returns the address of a search that begins with these values, and keeps what is not in it. */
function addressOf(values: Values): string {
  const open = Object.entries(values).filter(([name]) => !PERSONAL.some((one) => one === name));
  const hash = link("decisions", [], Object.fromEntries(open));
  kept = { hash, values };
  return hash;
}

/** Opens the search with these values; it is asked when its button is pressed. */
export function prepareSearch(values: Values): void {
  location.hash = addressOf(values);
}

/** Returns what the form begins with. */
function begin(query: URLSearchParams): Values {
  const given = Object.fromEntries(query);
  if (PERSONAL.some((name) => name in given))
    history.replaceState(null, "", addressOf(given)); // an address made by hand
  return kept?.hash === location.hash ? kept.values : given;
}

function Form({
  values,
  set,
  search,
}: {
  values: Values;
  set: (values: Values) => void;
  search: (values: Values) => void;
}) {
  const id = useId();
  const put = (name: string) => (value: string) => set({ ...values, [name]: value });
  const span = values["period"] ?? "30";
  return (
    <form
      class="search"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        search(Object.fromEntries(Object.entries(values).map(([k, v]) => [k, v.trim()])));
      }}
    >
      <Period id={`${id}-period`} value={span} set={put("period")} own />
      {span === "own" ? (
        <>
          <TextField
            id={`${id}-from`}
            label={t.decisions.from}
            value={values["from"] ?? ""}
            set={put("from")}
            placeholder="2026-01-31"
          />
          <TextField
            id={`${id}-to`}
            label={t.decisions.to}
            value={values["to"] ?? ""}
            set={put("to")}
            placeholder="2026-02-28"
          />
        </>
      ) : null}
      <div class="field">
        <label for={`${id}-action`}>{t.decisions.action}</label>
        <select
          id={`${id}-action`}
          value={values["action"] ?? ""}
          onChange={(event) => put("action")(event.currentTarget.value)}
        >
          <option value="">{t.decisions.any}</option>
          {Object.entries(t.actions).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </div>
      {FIELDS.map((name) => (
        <TextField
          key={name}
          id={`${id}-${name}`}
          label={t.decisions[name]}
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

/** The conditions as the service wants them. */
function conditions(values: Values, now: string): Values {
  const asked: Values = {};
  for (const name of [...FIELDS, "action"]) {
    const value = values[name];
    if (value) asked[name] = value;
  }
  const span = values["period"] ?? "30";
  const from = span === "own" ? (values["from"] ?? "") : fromOf(span, now);
  const to = span === "own" ? (values["to"] ?? "") : "";
  if (from) asked["from"] = from;
  if (to) asked["to"] = to;
  return asked;
}

function Found({ asked, all }: { asked: Values; all: (() => void) | undefined }) {
  const found = usePages(
    async (cursor: string | undefined) =>
      (
        await listDecisions(client, {
          order: "newest",
          ...asked,
          limit: LIMIT,
          ...(cursor === undefined ? {} : { cursor }),
        })
      ).body,
    (page) => page.decisions,
    [asked],
  );
  const options = Object.entries(asked).map(([name, value]) => ` --${name} ${quoted(value)}`);
  const shown = new URLSearchParams({ ...asked, order: "newest", limit: String(LIMIT) });
  const path = `/v1/decisions?${shown}`;
  const page = found.page;
  return (
    <>
      {found.error !== undefined ? <Failure error={found.error} again={found.next} /> : null}
      {found.rows.length > 0 ? <Rows rows={found.rows} /> : null}
      {page && found.rows.length === 0 && !found.more ? (
        <Empty title={t.decisions.empty} text={t.decisions.emptyText}>
          {all ? (
            <button type="button" onClick={all}>
              {t.decisions.all}
            </button>
          ) : null}
        </Empty>
      ) : null}
      {found.busy ? (
        <p class="quiet waiting" role="status">
          {t.loading}
        </p>
      ) : null}
      {page ? (
        <div class="foot">
          {found.more && !found.busy ? (
            <button type="button" onClick={found.next}>
              {t.table.more}
            </button>
          ) : null}
          <Ways
            path={path}
            rampart={`rampart decisions${options.join("")} --newest --config rampartd.toml`}
          />
          <span class="quiet">
            {t.table.rows(found.rows.length)}. {t.decisions.looked(count(page.looked_at))}{" "}
            <When time={page.as_of} />.
          </span>
        </div>
      ) : null}
    </>
  );
}

function Rows({ rows }: { rows: Decision[] }) {
  const names = t.decisions.columns;
  return (
    <Table
      label={t.decisions.title}
      rows={rows}
      keyOf={(one) => one.decision_id}
      columns={[
        { name: names.at, cell: (one) => <When time={one.application.event_time} /> },
        {
          name: names.decision,
          cell: (one) => <Id id={one.decision_id} href={link("decisions", [one.decision_id])} />,
        },
        { name: names.action, cell: (one) => <Action action={one.action} /> },
        { name: names.p, number: true, cell: (one) => number(one.p_approve) },
        { name: names.draw, number: true, cell: (one) => number(one.draw) },
        { name: names.person, cell: (one) => one.application.person_id },
        { name: names.policy, cell: (one) => <Id id={one.policy_id} /> },
        { name: names.reasons, cell: (one) => one.reasons.join(", ") || "–" },
      ]}
    />
  );
}

function Search({ query }: { query: URLSearchParams }) {
  const [values, set] = useState(() => begin(query));
  const [pressed, press] = useState<{ values: Values; times: number } | undefined>(undefined);
  const now = useAsk(
    async () => (may("read") ? (await getStatus(client)).body.clock.now : new Date().toISOString()),
    [],
  );
  const search = (next: Values) => {
    set(next);
    press({ values: next, times: (pressed?.times ?? 0) + 1 });
    history.replaceState(null, "", addressOf(next));
  };
  const everything = () => search({ ...values, period: "all" });
  return (
    <Card title={t.decisions.search} lead={t.decisions.searchLead} wide>
      <Form values={values} set={set} search={search} />
      {pressed ? (
        <Shown asked={now}>
          {(time) => (
            <Found
              key={pressed.times}
              asked={conditions(pressed.values, time)}
              all={pressed.values["period"] === "all" ? undefined : everything}
            />
          )}
        </Shown>
      ) : null}
    </Card>
  );
}

export function DecisionsPage({ route }: PageProps) {
  return (
    <Page title={t.decisions.title}>
      <div class="stack-gap">
        {may("read") ? <OpenOne /> : null}
        {may("audit") ? <Search query={route.query} key={route.query.toString()} /> : null}
      </div>
    </Page>
  );
}
