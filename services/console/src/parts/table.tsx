import type { ComponentChildren } from "preact";

export interface Column<R> {
  name: string;
  cell: (row: R) => ComponentChildren;
  number?: boolean;
}

/** A table; on a narrow screen each row is a block of lines, with the names of the columns. */
export function Table<R>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string;
  columns: ReadonlyArray<Column<R>>;
  rows: ReadonlyArray<R>;
  keyOf: (row: R, index: number) => string | number;
}) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label={label}>
      <table role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                key={column.name}
                role="columnheader"
                scope="col"
                class={column.number ? "number" : undefined}
              >
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)} role="row">
              {columns.map((column) => (
                <td
                  key={column.name}
                  role="cell"
                  data-label={column.name}
                  class={column.number ? "number" : undefined}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
