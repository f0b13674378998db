// How values are written: numbers as in English, times in the viewer's zone.
export function link(
  page: string,
  rest: string[] = [],
  query: Record<string, string> = {},
): string {
  const path = [page, ...rest].map(encodeURIComponent).join("/");
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  return `#/${path}${asked.size > 0 ? `?${asked}` : ""}`;
}

export const short = (id: string): string => (id.length > 16 ? id.slice(0, 12) : id);

export const count = (x: number): string => x.toLocaleString("en");

export function number(x: number | null | undefined, digits = 3): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  return x.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function signed(x: number | null | undefined, digits = 2): string {
  const text = number(x, digits).replace("-", "−");
  if (!/[1-9]/.test(text)) return text.replace("−", "");
  return text.startsWith("−") ? text : `+${text}`;
}

/** Small probabilities keep their first digits. */
export function small(x: number): string {
  return x === 0 ? "0" : x.toLocaleString("en", { maximumSignificantDigits: 3 });
}

export const percent = (x: number): string => `${(100 * Math.min(1, Math.max(0, x))).toFixed(2)}%`;

export function local(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return time.toLocaleString(undefined, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });
}

export function utc(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return `${time
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$|Z$/, "")} UTC`;
}

/** A text that a shell takes as it is. */
export function quoted(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}
