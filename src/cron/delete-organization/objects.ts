import type { Context } from '../../context.ts';
import { callDurableObject } from '../../library/platform/call-durable-object.ts';
import type { DeletionStep } from './step.ts';

/** What every object of an organization's can do, in the form that platform types do not get in the way of. */
interface DestroyableObject {
  deleteAllData(): Promise<void>;
}

export type ObjectKind = 'AUTOMATION_RUN' | 'CALL' | 'CAMPAIGN' | 'TEST_SESSION' | 'LOAD_TEST' | 'CALL_SLOTS' | 'VECTOR_INDEX';

const concurrency = 10;

/** Has the objects of these names forget everything, the alarm included. One that was not there is not made. */
export async function destroyObjects({ bindings }: Context, kind: ObjectKind, names: string[]): Promise<void> {
  const waiting = [...names];
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const one = name;
      const stub = () => bindings[kind].getByName(one) as unknown as DestroyableObject;
      await callDurableObject(stub, (object) => object.deleteAllData());
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, waiting.length) }, worker));
}

/** The object of which an organization has one. */
export const destroyObjectStep = (name: string, kind: 'CALL_SLOTS' | 'VECTOR_INDEX'): DeletionStep => ({
  name,
  async runPage(context) {
    await destroyObjects(context, kind, [String(context.organization.id)]);
    return { next: 'done', removed: 0 };
  },
});
