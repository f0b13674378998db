import { useId, useState } from "preact/hooks";
import type { PageProps } from "../app";
import { client, may } from "../api";
import { type Erasure, addHold, erase, listHolds, removeHold } from "../client";
import { count, link } from "../format";
import { useAsk } from "../hooks";
import { Badge, Card, Empty, Facts, Failure, Id, Page, Shown, When } from "../parts/basics";
import { Ask, type Field, Ways } from "../parts/dialogs";
import { TextField } from "../parts/period";
import { Table } from "../parts/table";
import { t } from "../texts";

const WHOSE: ReadonlyArray<Field> = [
  { name: "person", label: t.privacy.person, empty: t.privacy.personEmpty },
  { name: "matter", label: t.privacy.matter, empty: t.privacy.matterEmpty },
];

const hold = (values: Record<string, string>) => ({
  person_id: values["person"]!.trim(),
  matter: values["matter"]!.trim(),
  reason: values["reason"]!,
});

function Holds() {
  const asked = useAsk(async () => (await listHolds(client)).body.holds, [], 30_000);
  const names = t.privacy.columns;
  return (
    <Card
      wide
      title={t.privacy.holds}
      lead={t.privacy.holdsLead}
      foot={
        <>
          {may("erase") ? (
            <>
              <Ask
                open={t.privacy.add}
                title={t.privacy.addTitle}
                text={t.privacy.addText}
                does={t.privacy.addDo}
                fields={[
                  ...WHOSE,
                  { name: "until", label: t.privacy.untilDate, type: "date", optional: true },
                ]}
                act={async (values) => {
                  const until = values["until"];
                  await addHold(client, { ...hold(values), ...(until ? { until } : {}) });
                  asked.again();
                }}
              />
              <Ask
                open={t.privacy.remove}
                title={t.privacy.removeTitle}
                text={t.privacy.removeText}
                does={t.privacy.removeDo}
                danger
                fields={WHOSE}
                act={async (values) => {
                  await removeHold(client, hold(values));
                  asked.again();
                }}
              />
            </>
          ) : null}
          <Ways path="/v1/holds" rampart="rampart hold list --config rampartd.toml" />
        </>
      }
    >
      <Shown asked={asked}>
        {(holds) =>
          holds.length === 0 ? (
            <Empty title={t.privacy.noHolds} text={t.privacy.noHoldsText} />
          ) : (
            <Table
              label={t.privacy.holds}
              rows={holds}
              keyOf={(_, index) => index}
              columns={[
                { name: names.person, cell: (one) => <Id id={one.person} /> },
                { name: names.matter, cell: (one) => one.matter },
                { name: names.since, cell: (one) => <When time={one.since} /> },
                {
                  name: names.until,
                  cell: (one) => (one.until ? <When time={one.until} /> : t.never),
                },
                { name: names.actor, cell: (one) => one.actor },
                { name: names.reason, cell: (one) => one.reason },
                {
                  name: names.state,
                  cell: (one) =>
                    one.in_force ? (
                      <Badge tone="warn">{t.privacy.inForce}</Badge>
                    ) : (
                      <Badge tone="plain">{t.privacy.over}</Badge>
                    ),
                },
              ]}
            />
          )
        }
      </Shown>
    </Card>
  );
}

function WhatWouldGo({ found }: { found: Erasure }) {
  return (
    <Facts
      rows={[
        [
          t.privacy.decisions,
          found.decisions.length === 0 ? (
            "0"
          ) : (
            <>
              {found.decisions.map((one) => (
                <div key={one.decision_id}>
                  <Id
                    id={one.decision_id}
                    {...(may("read") ? { href: link("decisions", [one.decision_id]) } : {})}
                  />{" "}
                  <When time={one.decided_at} />
                </div>
              ))}
            </>
          ),
        ],
        [t.privacy.quarantined, count(found.quarantined)],
        [t.privacy.attributes, found.protected_attributes ? t.yes : t.no],
        [t.privacy.keys, count(found.keys_destroyed)],
        [
          t.privacy.remains,
          found.remains.length === 0 ? (
            t.none
          ) : (
            <ul class="plain-list">
              {found.remains.map((one) => (
                <li key={one}>{one}</li>
              ))}
            </ul>
          ),
        ],
      ]}
    />
  );
}

function Erase() {
  const id = useId();
  const [person, setPerson] = useState("");
  const [reason, setReason] = useState("");
  const [wrong, setWrong] = useState("");
  const [seen, setSeen] = useState<{ person: string; found: Erasure } | undefined>(undefined);
  const [done, setDone] = useState("");
  const [error, setError] = useState<unknown>(undefined);
  const look = async (event: Event) => {
    event.preventDefault();
    const who = person.trim();
    setWrong(!who ? t.privacy.personEmpty : !reason.trim() ? t.dialog.reasonEmpty : "");
    setError(undefined);
    setSeen(undefined);
    setDone("");
    if (!who || !reason.trim()) return;
    try {
      const answer = await erase(client, { person_id: who, reason: reason.trim(), dry_run: true });
      if (answer.status === 200) setSeen({ person: who, found: answer.body });
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Card wide title={t.privacy.erase} lead={t.privacy.eraseLead}>
      <form class="one-line" noValidate onSubmit={(event) => void look(event)}>
        <TextField id={`${id}-person`} label={t.privacy.person} value={person} set={setPerson} />
        <TextField id={`${id}-reason`} label={t.dialog.reason} value={reason} set={setReason} />
        <button type="submit">{t.privacy.see}</button>
      </form>
      {wrong ? (
        <p class="wrong" role="alert">
          {wrong}
        </p>
      ) : null}
      {error !== undefined ? <Failure error={error} /> : null}
      {done ? <p role="status">{done}</p> : null}
      {seen ? (
        <>
          <h3>{t.privacy.found}</h3>
          <WhatWouldGo found={seen.found} />
          <div>
            <Ask
              open={t.privacy.eraseNow}
              title={t.privacy.eraseTitle}
              danger
              text={t.privacy.eraseText(seen.person)}
              does={t.privacy.eraseDo}
              act={async (values) => {
                const answer = await erase(client, {
                  person_id: seen.person,
                  reason: values["reason"]!,
                  dry_run: false,
                });
                setDone(
                  answer.status === 202
                    ? t.privacy.underWay(answer.body.job.id)
                    : t.privacy.erased(seen.person),
                );
                setSeen(undefined);
              }}
            />
          </div>
        </>
      ) : null}
    </Card>
  );
}

export function PrivacyPage(_: PageProps) {
  return (
    <Page title={t.privacy.title}>
      <div class="stack-gap">
        {may("read") ? <Holds /> : null}
        {may("erase") ? <Erase /> : <p class="quiet">{t.privacy.needsErase}</p>}
      </div>
    </Page>
  );
}
