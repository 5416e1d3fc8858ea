import pMap from 'p-map';
import type { Context } from '../../context.ts';
import { callDurableObject } from '../../library/platform/call-durable-object.ts';
import type { DeletionStep } from './step.ts';

/** The part of an object's namespace that all objects of an organization share. */
interface ObjectNamespace {
  getByName(name: string): { deleteAllData(): Promise<void> };
}

export type ObjectKind =
  | 'AUTOMATION_RUN'
  | 'CALL'
  | 'CAMPAIGN'
  | 'TEST_SESSION'
  | 'LOAD_TEST'
  | 'WEBHOOK_ENDPOINT'
  | 'CALL_SLOTS'
  | 'VECTOR_INDEX';

const concurrency = 10;

/** Deletes all data of the objects with these names, alarms included. An object that never existed leaves nothing behind. */
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

/** Destroys the one object of a kind that an organization has. */
export const destroyObjectStep = (name: string, kind: 'CALL_SLOTS' | 'VECTOR_INDEX'): DeletionStep => ({
  name,
  async runPage(context) {
    await destroyObjects(context, kind, [String(context.organization.id)]);
    return { next: 'done', removed: 0 };
  },
});
