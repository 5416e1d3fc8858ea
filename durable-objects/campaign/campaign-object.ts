import type { AttemptReport } from '../../src/voice-agents/dialing/contract.ts';
import { LivingObject } from '../shared/living-object.ts';

/* eslint-disable @typescript-eslint/no-unused-vars */
export class CampaignObject extends LivingObject {
  protected schemaSteps() {
    return [];
  }
  protected async writeProjection(): Promise<void> {}
  protected async onTimer(): Promise<void> {}

  /** Takes in what became of attempts; when it returns, slots need not tell them again. Reports come repeated and late. */
  async reports(reports: AttemptReport[]): Promise<void> {
    throw new Error('not there');
  }
}
