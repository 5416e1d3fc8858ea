import type { CarrierEvent } from '../../src/providers/telephony/carrier-events.ts';
import type { LineEnd } from '../../src/voice-agents/dialing/contract.ts';
import { LivingObject } from '../shared/living-object.ts';

/* eslint-disable @typescript-eslint/no-unused-vars */
export class CallObject extends LivingObject {
  protected schemaSteps() {
    return [];
  }
  protected async writeProjection(): Promise<void> {}
  protected async onTimer(): Promise<void> {}

  /** A person has answered: the call is there from now on, loaded from its row. Repeatable. False: there is no such run, or it is over. */
  async begin(organizationId: number, runId: number): Promise<boolean> {
    throw new Error('not there');
  }
  /** The carrier's relay session is over and asks what to do with the line. */
  async relayEnded(event: CarrierEvent & { kind: 'relay_ended' }): Promise<'connect' | 'hang_up'> {
    throw new Error('not there');
  }
  /** Machine detection came to a verdict after the talk had begun. */
  async machineAnswered(): Promise<void> {
    throw new Error('not there');
  }
  /** The line has ended, by the carrier's evidence. The talk is settled from now on. Makes the object when it is not there. Repeatable. */
  async lineEnded(organizationId: number, runId: number, end: LineEnd): Promise<void> {
    throw new Error('not there');
  }
  /** The carrier has a recording, or knows that there is none. */
  async recorded(event: CarrierEvent & { kind: 'recording' }): Promise<void> {
    throw new Error('not there');
  }
  /** Goes on with what is due, whatever became of the alarm. False: there is no such object. */
  async poke(): Promise<boolean> {
    throw new Error('not there');
  }
}
