import type { Context } from '../accounts/context.ts';

export const limitDetail = ({ organization }: Context): string =>
  `contact_limit_reached: the plan allows ${organization.plan.maxContacts} contacts; delete contacts or have the plan raised`;
