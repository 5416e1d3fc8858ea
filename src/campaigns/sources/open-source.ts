import type { Context } from '../../accounts/context.ts';
import type { CampaignRow } from '../store.ts';
import type { CampaignSource } from './campaign-source.ts';
import { contactListSource } from './contact-list-source.ts';
import { csvSource } from './csv-source.ts';
import { redialSource } from './redial-source.ts';
import { sheetSource } from './sheet-source.ts';

/** Opens what a campaign's rows come from. Throws `UnreadableFile`, whose message is a sentence, when it is gone or cannot be read. */
export async function openCampaignSource(
  context: Context,
  campaign: Pick<CampaignRow, 'source_type' | 'source_id' | 'source_options'>,
): Promise<CampaignSource> {
  const { source_type, source_id, source_options } = campaign;
  if (source_options.redial) return redialSource(context, source_options.redial);
  switch (source_type) {
    case 'csv':
      return csvSource(context, source_id, source_options);
    case 'contact_list':
      return contactListSource(context, Number(source_id));
    case 'sheet':
      return sheetSource(context, source_id, source_options);
  }
}
