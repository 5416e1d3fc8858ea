import type { DocumentRow } from './store.ts';

/** One generation of a document's chunks. Writes for a generation change nothing once it is no longer in progress. */
export interface DocumentGeneration {
  organization_id: number;
  id: number;
  generation: number;
}

/** The generation that is being made of the document. */
export const toDocumentGeneration = ({ organization_id, id, next_generation }: DocumentRow): DocumentGeneration => ({
  organization_id,
  id,
  generation: next_generation,
});

/** Holds while the generation is in progress. `generationParameters` are the first three parameters of its statement. */
export const inProgressCondition = `d.organization_id = ?1 AND d.id = ?2 AND d.next_generation = ?3 AND d.is_active = 1 AND d.status IN ('pending', 'processing')`;

export const generationParameters = ({ organization_id, id, generation }: DocumentGeneration): [number, number, number] => [
  organization_id,
  id,
  generation,
];
