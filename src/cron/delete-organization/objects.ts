import type { Context } from '../../accounts/context.ts';
import { callDurable } from '../../library/call-durable.ts';
import type { Step } from './step.ts';

/** What every object of an organization's can do, in the form that platform types do not get in the way of. */
interface Removable {
  leaveNothing(): Promise<void>;
}

export type ObjectKind = 'AUTOMATION_RUN' | 'CALL' | 'CAMPAIGN' | 'TEST_SESSION' | 'LOAD_TEST' | 'CALL_SLOTS' | 'VECTOR_INDEX';

const parallel = 10;

/** Has the objects of these names forget everything, the alarm included. One that was not there is not made. */
export async function eraseObjects({ bindings }: Context, kind: ObjectKind, names: string[]): Promise<void> {
  const waiting = [...names];
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const one = name;
      const stub = () => bindings[kind].getByName(one) as unknown as Removable;
      await callDurable(stub, (object) => object.leaveNothing());
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, waiting.length) }, worker));
}

/** The object of which an organization has one. */
export const eraseObject = (name: string, kind: 'CALL_SLOTS' | 'VECTOR_INDEX'): Step => ({
  name,
  async page(context) {
    await eraseObjects(context, kind, [String(context.organization.id)]);
    return { next: 'done', removed: 0 };
  },
});
