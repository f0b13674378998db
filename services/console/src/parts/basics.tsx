import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isNetwork } from "../api";
import { Refusal, UnexpectedAnswer } from "../client";
import { local, short, utc } from "../format";
import type { Asked } from "../hooks";
import { t } from "../texts";

export function Page({
  title,
  lead,
  children,
  side,
}: {
  title: string;
  lead?: string;
  children: ComponentChildren;
  side?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = t.titleOf(title);
    heading.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [title]);
  return (
    <>
      <div class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead ? <p class="lead">{lead}</p> : null}
        </div>
        {side ? <div class="page-side">{side}</div> : null}
      </div>
      {children}
    </>
  );
}

export function Card({
  title,
  lead,
  children,
  foot,
  wide,
}: {
  title: string;
  lead?: string;
  children: ComponentChildren;
  foot?: ComponentChildren;
  wide?: boolean;
}) {
  return (
    <section class={wide ? "card wide" : "card"}>
      <h2>{title}</h2>
      {lead ? <p class="quiet">{lead}</p> : null}
      {children}
      {foot ? <div class="foot">{foot}</div> : null}
    </section>
  );
}

export function Facts({
  rows,
}: {
  rows: ReadonlyArray<readonly [string, ComponentChildren] | null>;
}) {
  return (
    <dl class="facts">
      {rows.map((row) =>
        row === null ? null : (
          <div key={row[0]}>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

export type Tone = "good" | "warn" | "bad" | "plain" | "info";

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Verdict({ verdict }: { verdict: string }) {
  const tone: Tone =
    verdict === "CERTIFIED" ? "good" : verdict === "NO_SOLUTION_FOUND" ? "warn" : "plain";
  return <Badge tone={tone}>{t.verdicts[verdict] ?? verdict}</Badge>;
}

export function Action({ action }: { action: "approve" | "decline" | "refer" }) {
  const tone: Tone = action === "approve" ? "good" : action === "decline" ? "plain" : "info";
  return <Badge tone={tone}>{t.actions[action]}</Badge>;
}

export function When({ time }: { time: string | null | undefined }) {
  if (!time) return <span class="quiet">–</span>;
  return (
    <time dateTime={time} title={utc(time)}>
      {local(time)}
    </time>
  );
}

/** An id, short; whole in its title, and where it is copied. */
export function Id({ id, href }: { id: string; href?: string }) {
  const code = <code title={id}>{short(id)}</code>;
  return href ? <a href={href}>{code}</a> : code;
}

/** A value that is shown whole, with a button that copies it. */
export function Whole({ value, label }: { value: string; label: string }) {
  return (
    <span class="whole">
      <code>{value}</code>
      <CopyButton text={value} label={`${t.copy.value}: ${label}`} />
    </span>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, set] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return; // the text is there to be marked by hand
    }
    set(true);
    window.setTimeout(() => set(false), 2_000);
  };
  return (
    <button type="button" class="small" aria-label={label} onClick={() => void copy()}>
      {done ? t.copy.copied : t.copy.copy}
    </button>
  );
}

export function Command({ text, label }: { text: string; label: string }) {
  return (
    <div class="command">
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} label={`${t.copy.copy}: ${label}`} />
    </div>
  );
}

export function Empty({
  title,
  text,
  children,
}: {
  title: string;
  text: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{text}</p>
      {children}
    </div>
  );
}

/** Why something is not there, and what to do. `polls`: a lost connection is tried again anyway. */
export function Failure({
  error,
  again,
  polls,
}: {
  error: unknown;
  again?: () => void;
  polls?: boolean;
}) {
  const [title, text, remedy] =
    error instanceof Refusal
      ? [error.problem.title, error.problem.detail, error.problem.remedy]
      : error instanceof UnexpectedAnswer
        ? [t.errors.unexpected, error.message, t.errors.unexpectedWhat]
        : [t.errors.network, polls ? t.errors.networkWhat : t.errors.networkOnce, undefined];
  return (
    <div class="failure" role="alert">
      <p class="failure-title">{title}</p>
      <p>{text}</p>
      {remedy ? (
        <p>
          <span class="quiet">{t.errors.what}</span> {remedy}
        </p>
      ) : null}
      {again && !(polls && isNetwork(error)) ? (
        <button type="button" class="small" onClick={again}>
          {t.errors.again}
        </button>
      ) : null}
    </div>
  );
}

/** What was asked for; before that, or instead, why it is not there. */
export function Shown<T>({
  asked,
  children,
}: {
  asked: Asked<T>;
  children: (value: T) => ComponentChildren;
}) {
  if (asked.value !== undefined) {
    return (
      <>
        {asked.error !== undefined && !isNetwork(asked.error) ? (
          <Failure error={asked.error} again={asked.again} polls />
        ) : null}
        {asked.old === undefined ? null : (
          <p role="status">
            <Badge tone="warn">{t.errors.old(new Date(asked.old).toLocaleTimeString())}</Badge>
          </p>
        )}
        {children(asked.value)}
      </>
    );
  }
  if (asked.error !== undefined) return <Failure error={asked.error} again={asked.again} polls />;
  return (
    <p class="quiet waiting" role="status">
      {t.loading}
    </p>
  );
}
