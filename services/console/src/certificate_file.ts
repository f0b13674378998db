// What the page shows of a certificate: members of the signed JSON that it needs, checked as it
// reads them. It does not verify the signature, which the checker does.
import type { Certificate } from "./client";

export interface GroupOf {
  name: string;
  estimate: number;
  bound: number;
  units: number;
  effective: number | null;
  missing: number | null;
  passed: boolean;
}

export interface Read {
  claim: string;
  verdict: string;
  message: string;
  units: string;
  metric: string;
  margin: number;
  candidate: string;
  reference: string;
  delta: number;
  run: number;
  epoch: number;
  issued: string | null;
  until: string | null;
  ungrouped: number | null;
  groups: GroupOf[];
}

type Tree = { [name: string]: unknown };

function at(node: unknown, ...path: string[]): unknown {
  for (const name of path)
    node = typeof node === "object" && node !== null ? (node as Tree)[name] : undefined;
  return node;
}

function text(node: unknown, ...path: string[]): string {
  const value = at(node, ...path);
  if (typeof value !== "string") throw new TypeError(`${path.join(".")}: is no text`);
  return value;
}

function figure(node: unknown, ...path: string[]): number {
  const value = at(node, ...path);
  if (typeof value !== "number") throw new TypeError(`${path.join(".")}: is no number`);
  return value;
}

function list(node: unknown, ...path: string[]): unknown[] {
  const value = at(node, ...path);
  if (!Array.isArray(value)) throw new TypeError(`${path.join(".")}: is no list`);
  return value;
}

const maybe = (node: unknown, ...path: string[]): number | null => {
  const value = at(node, ...path);
  return typeof value === "number" ? value : null;
};

const maybeText = (node: unknown, ...path: string[]): string | null => {
  const value = at(node, ...path);
  return typeof value === "string" && value !== "" ? value : null;
};

export function readCertificate(file: Certificate): Read {
  const bytes = Uint8Array.from(atob(file.payload), (c) => c.charCodeAt(0));
  const whole: unknown = JSON.parse(new TextDecoder().decode(bytes));
  const planned = new Map(list(whole, "plan", "groups").map((one) => [text(one, "name"), one]));
  const bound = `lower_${text(whole, "plan", "config", "bound")}`;
  return {
    claim: text(whole, "claim"),
    verdict: text(whole, "verdict"),
    message: text(whole, "message"),
    units: text(whole, "plan", "config", "impact_units"),
    metric: text(whole, "plan", "identity", "metric"),
    margin: figure(whole, "plan", "config", "margin"),
    candidate: text(whole, "plan", "identity", "candidate"),
    reference: text(whole, "plan", "identity", "reference"),
    delta: figure(whole, "plan", "delta"),
    run: figure(whole, "ledger", "registration", "run"),
    epoch: figure(whole, "ledger", "registration", "epoch"),
    issued: maybeText(whole, "issued_wall_clock"),
    until: maybeText(whole, "valid_until"),
    ungrouped: maybe(whole, "figures", "ungrouped_persons"),
    groups: list(whole, "results").map((one) => {
      const name = text(one, "name"),
        plan = planned.get(name);
      return {
        name,
        estimate: figure(one, "mean_gain"),
        bound: figure(one, bound),
        units: figure(one, "units"),
        effective: maybe(plan, "effective_records"),
        missing: maybe(plan, "missing_outcomes"),
        passed: at(one, "passed") === true,
      };
    }),
  };
}
