import { badRequest, type ServiceError } from '../../library/errors.ts';

/** What a caller is told whose plan has no place for another integration. */
export const integrationLimitReached = (limit: number): ServiceError =>
  badRequest(
    `The plan allows ${limit} ${limit === 1 ? 'integration' : 'integrations'}, and no place is left beside those that are connected or being connected; ` +
      'disconnect one or have the plan raised',
  );
