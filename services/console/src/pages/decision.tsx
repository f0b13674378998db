import type { PageProps } from "../app";
import { client, may } from "../api";
import {
  type Decision,
  type Explanation,
  type Notice,
  getDecision,
  getExplanation,
  getNotice,
} from "../client";
import { link, number, percent, signed } from "../format";
import { useAsk } from "../hooks";
import { Action, Badge, Card, Facts, Failure, Id, Page, Shown, When, Whole } from "../parts/basics";
import { Command } from "../parts/basics";
import { Ways } from "../parts/dialogs";
import { Table } from "../parts/table";
import { Refusal } from "../client";
import { t } from "../texts";
import { prepareSearch } from "./decisions";

function What({ one }: { one: Decision }) {
  const window = one.draw_window;
  return (
    <Card title={t.decision.facts} foot={<Ways path={`/v1/decisions/${one.decision_id}`} />}>
      <Facts
        rows={[
          [t.decision.application, one.application.application_id],
          [
            t.decision.person,
            may("audit") ? (
              <a
                href={link("decisions", [], { period: "all" })}
                onClick={(event) => {
                  event.preventDefault();
                  prepareSearch({ person: one.application.person_id, period: "all" });
                }}
              >
                {one.application.person_id}
              </a>
            ) : (
              one.application.person_id
            ),
          ],
          [t.decision.applied, <When time={one.application.event_time} />],
          [t.decision.decided, <When time={one.decided_at} />],
          [
            t.decision.policy,
            <>
              <Id id={one.policy_id} href={link("policies")} />{" "}
              {one.certified ? <Badge tone="good">{t.verdicts["CERTIFIED"]}</Badge> : null}
            </>,
          ],
          [t.decision.propensity, number(one.propensity, 4)],
          [t.decision.score, number(one.score, 4)],
          [t.decision.explored, one.explored ? t.yes : t.no],
          window
            ? [t.decision.window, t.decision.windowOf(window.cool_off_days, window.number)]
            : null,
          one.arm ? [t.decision.arm, String(one.arm.number)] : null,
          [
            t.decision.reasons,
            one.reasons.length === 0 ? (
              <span class="quiet">{t.decision.noReasons}</span>
            ) : (
              one.reasons.map((code) => (
                <div key={code}>
                  <code>{code}</code>
                </div>
              ))
            ),
          ],
          one.request_id ? [t.decision.request, <code>{one.request_id}</code>] : null,
        ]}
      />
    </Card>
  );
}

function Inputs({ one }: { one: Decision }) {
  const unseen = new Set(one.unseen_categories ?? []);
  return (
    <Card title={t.decision.inputs} foot={<Ways path={`/v1/decisions/${one.decision_id}`} />}>
      <Table
        label={t.decision.inputs}
        rows={Object.entries(one.application.features)}
        keyOf={([name]) => name}
        columns={[
          { name: t.decision.feature, cell: ([name]) => name },
          {
            name: t.decision.value,
            number: true,
            cell: ([name, value]) => (
              <span>
                {value === null ? (
                  <span class="quiet">{t.decision.missing}</span>
                ) : typeof value === "number" ? (
                  value.toLocaleString("en")
                ) : (
                  value
                )}
                {unseen.has(name) ? <span class="quiet"> ({t.decision.unseen})</span> : null}
              </span>
            ),
          },
        ]}
      />
    </Card>
  );
}

/** What the links of the policy made of P(approve), and where the draw fell. */
function Links({ one }: { one: Explanation }) {
  return (
    <ul class="bars">
      {one.links.map((part) => {
        const region = part.trust_region;
        const notes = [
          part.score === undefined ? "" : t.decision.scoreOf(number(part.score)),
          part.explored ? t.decision.exploredBy(number(part.explored, 2)) : "",
          region ? t.decision.region(number(region.from), number(region.to)) : "",
          region?.held ? t.decision.held : "",
        ].filter(Boolean);
        return (
          <li key={part.link}>
            <span class="name">{t.decision.link(part.link, t.decision.kinds[part.kind])}</span>
            <div class="track" aria-hidden="true">
              {region ? (
                <i
                  class="allowed"
                  style={{ left: percent(region.from), right: percent(1 - region.to) }}
                />
              ) : null}
              <i class="bar" style={{ left: "0", width: percent(part.p_approve) }} />
              <i class="mark" style={{ left: percent(one.draw) }} />
            </div>
            <span class="figure">{number(part.p_approve)}</span>
            {notes.length > 0 ? <span class="note">{notes.join(" · ")}</span> : null}
          </li>
        );
      })}
      <li>
        <span class="name">{t.decision.draw}</span>
        <div class="track" aria-hidden="true">
          <i class="mark" style={{ left: percent(one.draw) }} />
        </div>
        <span class="figure">{number(one.draw)}</span>
      </li>
    </ul>
  );
}

function Contributions({ one }: { one: Explanation }) {
  const most = Math.max(0.01, ...one.contributions.map((part) => Math.abs(part.lowers_p_by)));
  return (
    <ul class="bars narrow">
      {one.contributions.map((part) => (
        <li key={part.unit}>
          <span class="name">{part.unit}</span>
          <div class="track" aria-hidden="true">
            <i
              class={part.lowers_p_by < 0 ? "bar raise" : "bar"}
              style={{ left: "0", width: percent(Math.abs(part.lowers_p_by) / most) }}
            />
          </div>
          <span class="figure">{signed(-part.lowers_p_by, 3)}</span>
        </li>
      ))}
    </ul>
  );
}

