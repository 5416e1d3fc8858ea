import type { Context } from '../../src/context.ts';
import type { CallRecord } from './call-record.ts';
import type { StoredConversation } from './stored-conversation.ts';
import type { LiveConversation } from './live-conversation.ts';
import type { Timers } from '../shared/timers.ts';

/** Dependencies of the work after a call. */
export interface PostCallContext {
  context: Context;
  storage: DurableObjectStorage;
  record: CallRecord;
  store: StoredConversation;
  conversation: LiveConversation;
  timers: Timers;
  /** Whether the object still has the call. A parallel run may have finished the work during an await. */
  hasCall(): boolean;
}
