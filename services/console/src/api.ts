// Asks the service. The session's cookie goes along by itself; the write key is in memory only.
import {
  type Client,
  Refusal,
  type SignedIn,
  UnexpectedAnswer,
  getSession,
  openSession,
} from "./client";
import type { Scope } from "./texts";

/** A value whose readers are called when it changes. */
export class Watched<T> {
  private readonly readers = new Set<() => void>();
  constructor(private held: T) {}
  get value(): T {
    return this.held;
  }
  set value(next: T) {
    if (next === this.held) return;
    this.held = next;
    for (const reader of this.readers) reader();
  }
  watch(reader: () => void): () => void {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  }
}

/** Whether the last request reached the service. */
export const connected = new Watched(true);
/** Who is signed in; null: signed out; undefined: not known yet. */
export const session = new Watched<SignedIn | null | undefined>(undefined);
/** Why the page was signed out while it was open. */
export const ended = new Watched<"" | "ended" | "replaced">("");

/** Signs the page out: what it shows is cleared. */
export function leave(why: "" | "ended" | "replaced"): void {
  ended.value = why;
  session.value = null;
}

async function send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const key = session.value?.write_key;
  if (init.method !== "GET" && key !== undefined) headers.set("X-Rampart-Write-Key", key);
  let answer: Response;
  try {
    answer = await fetch(input, {
      ...init,
      headers,
      cache: "no-store",
      credentials: "same-origin",
    });
  } catch (problem) {
    connected.value = false;
    throw problem;
  }
  connected.value = true;
  // an answer to the session before says nothing about this one
  if (key !== undefined && key === session.value?.write_key) {
    if (answer.status === 401) leave("ended");
    // write_key_missing or missing_scope: the session may be another one, or have other scopes
    if (answer.status === 403) refreshSession().catch(() => undefined);
  }
  return answer;
}

export const client: Client = { url: location.origin, timeoutMs: 30_000, fetch: send };

let refreshing: Promise<void> | undefined;

/** Finds out who is signed in, and with which scopes. The page is signed out if that is another
 *  session than the one that it shows. */
export function refreshSession(): Promise<void> {
  refreshing ??= askSession().finally(() => (refreshing = undefined));
  return refreshing;
}

async function askSession(): Promise<void> {
  const before = session.value;
  try {
    const now = (await getSession(client)).body;
    if (session.value !== before) return;
    if (before && (before.principal !== now.principal || before.write_key !== now.write_key))
      leave("replaced");
    else if (JSON.stringify(before) !== JSON.stringify(now)) session.value = now;
  } catch (problem) {
    if (!(problem instanceof Refusal && problem.status === 401)) throw problem;
    if (session.value === undefined) session.value = null;
  }
}

export async function signIn(token: string): Promise<void> {
  const opened = await openSession({ ...client, token });
  ended.value = "";
  session.value = opened.body;
}

export function may(scope: Scope): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}

export function isNetwork(problem: unknown): boolean {
  return !(problem instanceof Refusal) && !(problem instanceof UnexpectedAnswer);
}
