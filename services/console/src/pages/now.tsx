import { useRef } from "preact/hooks";
import type { PageProps } from "../app";
import { client, may } from "../api";
import {
  type Live,
  type Monitor,
  type Policy,
  type Proposals,
  type Status,
  type StopName,
  type Stops,
  type WatchedGroup,
  Refusal,
  endStop,
  getMetrics,
  getMonitor,
  getPolicy,
  getStatus,
  listProposals,
  listStops,
  pressStop,
  rollBack,
  whoDecidedAt,
} from "../client";
import { count, link, percent, short, signed, small } from "../format";
import { useAsk } from "../hooks";
import { Badge, Card, Facts, Id, Page, Shown, Verdict, When } from "../parts/basics";
import { Ask, Ways } from "../parts/dialogs";
import { Table } from "../parts/table";
import { t } from "../texts";

const STOPS: ReadonlyArray<StopName> = ["exploration", "rules-only", "refer-all"];

interface Often {
  status: Status;
  stops: Stops;
  /** null: no policy is loaded. */
  policy: Policy | null;
}

interface Seen extends Often {
  live: Live;
  proposals: Proposals | null;
  monitor: Monitor | null;
}

/** What is answered with this status is not there, and no failure: with 409 another role of the
 *  group has it. */
async function unless<T>(status: number, asked: Promise<{ body: T }>): Promise<T | null> {
  try {
    return (await asked).body;
  } catch (problem) {
    if (problem instanceof Refusal && problem.status === status) return null;
    throw problem;
  }
}

async function lookOften(): Promise<Often> {
  const [status, stops, policy] = await Promise.all([
    getStatus(client),
    listStops(client),
    unless(503, getPolicy(client)),
  ]);
  return { status: status.body, stops: stops.body, policy };
}

/** What changes seldom, and costs the node more. */
async function lookSeldom(now: string): Promise<Omit<Seen, keyof Often>> {
  const [live, proposals, monitor] = await Promise.all([
    whoDecidedAt(client, { time: now }),
    unless(409, listProposals(client)),
    unless(409, getMonitor(client)),
  ]);
  return { live: live.body, proposals, monitor };
}

function State({ seen }: { seen: Seen }) {
  const { status, stops, proposals, monitor } = seen;
  const failing = status.checks.filter((one) => !one.ok);
  const alarm = monitor?.watches.some((one) => one.decides && one.alarm !== null) ?? false;
  const waiting = proposals?.proposals.filter((one) => one.state === "waiting").length ?? 0;
  const [tone, text] = !status.ready
    ? ["bad", t.now.cannot]
    : alarm
      ? ["bad", t.now.alarm]
      : stops.in_force.length > 0
        ? ["warn", t.now.stops(stops.in_force.map((one) => t.now.stopped[one]).join(", "))]
        : failing.length > 0
          ? ["warn", t.now.degraded(failing.length)]
          : monitor?.champion_certificate_expired
            ? ["warn", t.now.expired]
            : seen.policy?.learned && !seen.policy.certified
              ? ["warn", t.now.uncertified]
              : ["good", seen.policy?.learned ? t.now.certified : t.now.rule];
  return (
    <div class={`state ${tone}`} role="status">
      <p>{text}</p>
      {failing.map((one) => (
        <p key={one.name}>
          {one.name}: {one.message}
        </p>
      ))}
      {waiting > 0 ? (
        <p>
          {t.now.waiting(waiting)} <a href={link("approvals")}>{t.now.see}</a>
        </p>
      ) : null}
    </div>
  );
}

