import type { Context } from '../../context.ts';

/** The sentence of `contact_limit_reached`. */
export const contactLimitMessage = ({ organization }: Context): string =>
  `The plan allows ${organization.plan.maxContacts} contacts; delete contacts or have the plan raised`;
