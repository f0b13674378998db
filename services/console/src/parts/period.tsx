import { t } from "../texts";

export type Span = keyof typeof t.decisions.periods;

/** Returns since when a period goes that ends now, from a whole hour or day on, so that searches
 *  one after the other are the same; "": since ever. `now` is the node's time. */
export function fromOf(span: string, now: string): string {
  if (span !== "1" && span !== "30" && span !== "365") return "";
  const step = span === "1" ? 3_600_000 : 86_400_000;
  const from = new Date(now).getTime() - Number(span) * 86_400_000;
  return new Date(Math.floor(from / step) * step).toISOString().replace(/\.\d+Z$/, "Z");
}

export function Period({
  id,
  value,
  set,
  own,
}: {
  id: string;
  value: string;
  set: (span: string) => void;
  own?: boolean;
}) {
  const spans = Object.entries(t.decisions.periods).filter(([span]) => own || span !== "own");
  return (
    <div class="field">
      <label for={id}>{t.decisions.period}</label>
      <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
        {spans
          .sort(([a], [b]) => order(a) - order(b))
          .map(([span, name]) => (
            <option key={span} value={span}>
              {name}
            </option>
          ))}
      </select>
    </div>
  );
}

const order = (span: string): number => ["1", "30", "365", "all", "own"].indexOf(span);

export function TextField({
  id,
  label,
  value,
  set,
  placeholder,
}: {
  id: string;
  label: string;
  value: string;
  set: (value: string) => void;
  placeholder?: string;
}) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </div>
  );
}
