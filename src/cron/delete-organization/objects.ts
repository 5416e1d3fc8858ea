import pMap from 'p-map';
import type { Context } from '../../context.ts';
import { callDurableObject } from '../../library/platform/call-durable-object.ts';
import type { DeletionStep } from './step.ts';

/** The part of an object's namespace that all objects of an organization share. */
interface ObjectNamespace {
  getByName(name: string): { deleteAllData(): Promise<void> };
}

export type ObjectKind = 'AUTOMATION_RUN' | 'CALL' | 'CAMPAIGN' | 'TEST_SESSION' | 'LOAD_TEST' | 'CALL_SLOTS' | 'VECTOR_INDEX';

const concurrency = 10;

/** Has the objects of these names forget everything, the alarm included. One that was not there is not made. */
export async function destroyObjects({ bindings }: Context, kind: ObjectKind, names: string[]): Promise<void> {
  const namespace: ObjectNamespace = bindings[kind];
  await pMap(
    names,
    (name) =>
      callDurableObject(
        () => namespace.getByName(name),
        (object) => object.deleteAllData(),
      ),
    { concurrency },
  );
}

/** The object of which an organization has one. */
export const destroyObjectStep = (name: string, kind: 'CALL_SLOTS' | 'VECTOR_INDEX'): DeletionStep => ({
  name,
  async runPage(context) {
    await destroyObjects(context, kind, [String(context.organization.id)]);
    return { next: 'done', removed: 0 };
  },
});