function Why({ id }: { id: string }) {
  const asked = useAsk(async () => (await getExplanation(client, id)).body, [id]);
  const ways = (
    <Ways
      path={`/v1/decisions/${id}/explanation`}
      rampart={`rampart explain --decision ${id} --config rampartd.toml`}
    />
  );
  if (asked.value === undefined && asked.error instanceof Refusal) {
    return (
      <Card wide title={t.decision.why}>
        <p class="quiet">
          <strong>{t.decision.noExplanation}.</strong> {asked.error.problem.detail}
        </p>
      </Card>
    );
  }
  return (
    <Shown asked={asked}>
      {(one) => (
        <>
          <Card wide title={t.decision.why} lead={t.decision.whyLead} foot={ways}>
            <Links one={one} />
            <details>
              <summary>{t.decision.inWords}</summary>
              <ul class="plain-list">
                {one.text.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            </details>
          </Card>
          {one.contributions.length > 0 ? (
            <Card title={t.decision.lowered} lead={t.decision.loweredLead} foot={ways}>
              <Contributions one={one} />
            </Card>
          ) : null}
        </>
      )}
    </Shown>
  );
}

function NoticeText({ one }: { one: Notice }) {
  return (
    <>
      <Facts
        rows={[
          [t.decision.kindOf, one.kind],
          [
            t.decision.due,
            <>
              {one.due} {one.late ? <Badge tone="bad">{t.decision.late}</Badge> : null}
            </>,
          ],
        ]}
      />
      <ul class="letter plain-list">
        {one.reasons.map((reason) => (
          <li key={reason.code}>
            {reason.text}
            {reason.features.length > 0 ? (
              <span class="quiet">
                {" "}
                ({t.decision.sources} {reason.features.join(", ")})
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </>
  );
}

function NoticeCard({ one }: { one: Decision }) {
  const id = one.decision_id;
  const asked = useAsk(async () => (await getNotice(client, id)).body, [id]);
  return (
    <Card
      title={t.decision.notice}
      lead={t.decision.noticeLead}
      foot={
        <Ways
          path={`/v1/decisions/${id}/notice`}
          rampart={`rampart letter --decision ${id} --template LETTER --config rampartd.toml`}
        />
      }
    >
      {asked.value === undefined && asked.error instanceof Refusal ? (
        <p class="quiet">
          <strong>{t.decision.noNotice}.</strong> {asked.error.problem.detail}
        </p>
      ) : (
        <Shown asked={asked}>{(notice) => <NoticeText one={notice} />}</Shown>
      )}
    </Card>
  );
}

export function DecisionPage({ route }: PageProps) {
  const id = route.rest[0]!;
  const asked = useAsk(async () => (await getDecision(client, id)).body, [id]);
  if (!may("read"))
    return (
      <Page title={t.errors.missing("read")}>
        <p>{t.errors.missingWhat}</p>
      </Page>
    );
  const one = asked.value;
  return (
    <Page title={t.decision.title}>
      {!one && asked.error !== undefined ? (
        <Failure error={asked.error} again={asked.again} polls />
      ) : null}
      {!one && asked.error === undefined ? (
        <p class="quiet waiting" role="status">
          {t.loading}
        </p>
      ) : null}
      {one ? (
        <>
          <div class="card">
            <p class="claim">
              <Action action={one.action} />{" "}
              {t.decision.summary(
                t.decision.of(one.application.application_id),
                number(one.p_approve),
                number(one.draw),
              )}{" "}
              {one.action === "approve"
                ? t.decision.below
                : one.action === "refer"
                  ? t.decision.referred
                  : t.decision.above}
            </p>
            <Whole value={one.decision_id} label={t.decisions.id} />
          </div>
          <div class="cards">
            <Why id={id} />
            <What one={one} />
            <Inputs one={one} />
          </div>
          <div class="cards two">
            {one.action === "decline" ? <NoticeCard one={one} /> : null}
            {one.action === "decline" ? (
              <Card title={t.decision.change}>
                <p class="quiet">{t.decision.changeText}</p>
                <Command
                  label={t.decision.change}
                  text={
                    `rampart counterfactual --decision ${one.decision_id} ` +
                    "--changes changes.toml --config rampartd.toml"
                  }
                />
              </Card>
            ) : null}
            <Card title={t.decision.replay}>
              <p class="quiet">{t.decision.replayText}</p>
              <Command
                label={t.decision.replay}
                text={`rampart replay --decision ${one.decision_id} --config rampartd.toml`}
              />
            </Card>
            <Card title={t.decision.became}>
              <p class="quiet">{t.decision.becameText}</p>
              <Command
                label={t.decision.became}
                text={
                  `rampart person export --application ${one.application.application_id} ` +
                  "--reason REASON --config rampartd.toml --out person.json"
                }
              />
            </Card>
          </div>
        </>
      ) : null}
    </Page>
  );
}
