import { z } from 'zod';
import { currentSheetIds } from '../../../integrations/sheet/find-sheet-integration.ts';
import { configObject } from '../../../library/json/config-object.ts';
import { renderText } from '../../../expressions/templates/render.ts';
import { performAppAction } from '../shared/app-action.ts';
import { actionHandles, defineNode, findInField, failure } from '../contract.ts';

/** Google's limit for a cell, in characters. */
const maxCellLength = 50_000;
const cell = z.union([z.string().max(maxCellLength), z.number(), z.boolean(), z.null()]);

const SheetRowData = configObject({
  integration_id: z.int().positive().nullish(),
  values: z
    .record(z.string().min(1).max(1000), cell)
    .refine((values) => Object.keys(values).length > 0, 'Give at least one column with its value'),
});
type SheetRowData = z.infer<typeof SheetRowData>;

export const sheetRowNode = defineNode<SheetRowData>({
  type: 'sheet_row',
  label: 'Sheet row',
  description:
    'Adds a row below the last one of the sheet that integration `integration_id` has selected, else the connected one; `values` are by the header of their column, as GET /integration/{id}/sheet/headers names it, and columns without one stay empty. Everything is written as text: nothing is taken for a formula. The output has sheet and row. A repeat after a crash or a lost answer looks among the last rows for one with these values; where several have them, the step fails as `unknown`, so let one value name the run.',
  dataSchema: SheetRowData,
  handles: actionHandles,
  isSideEffect: true,
  references: {
    noun: 'sheet integration',
    listPath: '/integration/',
    find: findInField('integration_id'),
    findExisting: currentSheetIds,
  },
  example: { integration_id: 3, values: { Phone: '{{ contact.phone }}', Answer: '{{ steps.call.disposition }}', Run: '{{ run.id }}' } },
  run: async (step) => {
    const { data, scope, effects, key, mayHaveHappened } = step;
    const values = Object.fromEntries(Object.entries(data.values).map(([name, value]) => [name, renderText(String(value ?? ''), scope)]));
    if (Object.values(values).every((value) => value === ''))
      return failure('no_values', 'values: every one of them renders to nothing, and an empty row cannot be told from none');
    const long = Object.entries(values).find(([, value]) => value.length > maxCellLength);
    if (long)
      return failure(
        'value_too_long',
        `values: ${JSON.stringify(long[0])} has ${long[1].length} characters; a cell takes ${maxCellLength}`,
      );
    const integrationId = data.integration_id ?? null;
    return performAppAction(step, { request: { integration_id: integrationId, values }, isLookedUp: true }, () =>
      effects.appendRow(key, { integrationId, values, mayExist: mayHaveHappened }),
    );
  },
});
