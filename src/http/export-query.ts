import { z } from '@hono/zod-openapi';
import { exportFormats } from '../library/table-export/format-table.ts';

const maxColumns = 500;

/** Query parameters of every export of a table. `columns` says which columns there are. */
export const exportQuery = (columns: string) => ({
  format: z.enum(exportFormats).default('csv').openapi({
    description: '`csv`, `xlsx` (an Excel workbook), or `jsonl`: a JSON object a line, with the columns as keys.',
  }),
  columns: z
    .string()
    .max(20_000)
    .transform((text) => [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== ''))
    .pipe(z.array(z.string()).min(1, 'Name at least one column').max(maxColumns, `Name at most ${maxColumns} columns`))
    .optional()
    .openapi({ type: 'string', description: `The columns, separated by commas, in the order in which they are wanted. ${columns}` }),
});

/** The answer of an export of a table. */
export const exportResponse = (description: string) => ({
  description,
  content: {
    'text/csv': { schema: z.string() },
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': { schema: z.string() },
    'application/x-ndjson': { schema: z.string() },
  },
});
