import type {
  CampaignChange,
  CampaignProgress,
  LiveCampaign,
  RedialRow,
  RowRecord,
  RowsPage,
  RowsQuery,
} from '../../src/campaigns/rows/live-campaign.ts';
import type { RowOutcome } from '../../src/voice-agents/dialing/call-outcomes.ts';
import type { AttemptReport } from '../../src/voice-agents/dialing/contract.ts';
import { LivingObject } from '../shared/living-object.ts';

/* eslint-disable @typescript-eslint/no-unused-vars */

/**
 * One campaign from its start on, named `{organization_id}/{campaign_id}`.
 *
 * `act` names one request of a person (a random uuid made once a request): the call is repeated when it broke, and the repetition of what
 * was done is no conflict. Every answer's state has been projected into the row before. A campaign that was never started has no object:
 * acts throw 409 naming `draft`, and what reads answers null.
 */
export class CampaignObject extends LivingObject {
  protected schemaSteps() {
    return [];
  }
  protected async writeProjection(): Promise<void> {}
  protected async onTimer(): Promise<void> {}

  /** From draft to syncing; the row says so when it returns. Throws 404 for a campaign that is not there, 409 for one that is no draft. */
  async start(organizationId: number, campaignId: number, act: string): Promise<LiveCampaign> {
    throw new Error('not there');
  }
  /** Nothing is dialled after it has returned. 409 unless running or syncing. */
  async pause(act: string): Promise<LiveCampaign> {
    throw new Error('not there');
  }
  /** 409 unless paused. A campaign that would stand still for ever stays paused and says why in `state_reason`. */
  async resume(act: string): Promise<LiveCampaign> {
    throw new Error('not there');
  }
  /** Ends what is not in a call. 409 for a campaign that has ended. */
  async cancel(act: string): Promise<LiveCampaign> {
    throw new Error('not there');
  }
  /** 409 unless paused. Writes the changed columns of the row, too. */
  async change(change: CampaignChange): Promise<LiveCampaign> {
    throw new Error('not there');
  }
  /** Makes sure that it goes on; also makes the object of a campaign whose start broke off. For the minute tick. */
  async poke(organizationId: number, campaignId: number): Promise<void> {
    throw new Error('not there');
  }

  async snapshot(): Promise<LiveCampaign | null> {
    throw new Error('not there');
  }
  async progress(): Promise<CampaignProgress | null> {
    throw new Error('not there');
  }
  async rows(query: RowsQuery): Promise<RowsPage | null> {
    throw new Error('not there');
  }
  /** The next rows behind a number, for the report; fewer than `limit` only at the end. */
  async reportRows(afterRowNumber: number, limit: number): Promise<RowRecord[] | null> {
    throw new Error('not there');
  }
  /** The next rows behind a number that ended without the person being reached, by one of `outcomes`. */
  async redialRows(outcomes: RowOutcome[], afterRowNumber: number, limit: number): Promise<RedialRow[] | null> {
    throw new Error('not there');
  }

  /** The contact is gone: its rows end and forget their variables, a queued call of it is withdrawn. */
  async removeContact(contactId: number): Promise<void> {
    throw new Error('not there');
  }
  /** The voice agent takes no more calls: pauses a campaign that is running. */
  async agentArchived(): Promise<void> {
    throw new Error('not there');
  }

  /** Takes in what became of attempts; when it returns, slots need not tell them again. Reports come repeated and late. */
  async reports(reports: AttemptReport[]): Promise<void> {
    throw new Error('not there');
  }
}
