import type { Context } from '../../accounts/context.ts';
import { findDefinition } from './agent-store.ts';

/** A definition as stored, its secrets sealed. Definitions are never deleted, so one that is missing was never there. One D1 read. */
export async function loadDefinition({ database, organization }: Context, definitionId: number): Promise<Record<string, unknown>> {
  const definition = await findDefinition(database, organization.id, definitionId);
  if (definition === null) throw new Error(`definition ${definitionId} of organization ${organization.id} is not stored`);
  return JSON.parse(definition) as Record<string, unknown>;
}
