import { useEffect, useState } from "preact/hooks";
import { session } from "../api";

export interface Listed<R> {
  rows: R[];
  last: unknown;
  more: boolean;
  busy: boolean;
  error: unknown;
  next: () => void;
}

/** Returns the last parts of a list whose cursor goes back, the earliest element first, and whether
 *  there are earlier ones. */
export async function lastOf<R>(
  parts: number,
  ask: (options: { cursor?: number }) => Promise<{ rows: R[]; next: number | null }>,
): Promise<{ rows: R[]; more: boolean }> {
  const part = await ask({});
  let { rows, next } = part;
  for (let n = 1; n < parts && next !== null; ++n) {
    const before = await ask({ cursor: next });
    rows = [...before.rows, ...rows];
    next = before.next;
  }
  return { rows, more: next !== null };
}

/** The pages of a list that the service gives one by one, as far as they were asked for. */
export function usePages<R, C, P extends { next_cursor: C | null }>(
  ask: (cursor: C | undefined) => Promise<P>,
  rowsOf: (page: P) => R[],
  keys: readonly unknown[],
): Listed<R> & { page: P | undefined } {
  const empty = {
    rows: [] as R[],
    page: undefined as P | undefined,
    busy: true,
    error: undefined as unknown,
  };
  const [seen, set] = useState(empty);
  const known = JSON.stringify(keys);
  const turn = async (before: R[], cursor: C | undefined, over: () => boolean) => {
    try {
      const page = await ask(cursor);
      if (!over()) set({ rows: [...before, ...rowsOf(page)], page, busy: false, error: undefined });
    } catch (error) {
      if (!over() && session.value !== null) set((now) => ({ ...now, busy: false, error }));
    }
  };
  useEffect(() => {
    let gone = false;
    set(empty);
    void turn([], undefined, () => gone);
    return () => {
      gone = true;
    };
  }, [known]);
  const cursor = seen.page?.next_cursor ?? undefined;
  return {
    ...seen,
    last: seen.page,
    more: cursor !== undefined,
    next: () => {
      set((now) => ({ ...now, busy: true, error: undefined }));
      void turn(seen.rows, cursor, () => false);
    },
  };
}
