/** The words with which a database refuses a write to rows of an organization that has left it. Platform errors are told by them. */
export const organizationMovedWords = 'organization_moved';

/**
 * A condition that holds unless the organization is on its way out of this shard or into it. What works for all organizations of a shard at
 * once leaves those rows alone: the copy is not in use yet, or the original no longer.
 */
export const isNotInTransitSql = (organizationId: string): string =>
  `NOT EXISTS (SELECT 1 FROM transit WHERE subject_id = ${organizationId} AND stage <> 'copying')`;

/** A condition that holds unless the organization is on its way out of this shard: what it does in the new one counts from the first moment. */
export const isNotLeavingSql = (organizationId: string): string =>
  `NOT EXISTS (SELECT 1 FROM transit WHERE subject_id = ${organizationId} AND stage IN ('fenced', 'left', 'clearing'))`;
