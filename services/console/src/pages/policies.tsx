import { useId, useState } from "preact/hooks";
import type { PageProps } from "../app";
import { client } from "../api";
import {
  type Live,
  type Model,
  type Run,
  getPolicy,
  listModels,
  whoDecidedAt,
} from "../client";
import { link, percent, quoted, small } from "../format";
import { useAsk } from "../hooks";
import {
  Badge,
  Card,
  Facts,
  Failure,
  Id,
  Page,
  Shown,
  Verdict,
  When,
  Whole,
} from "../parts/basics";
import { Ways } from "../parts/dialogs";
import { lastOf } from "../parts/pages_of";
import { TextField } from "../parts/period";
import { Table } from "../parts/table";
import { t } from "../texts";
import { hasCertificate, lastRuns } from "./runs";

function OfRun({ run }: { run: Run }) {
  return (
    <span>
      <a href={link("runs", [String(run.ordinal)])}>{t.runs.title1(run.ordinal)}</a>{" "}
      <Verdict verdict={run.verdict} />
    </span>
  );
}

function Registered({
  models,
  runs,
  earlier,
}: {
  models: Model[];
  runs: Run[];
  /** Shows earlier ones; undefined: there are none. */
  earlier: (() => void) | undefined;
}) {
  const last = new Map(runs.map((run) => [run.candidate, run]));
  const names = t.policies.columns;
  return (
    <Card
      wide
      title={t.policies.registered}
      foot={
        <>
          {earlier ? (
            <button type="button" onClick={earlier}>
              {t.runs.earlier}
            </button>
          ) : null}
          <Ways path="/v1/models" rampart="rampart models --store STORE" />
          <span class="quiet">{t.table.rows(models.length)}</span>
        </>
      }
    >
      <Table
        label={t.policies.registered}
        rows={[...models].reverse()}
        keyOf={(one) => one.id}
        columns={[
          { name: names.id, cell: (one) => <Id id={one.id} /> },
          { name: names.at, cell: (one) => <When time={one.registered_at} /> },
          { name: names.size, number: true, cell: (one) => t.units.kb(one.bytes) },
          {
            name: names.verdict,
            cell: (one) => {
              const run = last.get(one.id);
              return run ? <OfRun run={run} /> : <span class="quiet">{t.policies.noRun}</span>;
            },
          },
          {
            name: names.state,
            cell: (one) =>
              one.champion ? (
                <Badge tone="info">{t.policies.inCharge}</Badge>
              ) : (
                t.policies.notInCharge
              ),
          },
        ]}
      />
    </Card>
  );
}

function LiveFacts({ live }: { live: Live }) {
  const champion = live.champion;
  if (!champion) return <p class="quiet">{t.policies.noChampion}</p>;
  return (
    <Facts
      rows={[
        [t.policies.champion, <Whole value={champion.policy} label={t.policies.columns.id} />],
        [t.now.since, <When time={champion.since} />],
        [t.now.by, `${champion.by}, ${t.now.kind[champion.kind]}`],
        champion.reason ? [t.policies.reason, champion.reason] : null,
        champion.certificate && hasCertificate(champion.certificate)
          ? [
              t.now.certificate,
              <a href={link("certificate", [champion.certificate])}>{champion.certificate}</a>,
            ]
          : null,
        champion.proposal && champion.proposal.approvals.length > 0
          ? [
              t.policies.approvedBy,
              champion.proposal.approvals
                .map((one) => t.approvals.approvedBy(one.by, one.comment))
                .join("; "),
            ]
          : null,
        live.decides.length > 1
          ? [
              t.policies.shares,
              live.decides
                .map((one) => `${one.policy.slice(0, 12)} ${percent(one.share)}`)
                .join(", "),
            ]
          : null,
        live.stops.length > 0
          ? [
              t.policies.stops,
              live.stops.map((one) => `${one.kind} (${one.by}: ${one.reason})`).join(", "),
            ]
          : null,
        live.epoch
          ? [t.policies.epoch, t.policies.epochOf(live.epoch.number, small(live.epoch.delta))]
          : null,
      ]}
    />
  );
}

function WhoDecided() {
  const id = useId();
  const [time, set] = useState("");
  const [asked, ask] = useState("");
  const [live, setLive] = useState<Live | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const submit = async (event: Event) => {
    event.preventDefault();
    const wanted = time.trim() || new Date().toISOString().replace(/\.\d+Z$/, "Z");
    set(wanted);
    setError(undefined);
    try {
      setLive((await whoDecidedAt(client, { time: wanted })).body);
      ask(wanted);
    } catch (problem) {
      setLive(undefined);
      setError(problem);
    }
  };
  return (
    <Card
      title={t.policies.when}
      lead={t.policies.whenLead}
      foot={
        asked ? (
          <Ways
            path={`/v1/policies/at?${new URLSearchParams({ time: asked })}`}
            rampart={`rampart registry at ${quoted(asked)} --store STORE`}
          />
        ) : null
      }
    >
      <form class="one-line" noValidate onSubmit={(event) => void submit(event)}>
        <TextField
          id={id}
          label={t.policies.time}
          value={time}
          set={set}
          placeholder="2026-03-02T09:30:00Z"
        />
        <button type="submit">{t.policies.ask}</button>
      </form>
      {error !== undefined ? <Failure error={error} /> : null}
      {live ? <LiveFacts live={live} /> : null}
    </Card>
  );
}

function Reads() {
  const asked = useAsk(async () => (await getPolicy(client)).body, []);
  return (
    <Card title={t.policies.features} foot={<Ways path="/v1/policy" />}>
      <Shown asked={asked}>
        {(policy) => (
          <>
            <p>
              {policy.features.map((one) => (
                <>
                  <Badge tone="plain">{one}</Badge>{" "}
                </>
              ))}
            </p>
            <p class="quiet">{policy.group_aware ? t.policies.aware : t.policies.blind}</p>
          </>
        )}
      </Shown>
    </Card>
  );
}

/** Returns the policies of the last parts of the list. */
const lastModels = (parts: number) =>
  lastOf(parts, async (options) => {
    const { models, next_cursor } = (await listModels(client, options)).body;
    return { rows: models, next: next_cursor };
  });

export function PoliciesPage(_: PageProps) {
  const [parts, show] = useState(1);
  const asked = useAsk(
    async () => {
      const [models, runs] = await Promise.all([lastModels(parts), lastRuns(Infinity)]);
      return { models, runs: runs.rows };
    },
    [],
    30_000,
  );
  const earlier = () => {
    show(parts + 1);
    asked.again();
  };
  return (
    <Page title={t.policies.title}>
      <div class="cards two">
        <WhoDecided />
        <Reads />
      </div>
      <Shown asked={asked}>
        {({ models, runs }) => (
          <Registered
            models={models.rows}
            runs={runs}
            earlier={models.more ? earlier : undefined}
          />
        )}
      </Shown>
    </Page>
  );
}
