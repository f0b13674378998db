import type { PageProps } from "../app";
import { client, may } from "../api";
import { type Proposal, approveProposal, listProposals, rejectProposal } from "../client";
import { link } from "../format";
import { useAsk } from "../hooks";
import {
  Badge,
  Card,
  Empty,
  Facts,
  Id,
  Page,
  Shown,
  type Tone,
  When,
  Whole,
} from "../parts/basics";
import { Ask, Ways } from "../parts/dialogs";
import { Table } from "../parts/table";
import { t } from "../texts";

const TONES: Record<Proposal["state"], Tone> = {
  waiting: "warn",
  scheduled: "info",
  approved: "good",
  rejected: "bad",
  expired: "plain",
  void: "plain",
};

const open = (one: Proposal): boolean => one.state === "waiting" || one.state === "scheduled";

function Judge({ one, again }: { one: Proposal; again: () => void }) {
  const seen = (
    <p>
      {t.approvals.digest}: <code>{one.digest}</code>
    </p>
  );
  const judge =
    (ask: typeof approveProposal | typeof rejectProposal) =>
    async (values: Record<string, string>) => {
      await ask(client, String(one.id), { digest: one.digest, comment: values["reason"]! });
      again();
    };
  return (
    <>
      {one.state === "waiting" ? (
        <Ask
          open={t.approvals.approve}
          title={t.approvals.approveTitle(one.id)}
          text={
            <>
              <p>{t.approvals.approveText}</p>
              {seen}
            </>
          }
          does={t.approvals.approveDo}
          reason={t.approvals.comment}
          act={judge(approveProposal)}
        />
      ) : null}
      <Ask
        open={t.approvals.reject}
        title={t.approvals.rejectTitle(one.id)}
        danger
        text={
          <>
            <p>{t.approvals.rejectText}</p>
            {seen}
          </>
        }
        does={t.approvals.rejectDo}
        reason={t.approvals.comment}
        act={judge(rejectProposal)}
      />
    </>
  );
}

function Waiting({ one, again }: { one: Proposal; again: () => void }) {
  return (
    <Card
      wide
      title={t.approvals.number(one.id)}
      foot={
        <>
          {may("approve") ? <Judge one={one} again={again} /> : null}
          <Ways
            path={`/v1/proposals/${one.id}`}
            rampart={"rampart proposal list --config rampartd.toml"}
          />
          {may("approve") ? null : <span class="quiet">{t.approvals.needsApprove}</span>}
        </>
      }
    >
      <Facts
        rows={[
          [
            t.approvals.columns.state,
            <Badge tone={TONES[one.state]}>{t.approvals.states[one.state]}</Badge>,
          ],
          [t.approvals.digest, <Whole value={one.digest} label={t.approvals.digest} />],
          [t.approvals.policy, <Whole value={one.policy} label={t.approvals.policy} />],
          [t.approvals.replaces, <Id id={one.replaces} href={link("policies")} />],
          [
            t.approvals.certificate,
            <a href={link("certificate", [one.certificate])}>{one.certificate}</a>,
          ],
          [t.approvals.proposedBy, one.proposed_by],
          [t.approvals.at, <When time={one.at} />],
          [t.approvals.expires, <When time={one.expires} />],
          [
            t.approvals.approvals,
            <>
              {t.approvals.of(one.approvals.length, one.approvals_needed)}
              {one.approvals.map((by) => (
                <div key={by.by} class="quiet">
                  {t.approvals.approvedBy(by.by, by.comment)}
                </div>
              ))}
            </>,
          ],
          one.switch_at ? [t.approvals.switchAt, <When time={one.switch_at} />] : null,
        ]}
      />
    </Card>
  );
}

function Past({ rows }: { rows: Proposal[] }) {
  const names = t.approvals.columns;
  return (
    <Table
      label={t.approvals.past}
      rows={rows}
      keyOf={(one) => one.id}
      columns={[
        { name: names.number, cell: (one) => String(one.id) },
        { name: names.policy, cell: (one) => <Id id={one.policy} /> },
        {
          name: names.state,
          cell: (one) => <Badge tone={TONES[one.state]}>{t.approvals.states[one.state]}</Badge>,
        },
        {
          name: t.approvals.certificate,
          cell: (one) => <a href={link("certificate", [one.certificate])}>{one.certificate}</a>,
        },
        { name: names.ended, cell: (one) => <When time={one.ended_at} /> },
        { name: names.by, cell: (one) => one.ended_by ?? "–" },
        {
          name: names.comment,
          cell: (one) =>
            one.comment ??
            (one.approvals.map((by) => t.approvals.approvedBy(by.by, by.comment)).join("; ") ||
              one.why ||
              "–"),
        },
      ]}
    />
  );
}

export function ApprovalsPage(_: PageProps) {
  const asked = useAsk(async () => (await listProposals(client)).body.proposals, [], 10_000);
  return (
    <Page title={t.approvals.title} lead={t.approvals.lead}>
      <Shown asked={asked}>
        {(proposals) => {
          const waiting = proposals.filter(open),
            past = proposals.filter((one) => !open(one));
          return (
            <div class="stack-gap">
              {waiting.length === 0 ? (
                <Empty title={t.approvals.none} text={t.approvals.noneText} />
              ) : null}
              {waiting.map((one) => (
                <Waiting key={one.id} one={one} again={asked.again} />
              ))}
              <Card
                wide
                title={t.approvals.past}
                foot={
                  <Ways
                    path="/v1/proposals"
                    rampart="rampart proposal list --config rampartd.toml"
                  />
                }
              >
                {past.length === 0 ? (
                  <p class="quiet">{t.approvals.nonePast}</p>
                ) : (
                  <Past rows={past} />
                )}
              </Card>
            </div>
          );
        }}
      </Shown>
    </Page>
  );
}