function PolicyCard({ seen, again }: { seen: Seen; again: () => void }) {
  const champion = seen.live.champion;
  return (
    <Card
      title={t.now.policy}
      foot={
        <>
          {may("operate") && champion && champion.kind !== "bootstrap" ? (
            <Ask
              open={t.now.roll}
              title={t.now.rollTitle}
              text={t.now.rollText}
              does={t.now.rollDo}
              danger
              act={async (values) => {
                await rollBack(client, { reason: values["reason"]! });
                again();
              }}
            />
          ) : null}
          <Ways path="/v1/status" rampart="rampart status --config rampartd.toml" />
        </>
      }
    >
      {champion ? (
        <Facts
          rows={[
            [t.policies.columns.id, <Id id={champion.policy} href={link("policies")} />],
            [t.now.since, <When time={champion.since} />],
            [t.now.by, `${champion.by}, ${t.now.kind[champion.kind]}`],
            [
              t.now.certificate,
              champion.certificate ? (
                <a href={link("certificate", [champion.certificate])}>{champion.certificate}</a>
              ) : (
                t.none
              ),
            ],
            seen.monitor?.champion_certified_until
              ? [t.now.validUntil, <When time={seen.monitor.champion_certified_until} />]
              : null,
          ]}
        />
      ) : (
        <p class="quiet">{t.policies.noChampion}</p>
      )}
    </Card>
  );
}

interface Counts {
  at: number;
  approved: number;
  declined: number;
  referred: number;
  explored: number;
  seconds: number;
}

/** Reads the counters of decisions out of the text for Prometheus. */
export function countsOf(text: string, at: number): Counts {
  const counts = { at, approved: 0, declined: 0, referred: 0, explored: 0, seconds: 0 };
  for (const line of text.split("\n")) {
    const value = Number(line.slice(line.lastIndexOf(" ") + 1));
    if (line.startsWith("rampart_decisions_total{")) {
      if (line.includes('action="approve"')) counts.approved += value;
      else if (line.includes('action="decline"')) counts.declined += value;
      else if (line.includes('action="refer"')) counts.referred += value;
      if (line.includes('explored="yes"')) counts.explored += value;
    } else if (line.startsWith("rampart_decide_seconds_sum")) {
      counts.seconds = value;
    }
  }
  return counts;
}

/** The least time between two samples of which the difference is that of a minute. */
const MINUTE_MS = 55_000;

const all = (one: Counts): number => one.approved + one.declined + one.referred;

function TrafficCard() {
  const seen = useRef<Counts[]>([]);
  const asked = useAsk(
    async () => {
      const now = countsOf((await getMetrics(client)).body, Date.now());
      const last = seen.current.at(-1);
      if (last && all(last) > all(now)) seen.current = []; // the process was started anew
      seen.current = [...seen.current.filter((one) => now.at - one.at <= 65_000), now];
      return [...seen.current];
    },
    [],
    10_000,
  );
  return (
    <Card title={t.now.traffic} foot={<Ways path="/metrics" />}>
      <Shown asked={asked}>
        {(counts) => {
          const first = counts[0]!,
            last = counts.at(-1)!;
          return (
            <>
              <p class="big">
                {last.at - first.at < MINUTE_MS ? "–" : count(all(last) - all(first))}
                <small>{t.now.perMinute}</small>
              </p>
              {all(last) === 0 ? (
                <p class="quiet">{t.now.noneYet}</p>
              ) : (
                <Facts
                  rows={[
                    [t.now.since_start, count(all(last))],
                    [t.now.approved, count(last.approved)],
                    [t.now.declined, count(last.declined)],
                    [t.now.referred, count(last.referred)],
                    [t.now.explored, count(last.explored)],
                    [t.now.time, t.units.ms((1000 * last.seconds) / all(last))],
                  ]}
                />
              )}
            </>
          );
        }}
      </Shown>
    </Card>
  );
}

function StopsCard({ seen, again }: { seen: Seen; again: () => void }) {
  return (
    <Card
      title={t.now.stopsTitle}
      lead={t.now.stopsLead}
      foot={<Ways path="/v1/stops" rampart="rampart stop list --config rampartd.toml" />}
    >
      {STOPS.map((name) => {
        const pressed = seen.stops.stops.find((one) => one.name === name && one.to === null);
        return (
          <div key={name} class="field">
            <div class="press">
              <strong>{name}</strong>
              <Badge tone={pressed ? "warn" : "plain"}>
                {pressed ? t.now.inForce : t.now.notInForce}
              </Badge>
            </div>
            {pressed ? (
              <p class="quiet">
                <When time={pressed.from} /> {t.now.pressedBy(pressed.by, pressed.reason)}
              </p>
            ) : null}
            {!may("operate") ? null : pressed ? (
              <div>
                <Ask
                  open={t.now.end}
                  title={t.now.endTitle}
                  text={t.now.endText}
                  does={t.now.endDo}
                  act={async (values) => {
                    await endStop(client, name, { reason: values["reason"]! });
                    again();
                  }}
                />
              </div>
            ) : (
              <div>
                <Ask
                  open={t.now.press[name]}
                  title={t.now.pressTitle[name]}
                  danger
                  text={t.now.pressText[name]}
                  does={t.now.pressDo[name]}
                  act={async (values) => {
                    await pressStop(client, name, { reason: values["reason"]! });
                    again();
                  }}
                />
              </div>
            )}
          </div>
        );
      })}
    </Card>
  );
}

