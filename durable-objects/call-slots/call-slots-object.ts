import type { CallsRequest, Owner, RequestAnswer } from '../../src/voice-agents/dialing/contract.ts';
import { LivingObject } from '../shared/living-object.ts';

/* eslint-disable @typescript-eslint/no-unused-vars */
export class CallSlotsObject extends LivingObject {
  protected schemaSteps() {
    return [];
  }
  protected async writeProjection(): Promise<void> {}
  protected async onTimer(): Promise<void> {}

  /** Queues what is not known yet; what is known stays as it is. `organizationId` is the object's name. Repeatable. */
  async request(organizationId: number, request: CallsRequest): Promise<RequestAnswer> {
    throw new Error('not there');
  }
  /** Nothing of the owner that has not been submitted is dialled from now on, and requests of an epoch up to `epoch` count no more. */
  async withdraw(organizationId: number, owner: Owner, epoch: number): Promise<void> {
    throw new Error('not there');
  }
  /** The same for single attempts, by key: a contact is gone, a run has been stopped. Live calls go on. */
  async withdrawCalls(keys: string[]): Promise<void> {
    throw new Error('not there');
  }
  /** The telephony configuration, the plan or a setting has changed: it is read anew, and what waits is looked at again. */
  async termsChanged(): Promise<void> {
    throw new Error('not there');
  }
  /** Says that the talk of a call is settled: the object of the call needs no more watching. */
  async settled(keys: string[]): Promise<void> {
    throw new Error('not there');
  }
  /** What the line of an attempt does at the moment; null: it is not known (any more). */
  async look(key: string): Promise<{ callStatus: string; reason: string | null } | null> {
    throw new Error('not there');
  }
  /** How an owner stands: for "why is nothing dialled". */
  async standing(
    owner: Owner,
  ): Promise<{ queued: number; live: number; organizationLive: number; limit: number; waitingFor: string | null }> {
    throw new Error('not there');
  }
}
