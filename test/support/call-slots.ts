import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { SlotStore } from '../../durable-objects/call-slots/slot-store.ts';
import type { StoredAttempt } from '../../durable-objects/call-slots/stored-attempt.ts';

type Slots = ReturnType<typeof env.CALL_SLOTS.getByName>;

const storeOf = (object: unknown) => (object as { store: SlotStore }).store;

/** All attempts as the object knows them: grants are in memory alone. */
export const knownAttempts = (slots: Slots): Promise<StoredAttempt[]> =>
  runInDurableObject(slots, (object, { storage }) =>
    storage.sql
      .exec<{ key: string }>('SELECT key FROM attempt ORDER BY seq')
      .toArray()
      .map(({ key }) => storeOf(object).attempts.find(key)!),
  );

/** Changes an attempt as if this had come about by itself, and writes it. */
export const changeAttempt = (slots: Slots, key: string, change: Partial<StoredAttempt>): Promise<void> =>
  runInDurableObject(slots, (object) => {
    const { attempts } = storeOf(object);
    const attempt = attempts.find(key)!;
    attempts.save(attempt, { ...attempt, ...change }, false);
  });
