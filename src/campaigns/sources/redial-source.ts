import type { Context } from '../../accounts/context.ts';
import { UnreadableFile } from '../../library/decode-text.ts';
import { campaignObject, rowsAtOnce } from '../campaign-object.ts';
import type { CampaignSource } from './campaign-source.ts';
import { firstOfNumber } from './first-of-number.ts';
import type { Redial } from './kinds.ts';

/** The rows of another campaign that ended in one of the outcomes, under the numbers that they had there. */
export function redialSource({ bindings, organization }: Context, { campaign_id, outcomes }: Redial): CampaignSource {
  const page = (after: number) =>
    campaignObject(bindings, organization.id, campaign_id, (object) => object.redialRows(outcomes, after, rowsAtOnce));
  return {
    columns: null,
    async *batches(seen, after) {
      let rowNumber = after?.row_number ?? 0;
      for (;;) {
        const rows = await page(rowNumber);
        if (!rows) throw new UnreadableFile(`Campaign ${campaign_id}, whose rows were to be called again, is gone`);
        if (rows.length > 0) yield rows.map((row) => firstOfNumber(row, seen));
        if (rows.length < rowsAtOnce) return;
        rowNumber = rows.at(-1)!.row_number;
      }
    },
    close: async () => {},
  };
}
