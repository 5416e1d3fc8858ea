import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import { callCampaignObject } from '../rpc.ts';
import { existingCampaign, insertCampaign, type CampaignRow, type CampaignState } from '../store.ts';
import type { RedialInput } from '../schemas.ts';
import { redialOutcomes } from '../source/options.ts';

const redialableStates = new Set<CampaignState>(['paused', 'completed', 'failed', 'cancelled']);

/** Creates a draft that calls the rows again that failed with one of the outcomes. Throws 409 while the campaign runs, and without such rows. */
export async function redialCampaign(context: Context, id: number, input: RedialInput): Promise<CampaignRow> {
  const { bindings, organization } = context;
  const row = await existingCampaign(context, id);
  const outcomes = redialOutcomes.filter((outcome) => input.outcomes?.includes(outcome) ?? true);
  if (!redialableStates.has(row.state))
    throw conflict(`The campaign is ${row.state}; rows are redialled of a campaign that is paused, completed, failed or cancelled`);
  if (row.archive) throw conflict(`The rows of campaign ${id} are archived, and cannot be redialled; its report has them`);
  const count = await callCampaignObject(bindings, organization.id, id, (object) => object.countRedialRows(outcomes));
  if (!count) throw conflict(`There is nothing to redial: no row of campaign ${id} ended with ${outcomes.join(', ')}`);
  const { redial: _, ...sourceOptions } = row.source_options;
  const campaign = {
    ...row,
    name: input.name ?? toRedialName(row.name),
    source_options: { ...sourceOptions, redial: { campaign_id: id, outcomes } },
    total_rows: count,
  };
  return insertCampaign(context.database, organization.id, campaign, context.clock());
}

const redialSuffix = ' (redial)';
const toRedialName = (name: string): string =>
  name.endsWith(redialSuffix) ? name : `${name.slice(0, 200 - redialSuffix.length)}${redialSuffix}`;
