// Lengths of time, sizes, and their words: a part of texts.ts.
export const units = {
  seconds: (x: number) =>
    x < 90
      ? `${Math.round(x)} s`
      : x < 5400
        ? `${Math.round(x / 60)} min`
        : x < 129600
          ? `${Math.round(x / 3600)} h`
          : `${Math.round(x / 86400)} days`,
  ago: (x: string) => `${x} ago`,
  in: (x: string) => `in ${x}`,
  kb: (x: number) => `${(x / 1000).toLocaleString("en", { maximumFractionDigits: 0 })} kB`,
  ms: (x: number) => `${x.toLocaleString("en", { maximumFractionDigits: 1 })} ms`,
};
