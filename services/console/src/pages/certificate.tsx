import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { PageProps } from "../app";
import { client, may } from "../api";
import { type Read, readCertificate } from "../certificate_file";
import { type Certificate, Refusal, getCertificate } from "../client";
import { count, link, percent, quoted, signed, small } from "../format";
import {
  Badge,
  Card,
  Command,
  Empty,
  Facts,
  Failure,
  Id,
  Page,
  Verdict,
  When,
} from "../parts/basics";
import { Ways } from "../parts/dialogs";
import { TextField } from "../parts/period";
import { Table } from "../parts/table";
import { t } from "../texts";

const copyCommand = (name: string, reason: string): string =>
  `rampart figures ${name} --config audit.toml --out audit --reason ${quoted(reason || "REASON")}`;

const checkCommand =
  "tools/certificate_checker/certificate_checker STORE/gate.pub.pem " +
  "audit/NAME.cert audit/NAME.evidence.jsonl";

function Bounds({
  bound,
  estimate,
  range,
}: {
  bound: number;
  estimate: number;
  range: [number, number];
}) {
  const place = (x: number) => percent((x - range[0]) / (range[1] - range[0]));
  return (
    <div class="track" aria-hidden="true">
      <i class="span" style={{ left: place(bound), right: "0" }} />
      <i class="zero" style={{ left: place(0) }} />
      <i class="dot" style={{ left: place(estimate) }} />
    </div>
  );
}

function Groups({ read, ways }: { read: Read; ways: ComponentChildren }) {
  const ends = [0, ...read.groups.flatMap((one) => [one.bound, one.estimate])];
  const range: [number, number] = [Math.min(...ends) - 0.5, Math.max(...ends) + 0.5];
  const names = t.certificate.columns;
  return (
    <Card wide title={t.certificate.groups} lead={t.certificate.groupsLead(read.units)} foot={ways}>
      <Table
        label={t.certificate.groups}
        rows={read.groups}
        keyOf={(one) => one.name}
        columns={[
          { name: names.group, cell: (one) => one.name },
          { name: names.estimate, number: true, cell: (one) => signed(one.estimate) },
          { name: names.bound, number: true, cell: (one) => signed(one.bound) },
          {
            name: t.certificate.picture,
            cell: (one) => <Bounds bound={one.bound} estimate={one.estimate} range={range} />,
          },
          { name: names.n, number: true, cell: (one) => count(one.units) },
          {
            name: names.effective,
            number: true,
            cell: (one) => (one.effective === null ? "–" : count(Math.round(one.effective))),
          },
          {
            name: names.missing,
            number: true,
            cell: (one) => (one.missing === null ? "–" : count(one.missing)),
          },
          {
            name: names.passed,
            cell: (one) =>
              one.passed ? <Badge tone="good">{t.yes}</Badge> : <Badge tone="bad">{t.no}</Badge>,
          },
        ]}
      />
    </Card>
  );
}

function save(name: string, file: Certificate) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(file)], { type: "application/json" }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = `${name}.cert`;
  anchor.click();
  URL.revokeObjectURL(url);
}

function Shown({ name, file, reason }: { name: string; file: Certificate; reason: string }) {
  let read: Read;
  try {
    read = readCertificate(file);
  } catch (problem) {
    return <Empty title={t.certificate.bad} text={String(problem)} />;
  }
  const path = `/v1/certificates/${name}?${new URLSearchParams({ reason })}`;
  const ways = <Ways path={path} rampart={copyCommand(name, reason)} />;
  return (
    <div class="stack-gap">
      <Card
        wide
        title={t.certificate.claim}
        foot={
          <>
            {ways}
            <button type="button" class="small" onClick={() => save(name, file)}>
              {t.certificate.download}
            </button>
          </>
        }
      >
        <p class="claim">{read.claim || read.message}</p>
      </Card>
      <Groups read={read} ways={ways} />
      <div class="cards two">
        <Card title={t.certificate.theRun}>
          <Facts
            rows={[
              [t.certificate.verdict, <Verdict verdict={read.verdict} />],
              [t.certificate.run, t.certificate.runOf(read.run, read.epoch)],
              [t.certificate.delta, small(read.delta)],
              read.issued ? [t.certificate.issued, <When time={read.issued} />] : null,
              read.until ? [t.certificate.until, <When time={read.until} />] : null,
              [t.certificate.candidate, <Id id={read.candidate} />],
              [t.certificate.reference, <Id id={read.reference} />],
              [t.certificate.measure, read.metric],
              read.ungrouped === null ? null : [t.certificate.ungrouped, count(read.ungrouped)],
            ]}
          />
        </Card>
        <Card title={t.certificate.not}>
          <ul class="plain-list">
            {t.certificate.notItems.map((item) => (
              <li key={item}>{item}</li>
            ))}
          </ul>
        </Card>
      </div>
    </div>
  );
}

function Checker({ name, reason }: { name: string; reason: string }) {
  return (
    <Card title={t.certificate.check}>
      <p class="quiet">{t.certificate.checkText}</p>
      <Command label={t.copy.rampart} text={copyCommand(name, reason)} />
      <Command label={t.certificate.check} text={checkCommand.replaceAll("NAME", name)} />
    </Card>
  );
}

export function CertificatePage({ route }: PageProps) {
  const name = route.rest[0]!;
  const id = useId();
  const [reason, set] = useState("");
  const [empty, setEmpty] = useState(false);
  const [file, setFile] = useState<Certificate | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const submit = async (event: Event) => {
    event.preventDefault();
    setEmpty(reason.trim() === "");
    setError(undefined);
    if (reason.trim() === "") return;
    try {
      setFile((await getCertificate(client, name, { reason: reason.trim() })).body);
    } catch (problem) {
      setError(problem);
    }
  };
  const off = error instanceof Refusal && error.problem.reason === "audit_required";
  return (
    <Page title={t.certificate.of(name)} side={<a href={link("runs")}>{t.runs.all}</a>}>
      <div class="stack-gap">
        {file ? (
          <Shown name={name} file={file} reason={reason.trim()} />
        ) : (
          <Card title={t.certificate.open} lead={t.certificate.lead}>
            {!may("audit") ? (
              <p>{t.certificate.needsAudit}</p>
            ) : (
              <form class="one-line" noValidate onSubmit={(event) => void submit(event)}>
                <TextField id={id} label={t.dialog.reason} value={reason} set={set} />
                <button type="submit" class="primary">
                  {t.certificate.open}
                </button>
              </form>
            )}
            {empty ? (
              <p class="wrong" role="alert">
                {t.dialog.reasonEmpty}
              </p>
            ) : null}
            {off ? (
              <p>{t.certificate.off}</p>
            ) : error !== undefined ? (
              <Failure error={error} />
            ) : null}
          </Card>
        )}
        <Checker name={name} reason={reason.trim()} />
      </div>
    </Page>
  );
}
