import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Watched, connected, isNetwork, leave, refreshSession, session } from "./api";
import type { SignedIn } from "./client";

export function useWatched<T>(watched: Watched<T>): T {
  const [, redraw] = useState(0);
  useEffect(() => watched.watch(() => redraw((n) => n + 1)), [watched]);
  return watched.value;
}

export interface Asked<T> {
  value: T | undefined;
  /** When the value was there, in milliseconds since 1970, if it is older than two intervals. */
  old: number | undefined;
  error: unknown;
  again: () => void;
}

const RETRY_MS = 2_000;

/** Asks when the keys change, and, with everyMs, again and again while the page is looked at. The
 *  last value stays until another one is there; without a connection it is tried again. A page
 *  that is looked at anew asks at once. */
export function useAsk<T>(ask: () => Promise<T>, keys: readonly unknown[], everyMs = 0): Asked<T> {
  const [asked, set] = useState<{ value: T | undefined; error: unknown }>({
    value: undefined,
    error: undefined,
  });
  const [round, next] = useState(0);
  const [old, age] = useState<number | undefined>(undefined);
  const came = useRef(0);
  const latest = useRef(ask);
  latest.current = ask;
  const known = JSON.stringify(keys);
  useEffect(() => {
    set({ value: undefined, error: undefined });
    came.current = 0;
    age(undefined);
  }, [known]);
  useEffect(() => {
    let timer = 0,
      over = false,
      busy = false;
    const plan = (ms: number) => {
      if (over || ms === 0) return;
      timer = window.setTimeout(() => {
        // a page that is not looked at asks for nothing, so that its session can end
        if (document.visibilityState === "hidden") plan(ms);
        else void turn();
      }, ms);
    };
    const turn = async () => {
      busy = true;
      try {
        const value = await latest.current();
        if (over) return;
        set({ value, error: undefined });
        came.current = Date.now();
        age(undefined);
        plan(everyMs);
      } catch (error) {
        if (over || session.value === null) return;
        set((before) => ({ value: before.value, error }));
        plan(isNetwork(error) ? RETRY_MS : everyMs);
      } finally {
        busy = false;
      }
    };
    const look = () => {
      if (document.visibilityState === "hidden" || everyMs === 0) return;
      grow();
      if (busy) return;
      window.clearTimeout(timer);
      void turn();
    };
    const grow = () => {
      if (came.current > 0 && Date.now() - came.current > 2 * everyMs) age(came.current);
    };
    const ages = everyMs === 0 ? 0 : window.setInterval(grow, everyMs / 2);
    document.addEventListener("visibilitychange", look);
    void turn();
    return () => {
      over = true;
      window.clearTimeout(timer);
      window.clearInterval(ages);
      document.removeEventListener("visibilitychange", look);
    };
  }, [known, everyMs, round]);
  return { ...asked, old, again: useCallback(() => next((n) => n + 1), []) };
}

const SESSION_MS = 60_000;

/** Asks whose the session is while the page is looked at, and at its end. */
export function useSession(): SignedIn | null | undefined {
  const who = useWatched(session);
  useEffect(() => {
    if (!who) return undefined;
    // a failure is shown by what the page asks itself, and this is asked again
    const ask = () => {
      if (document.visibilityState !== "hidden") refreshSession().catch(() => undefined);
    };
    const timer = window.setInterval(ask, SESSION_MS);
    const left = new Date(who.ends).getTime() - Date.now();
    // without an answer it counts as ended
    const over = () => {
      if (session.value?.write_key === who.write_key) leave("ended");
    };
    const end = window.setTimeout(() => void refreshSession().catch(over), left);
    document.addEventListener("visibilitychange", ask);
    return () => {
      window.clearInterval(timer);
      window.clearTimeout(end);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [who?.write_key, who?.ends]);
  return who;
}

export interface Route {
  page: string;
  rest: string[];
  query: URLSearchParams;
}

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  let parts: string[];
  try {
    parts = path.split("/").map(decodeURIComponent);
  } catch {
    parts = [path]; // not percent-encoded: no page has such a name
  }
  const [page = "", ...rest] = parts;
  return { page: page || "now", rest: rest.filter(Boolean), query: new URLSearchParams(query) };
}

export function useRoute(): Route {
  const [route, set] = useState(read);
  useEffect(() => {
    const changed = () => set(read());
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return route;
}

/** Says that the connection is back, for a few seconds. */
export function useBack(): boolean {
  const now = useWatched(connected);
  const was = useRef(true);
  const [back, set] = useState(false);
  useEffect(() => {
    if (now && !was.current) {
      set(true);
      const timer = window.setTimeout(() => set(false), 4_000);
      was.current = now;
      return () => window.clearTimeout(timer);
    }
    was.current = now;
    if (!now) set(false);
    return undefined;
  }, [now]);
  return back;
}
