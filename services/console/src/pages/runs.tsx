import { useState } from "preact/hooks";
import type { PageProps } from "../app";
import { client } from "../api";
import { type Run, listRuns } from "../client";
import { count, link } from "../format";
import { useAsk } from "../hooks";
import { Card, Empty, Facts, Page, Shown, Verdict, When, Whole } from "../parts/basics";
import { Ways } from "../parts/dialogs";
import { lastOf } from "../parts/pages_of";
import { Table } from "../parts/table";
import { t } from "../texts";

const WAYS = <Ways path="/v1/runs" rampart="rampart status --config rampartd.toml" />;

/** Whether a run's certificate has a name by which it can be read; a refusal has none. */
export const hasCertificate = (name: string): boolean => /^e\d+r\d+(l\d+)?$/.test(name);

const timeOf = (run: Run): string => new Date(run.at_micros / 1000).toISOString();

function Certificate({ run }: { run: Run }) {
  return hasCertificate(run.certificate) ? (
    <a href={link("certificate", [run.certificate])}>{run.certificate}</a>
  ) : (
    <span class="quiet">–</span>
  );
}

/** Returns the runs of the last parts of the list. */
export const lastRuns = (parts: number) =>
  lastOf(parts, async (options) => {
    const { runs, next_cursor } = (await listRuns(client, options)).body;
    return { rows: runs, next: next_cursor };
  });

export function RunsPage(_: PageProps) {
  const [parts, show] = useState(1);
  const asked = useAsk(() => lastRuns(parts), [], 30_000);
  const earlier = () => {
    show(parts + 1);
    asked.again();
  };
  const names = t.runs.columns;
  return (
    <Page title={t.runs.title} lead={t.runs.lead}>
      <Shown asked={asked}>
        {({ rows: runs, more }) =>
          runs.length === 0 ? (
            <Empty title={t.runs.empty} text={t.runs.emptyText} />
          ) : (
            <section class="card">
              <Table
                label={t.runs.title}
                rows={[...runs].reverse()}
                keyOf={(one) => one.ordinal}
                columns={[
                  {
                    name: names.run,
                    cell: (one) => (
                      <a href={link("runs", [String(one.ordinal)])}>{t.runs.title1(one.ordinal)}</a>
                    ),
                  },
                  { name: names.at, cell: (one) => <When time={timeOf(one)} /> },
                  { name: names.verdict, cell: (one) => <Verdict verdict={one.verdict} /> },
                  {
                    name: names.why,
                    cell: (one) => (
                      <div class="why">
                        {one.message || (one.verdict === "CERTIFIED" ? t.runs.passed : one.reason)}
                      </div>
                    ),
                  },
                  { name: names.matured, number: true, cell: (one) => count(one.matured) },
                  { name: names.certificate, cell: (one) => <Certificate run={one} /> },
                ]}
              />
              <div class="foot">
                {more ? (
                  <button type="button" onClick={earlier}>
                    {t.runs.earlier}
                  </button>
                ) : null}
                {WAYS}
                <span class="quiet">{t.table.rows(runs.length)}</span>
              </div>
            </section>
          )
        }
      </Shown>
    </Page>
  );
}

function One({ run }: { run: Run }) {
  return (
    <div class="cards">
      <Card
        wide
        title={t.runs.came}
        foot={
          <>
            {WAYS}
            <a href={link("runs")}>{t.runs.all}</a>
          </>
        }
      >
        <p class="claim">
          <Verdict verdict={run.verdict} /> {t.runs.meaning[run.verdict] ?? ""}
        </p>
        {run.message ? <p>{run.message}</p> : null}
        <Facts
          rows={[
            [t.runs.columns.at, <When time={timeOf(run)} />],
            [
              t.runs.candidate,
              run.candidate ? <Whole value={run.candidate} label={t.runs.candidate} /> : t.none,
            ],
            [
              t.runs.reference,
              run.reference ? <Whole value={run.reference} label={t.runs.reference} /> : t.none,
            ],
            [t.runs.columns.matured, count(run.matured)],
            [t.runs.columns.certificate, <Certificate run={run} />],
          ]}
        />
      </Card>
      <Card wide title={t.runs.figures} lead={t.runs.figuresLead} foot={WAYS}>
        <Table
          label={t.runs.figures}
          rows={Object.entries(run.figures)}
          keyOf={([name]) => name}
          columns={[
            { name: t.decision.feature, cell: ([name]) => name.replaceAll("_", " ") },
            { name: t.decision.value, cell: ([, value]) => value },
          ]}
        />
      </Card>
    </div>
  );
}

export function RunPage({ route }: PageProps) {
  const number = route.rest[0]!;
  const asked = useAsk(() => lastRuns(Infinity), []);
  return (
    <Page title={t.runs.title1(Number(number))}>
      <Shown asked={asked}>
        {({ rows: runs }) => {
          const run = runs.find((one) => String(one.ordinal) === number);
          return run ? (
            <One run={run} />
          ) : (
            <Empty title={t.runs.unknown(number)} text="">
              <a href={link("runs")}>{t.runs.all}</a>
            </Empty>
          );
        }}
      </Shown>
    </Page>
  );
}
