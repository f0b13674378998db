import type { PageProps } from "../app";
import { client, may } from "../api";
import {
  type NodeJob,
  type PartitionState,
  type Status,
  getStatus,
  listJobs,
  listPartitions,
  listPrincipals,
} from "../client";
import { count } from "../format";
import { useAsk } from "../hooks";
import { Badge, Card, Empty, Facts, Id, Page, Shown, When } from "../parts/basics";
import { Ways } from "../parts/dialogs";
import { Table } from "../parts/table";
import { t } from "../texts";

const names = t.health.columns;
const WAYS = <Ways path="/v1/status" rampart="rampart status --config rampartd.toml" />;

function Checks({ status }: { status: Status }) {
  return (
    <Card title={t.health.checks} foot={WAYS}>
      <Table
        label={t.health.checks}
        rows={status.checks}
        keyOf={(one) => one.name}
        columns={[
          {
            name: names.check,
            cell: (one) =>
              one.required ? <strong title={t.health.required}>{one.name}</strong> : one.name,
          },
          {
            name: names.state,
            cell: (one) =>
              one.ok ? (
                <Badge tone="good">{t.health.ok}</Badge>
              ) : (
                <Badge tone="bad">{t.health.bad}</Badge>
              ),
          },
          { name: names.message, cell: (one) => one.message || "–" },
        ]}
      />
    </Card>
  );
}

function stateOf(job: NodeJob) {
  if (job.stuck) return <Badge tone="bad">{t.health.stuck}</Badge>;
  if (job.failing)
    return (
      <span>
        <Badge tone="warn">{t.health.failing}</Badge> {job.failing.message}
      </span>
    );
  return job.running ? (
    <Badge tone="info">{t.health.running}</Badge>
  ) : (
    <Badge tone="plain">{t.health.idle}</Badge>
  );
}

function Work({ status }: { status: Status }) {
  return (
    <Card title={t.health.jobs} foot={WAYS}>
      <Table
        label={t.health.jobs}
        rows={status.jobs}
        keyOf={(one) => one.name}
        columns={[
          { name: names.job, cell: (one) => one.name },
          { name: names.state, cell: stateOf },
          {
            name: names.last,
            cell: (one) =>
              one.seconds_since_success === null
                ? t.never
                : t.units.ago(t.units.seconds(one.seconds_since_success)),
          },
          { name: names.failures, number: true, cell: (one) => count(one.failures) },
        ]}
      />
    </Card>
  );
}

function Node({ status }: { status: Status }) {
  return (
    <Card title={t.health.clock} foot={WAYS}>
      <Facts
        rows={[
          [
            t.health.clock,
            <>
              <When time={status.clock.now} />{" "}
              <span class="quiet">{t.health.modes[status.clock.mode]}</span>
            </>,
          ],
          [t.health.roles, status.roles.join(", ")],
        ]}
      />
    </Card>
  );
}

function Requests({ status }: { status: Status }) {
  return (
    <Card title={t.health.requests} foot={WAYS}>
      <Table
        label={t.health.requests}
        rows={status.requests}
        keyOf={(one) => one.kind}
        columns={[
          { name: names.kind, cell: (one) => one.kind },
          { name: names.waiting, number: true, cell: (one) => count(one.waiting) },
          { name: names.running, number: true, cell: (one) => count(one.running) },
          { name: names.failed, number: true, cell: (one) => count(one.failed) },
        ]}
      />
    </Card>
  );
}

const counted = (one: PartitionState, name: string): string => count(one.counts[name] ?? 0);

function Partitions() {
  const asked = useAsk(async () => (await listPartitions(client)).body, [], 15_000);
  return (
    <Card
      wide
      title={t.health.partitions}
      foot={<Ways path="/v1/partitions" rampart="rampart partition list --config rampartd.toml" />}
    >
      <Shown asked={asked}>
        {(seen) => (
          <Table
            label={t.health.partitions}
            rows={seen.partitions}
            keyOf={(one) => one.partition}
            columns={[
              { name: names.partition, cell: (one) => String(one.partition) },
              {
                name: names.role,
                cell: (one) => (
                  <span>
                    <Badge tone={one.role === "stopped" ? "bad" : "plain"}>{one.role}</Badge>{" "}
                    {one.why ?? ""}
                  </span>
                ),
              },
              { name: names.decisions, number: true, cell: (one) => counted(one, "decisions") },
              { name: names.outcomes, number: true, cell: (one) => counted(one, "outcomes") },
              { name: names.matured, number: true, cell: (one) => counted(one, "matured") },
              { name: names.overdue, number: true, cell: (one) => counted(one, "overdue") },
              { name: names.unmatched, number: true, cell: (one) => counted(one, "unmatched") },
            ]}
          />
        )}
      </Shown>
    </Card>
  );
}

function LongRequests() {
  const asked = useAsk(async () => (await listJobs(client)).body.jobs, [], 10_000);
  return (
    <Card wide title={t.health.long} foot={<Ways path="/v1/jobs" />}>
      <Shown asked={asked}>
        {(jobs) =>
          jobs.length === 0 ? (
            <Empty title={t.health.noJobs} text={t.health.noJobsText} />
          ) : (
            <Table
              label={t.health.long}
              rows={jobs}
              keyOf={(one) => one.id}
              columns={[
                { name: names.id, cell: (one) => <Id id={one.id} /> },
                { name: names.kind, cell: (one) => one.kind },
                {
                  name: names.state,
                  cell: (one) => (
                    <span>
                      <Badge
                        tone={
                          one.state === "failed" ? "bad" : one.state === "done" ? "good" : "info"
                        }
                      >
                        {one.state}
                      </Badge>{" "}
                      {one.error?.message ?? ""}
                    </span>
                  ),
                },
                { name: names.progress, cell: (one) => `${count(one.done)} / ${count(one.total)}` },
                { name: names.asked, cell: (one) => <When time={one.asked_at} /> },
              ]}
            />
          )
        }
      </Shown>
    </Card>
  );
}

function Tokens() {
  const asked = useAsk(async () => (await listPrincipals(client)).body.principals, []);
  return (
    <Card
      wide
      title={t.health.tokens}
      lead={t.health.tokensLead}
      foot={<Ways path="/v1/tokens" rampart="rampart token list --config rampartd.toml" />}
    >
      <Shown asked={asked}>
        {(principals) => (
          <Table
            label={t.health.tokens}
            rows={principals}
            keyOf={(one) => one.name}
            columns={[
              { name: names.principal, cell: (one) => one.name },
              { name: names.scopes, cell: (one) => one.scopes.join(", ") },
              {
                name: names.expires,
                cell: (one) => (
                  <span>
                    {one.expires ? <When time={one.expires} /> : t.never}{" "}
                    {one.expired ? <Badge tone="bad">{t.health.expired}</Badge> : null}
                  </span>
                ),
              },
            ]}
          />
        )}
      </Shown>
    </Card>
  );
}

function ReadParts() {
  const asked = useAsk(async () => (await getStatus(client)).body, [], 5_000);
  return (
    <Shown asked={asked}>
      {(status) => (
        <>
          <Checks status={status} />
          <Work status={status} />
          <Node status={status} />
          <Requests status={status} />
          <Partitions />
          <LongRequests />
        </>
      )}
    </Shown>
  );
}

export function HealthPage(_: PageProps) {
  return (
    <Page title={t.health.title}>
      <div class="cards two">
        {may("read") ? <ReadParts /> : null}
        {may("grant") ? <Tokens /> : null}
      </div>
    </Page>
  );
}
