import type { Context } from '../../context.ts';
import type { CampaignRow } from '../store.ts';
import type { CampaignSource } from './campaign-source.ts';
import { openContactListSource } from './contact-list-source.ts';
import { openFileSource } from './file-source.ts';
import { openRedialSource } from './redial-source.ts';
import { openSheetSource } from './sheet-source.ts';

/** Opens a campaign's source. Throws `UnreadableFileError`, whose message is a sentence, when the source is gone or cannot be read. */
export async function openCampaignSource(
  context: Context,
  campaign: Pick<CampaignRow, 'source_type' | 'source_id' | 'source_options'>,
): Promise<CampaignSource> {
  const { source_type, source_id, source_options } = campaign;
  if (source_options.redial) return openRedialSource(context, source_options.redial);
  switch (source_type) {
    case 'csv':
      return openFileSource(context, source_id, source_options);
    case 'contact_list':
      return openContactListSource(context, Number(source_id));
    case 'sheet':
      return openSheetSource(context, source_id, source_options);
  }
}
