import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Watched, connected, isNetwork, session } from "./api";

export function useWatched<T>(watched: Watched<T>): T {
  const [, redraw] = useState(0);
  useEffect(() => watched.watch(() => redraw((n) => n + 1)), [watched]);
  return watched.value;
}

export interface Asked<T> {
  value: T | undefined;
  error: unknown;
  again: () => void;
}

const RETRY_MS = 2_000;

/** Asks when the keys change, and, with everyMs, again and again while the page is looked at. The
 *  last value stays until another one is there; without a connection it is tried again. */
export function useAsk<T>(ask: () => Promise<T>, keys: readonly unknown[], everyMs = 0): Asked<T> {
  const [asked, set] = useState<{ value: T | undefined; error: unknown }>({
    value: undefined,
    error: undefined,
  });
  const [round, next] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const known = JSON.stringify(keys);
  useEffect(() => set({ value: undefined, error: undefined }), [known]);
  useEffect(() => {
    let timer = 0,
      over = false;
    const plan = (ms: number) => {
      if (over || ms === 0) return;
      timer = window.setTimeout(() => {
        // a page that is not looked at asks for nothing, so that its session can end
        if (document.visibilityState === "hidden") plan(ms);
        else void turn();
      }, ms);
    };
    const turn = async () => {
      try {
        const value = await latest.current();
        if (over) return;
        set({ value, error: undefined });
        plan(everyMs);
      } catch (error) {
        if (over || session.value === null) return;
        set((before) => ({ value: before.value, error }));
        plan(isNetwork(error) ? RETRY_MS : everyMs);
      }
    };
    void turn();
    return () => {
      over = true;
      window.clearTimeout(timer);
    };
  }, [known, everyMs, round]);
  return { ...asked, again: useCallback(() => next((n) => n + 1), []) };
}

export interface Route {
  page: string;
  rest: string[];
  query: URLSearchParams;
}

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/").map(decodeURIComponent);
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