function OutcomesCard({ status }: { status: Status }) {
  const joined = status.joined;
  return (
    <Card
      title={t.now.outcomes}
      foot={<Ways path="/v1/unmatched" rampart="rampart status --config rampartd.toml" />}
    >
      {joined === null ? (
        <p class="quiet">{t.now.notJoined}</p>
      ) : (
        <Facts
          rows={[
            [t.now.joined, count(joined.decisions)],
            [t.now.matured, count(joined.matured)],
            [t.now.overdue, count(joined.overdue)],
            [t.now.unmatched, count(joined.unmatched)],
            joined.lag_seconds === null ? null : [t.now.lag, t.units.seconds(joined.lag_seconds)],
          ]}
        />
      )}
    </Card>
  );
}

function TrainingCard({ status }: { status: Status }) {
  const training = status.training;
  const last = training?.last,
    budget = training?.budget;
  return (
    <Card
      title={t.now.training}
      foot={<Ways path="/v1/runs" rampart="rampart status --config rampartd.toml" />}
    >
      {!training ? (
        <p class="quiet">{t.now.elsewhere}</p>
      ) : (
        <>
          <Facts
            rows={[
              [
                t.now.lastRun,
                last ? (
                  <>
                    <a href={link("runs", [String(last.run)])}>{t.runs.title1(last.run)}</a>{" "}
                    <Verdict verdict={last.verdict} />
                  </>
                ) : (
                  t.none
                ),
              ],
              [t.now.nextRun, <When time={training.next_due} />],
              [t.now.runs, <a href={link("runs")}>{count(training.runs)}</a>],
            ]}
          />
          {budget ? (
            <div class="field">
              <span class="quiet">{t.now.budget(budget.epoch)}</span>
              <div class="meter">
                <div style={{ width: percent(budget.spent / budget.delta) }} />
              </div>
              <span>
                {t.now.budgetOf(small(budget.spent), small(budget.delta))},{" "}
                {t.now.runsLeft(budget.runs_left)}
              </span>
            </div>
          ) : null}
        </>
      )}
    </Card>
  );
}

function Alarm({ alarm }: { alarm: { at: string; groups: string } }) {
  return (
    <div>
      <Badge tone="bad">{t.now.alarmed}</Badge> {t.now.alarmOf(alarm.groups)}{" "}
      <When time={alarm.at} />
    </div>
  );
}

function AlarmsCard({ monitor }: { monitor: Monitor | null }) {
  const alarms = monitor?.watches.filter((one) => one.alarm !== null) ?? [];
  return (
    <Card
      title={t.now.alarms}
      foot={<Ways path="/v1/monitor" rampart="rampart monitor --config rampartd.toml" />}
    >
      {monitor === null ? (
        <p class="quiet">{t.now.notWatched}</p>
      ) : (
        <Facts
          rows={[
            [
              t.now.alarms,
              alarms.length === 0 ? (
                <Badge tone="good">{t.now.alarmNone}</Badge>
              ) : (
                alarms.map((one) => <Alarm key={one.promotion} alarm={one.alarm!} />)
              ),
            ],
            [t.now.watch, monitor.enabled ? t.now.watchOn : t.now.watchOff(monitor.why_not)],
            [t.now.lastLook, <When time={monitor.as_of} />],
            [t.now.every, t.now.everyDays(monitor.every_days)],
            [t.now.onAlarm, t.now.onAlarmDo[monitor.action]],
          ]}
        />
      )}
    </Card>
  );
}

