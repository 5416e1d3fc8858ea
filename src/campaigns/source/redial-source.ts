import type { Context } from '../../context.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { callCampaignObject, maxRowsPerCall } from '../rpc.ts';
import type { CampaignSource } from './campaign-source.ts';
import { claimPhone } from './seen-phones.ts';
import type { Redial } from './options.ts';

/** The rows of another campaign that failed with one of the outcomes, with the row numbers that they have there. */
export function openRedialSource({ bindings, organization }: Context, { campaign_id, outcomes }: Redial): CampaignSource {
  const page = (after: number) =>
    callCampaignObject(bindings, organization.id, campaign_id, (object) => object.redialRows(outcomes, after, maxRowsPerCall));
  return {
    columns: null,
    async *batches(seen, after) {
      let rowNumber = after?.row_number ?? 0;
      for (;;) {
        const rows = await page(rowNumber);
        if (!rows) throw new UnreadableFileError(`Campaign ${campaign_id}, whose rows were to be called again, is gone`);
        if (rows.length > 0) yield rows.map((row) => ({ ...row, ...claimPhone(seen, row.phone, row.row_number) }));
        if (rows.length < maxRowsPerCall) return;
        rowNumber = rows.at(-1)!.row_number;
      }
    },
    close: async () => {},
  };
}
