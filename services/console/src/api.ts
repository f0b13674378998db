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
/** Whether a session has ended while the page was open. */
export const ended = new Watched(false);

async function send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (init.method !== "GET" && session.value)
    headers.set("X-Rampart-Write-Key", session.value.write_key);
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
  if (answer.status === 401 && session.value) {
    ended.value = true;
    session.value = null;
  }
  return answer;
}

export const client: Client = { url: location.origin, timeoutMs: 30_000, fetch: send };

/** Finds out who is signed in. */
export async function refreshSession(): Promise<void> {
  try {
    session.value = (await getSession(client)).body;
  } catch (problem) {
    if (problem instanceof Refusal && problem.status === 401) session.value = null;
    else throw problem;
  }
}

export async function signIn(token: string): Promise<void> {
  const opened = await openSession({ ...client, token });
  ended.value = false;
  session.value = opened.body;
}

export function may(scope: Scope): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}

export function isNetwork(problem: unknown): boolean {
  return !(problem instanceof Refusal) && !(problem instanceof UnexpectedAnswer);
}