/** Where the figures of an interval lie on one scale with 0 in it. */
function Interval({
  lo,
  hi,
  at,
  range,
}: {
  lo: number | null;
  hi: number | null;
  at: number | null;
  range: [number, number];
}) {
  const place = (x: number) => percent((x - range[0]) / (range[1] - range[0]));
  const left = lo ?? range[0],
    right = hi ?? range[1];
  return (
    <div class="track" aria-hidden="true">
      <i class="span" style={{ left: place(left), right: `calc(100% - ${place(right)})` }} />
      <i class="zero" style={{ left: place(0) }} />
      {at === null ? null : <i class="dot" style={{ left: place(at) }} />}
    </div>
  );
}

const few = (one: WatchedGroup): boolean =>
  one.blind !== "" || one.shown.every((end) => end === null);

function GroupsCard({ monitor }: { monitor: Monitor }) {
  const watches = monitor.watches.filter((one) => one.groups.length > 0);
  return (
    <Card
      wide
      title={t.now.groups}
      lead={t.now.groupsLead}
      foot={<Ways path="/v1/monitor" rampart="rampart monitor --config rampartd.toml" />}
    >
      {watches.length === 0 ? <p class="quiet">{t.now.groupsNone}</p> : null}
      {watches.map((watch) => {
        const ends = watch.groups.flatMap((one) => [
          0,
          one.change,
          ...one.shown.map((x) => x ?? 0),
        ]);
        const range: [number, number] = [Math.min(...ends) - 1, Math.max(...ends) + 1];
        return (
          <div key={watch.promotion}>
            <h3>
              <Id id={watch.policy} /> {t.now.since.toLowerCase()} <When time={watch.since} />{" "}
              {watch.alarm ? <Badge tone="bad">{t.now.alarmed}</Badge> : null}
              {watch.decides ? <Badge tone="info">{t.policies.inCharge}</Badge> : null}
            </h3>
            <Table
              label={`${t.now.groups}, ${short(watch.policy)}`}
              rows={watch.groups}
              keyOf={(one) => one.group}
              columns={[
                { name: t.now.group, cell: (one) => one.group },
                { name: t.now.persons, number: true, cell: (one) => count(one.persons) },
                {
                  name: t.now.change,
                  number: true,
                  cell: (one) => (few(one) ? "–" : signed(one.change)),
                },
                {
                  name: t.now.interval,
                  cell: (one) =>
                    few(one) ? (
                      "–"
                    ) : (
                      <span>
                        {signed(one.shown[0])} … {signed(one.shown[1])}
                        <Interval
                          lo={one.shown[0] ?? null}
                          hi={one.shown[1] ?? null}
                          at={one.change}
                          range={range}
                        />
                      </span>
                    ),
                },
                {
                  name: t.now.state,
                  cell: (one) =>
                    one.alarm ? (
                      <Badge tone="bad">{t.now.alarmed}</Badge>
                    ) : few(one) ? (
                      <span title={one.blind}>
                        <Badge tone="plain">{t.now.blind}</Badge>
                      </span>
                    ) : (
                      <Badge tone="good">{t.now.calm}</Badge>
                    ),
                },
              ]}
            />
          </div>
        );
      })}
    </Card>
  );
}

function All({ fast, look }: { fast: Often; look: () => void }) {
  // asked again at once when another policy decides
  const seldom = useAsk(
    () => lookSeldom(fast.status.clock.now),
    [fast.status.policy ?? ""],
    30_000,
  );
  const again = () => {
    look();
    seldom.again();
  };
  return (
    <Shown asked={seldom}>
      {(slow) => {
        const seen = { ...fast, ...slow };
        return (
          <>
            <State seen={seen} />
            <div class="cards">
              <PolicyCard seen={seen} again={again} />
              <StopsCard seen={seen} again={again} />
              <TrafficCard />
              <TrainingCard status={seen.status} />
              <OutcomesCard status={seen.status} />
              <AlarmsCard monitor={seen.monitor} />
              {seen.monitor ? <GroupsCard monitor={seen.monitor} /> : null}
            </div>
          </>
        );
      }}
    </Shown>
  );
}

export function NowPage(_: PageProps) {
  const often = useAsk(lookOften, [], 5_000);
  return (
    <Page title={t.now.title}>
      <Shown asked={often}>{(fast) => <All fast={fast} look={often.again} />}</Shown>
    </Page>
  );
}
