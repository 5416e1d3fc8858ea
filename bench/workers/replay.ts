import { toParameters, type CallRecipe, type Row, type Values } from '../recipe.ts';

/** What the floor has done of D1 since `/counts` was last asked. */
export const counts = { calls: 0, rowsRead: 0, rowsWritten: 0 };

/** Makes the calls one after the other and adds to `values` what they learn; answers the rows of each statement. */
export async function replay(database: D1Database, calls: CallRecipe[], values: Values, records: Values[] = []): Promise<Row[][]> {
  const rows: Row[][] = [];
  for (const { isBatch, statements, learns = {} } of calls) {
    const prepared = statements.map(({ sql, parameters }) => database.prepare(sql).bind(...toParameters(parameters, values, records)));
    const results = isBatch ? await database.batch<Row>(prepared) : [await prepared[0]!.all<Row>()];
    counts.calls++;
    for (const { meta } of results) {
      counts.rowsRead += meta.rows_read;
      counts.rowsWritten += meta.rows_written;
    }
    const found = results.map((result) => result.results);
    const first = found.flat()[0];
    for (const [name, column] of Object.entries(learns)) values[name] = first![column] as Values[string];
    rows.push(...found);
  }
  return rows;
}
