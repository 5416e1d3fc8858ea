import { invalidAt } from '../errors.ts';
import { nearestName } from '../text/nearest-name.ts';
import type { ExportColumn } from './format-table.ts';

/** The columns that are asked for, in the order of the request; all of them when nothing is asked for. Throws 422 for an unknown name. */
export function chooseColumns<Row>(
  columns: ExportColumn<Row>[],
  wanted: string[] | undefined,
  findMore: (name: string) => ExportColumn<Row> | null = () => null,
): ExportColumn<Row>[] {
  if (wanted === undefined) return columns;
  const byName = new Map(columns.map((column) => [column.name, column]));
  return wanted.map((name) => {
    const column = byName.get(name) ?? findMore(name);
    if (column) return column;
    const nearest = nearestName(name, [...byName.keys()]);
    const hint = nearest === null ? `the columns are ${[...byName.keys()].join(', ')}` : `did you mean "${nearest}"?`;
    throw invalidAt(['query', 'columns'], `There is no column "${name}"; ${hint}`, 'unknown_column');
  });
}
