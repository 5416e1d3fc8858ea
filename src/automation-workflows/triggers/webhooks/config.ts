import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { mappingPathProblem, splitPathProblem } from './mapping-path.ts';
import { Condition } from '../../../expressions/conditions/condition.ts';
import { decodeSigningSecret } from '../../../library/security/standard-webhooks.ts';

const secret = z.string().min(1).max(500);
/** Senders encode other characters in different bytes, and blanks around a value are not part of it (RFC 9110, 5.5). */
const headerValueSchema = (what: string) =>
  z
    .string()
    .min(1, `Must not be empty: no delivery could be told from a stranger's; set the ${what} that the sender sends`)
    .max(500)
    .refine(
      (text) => text.trim() === text,
      `Can never match: a header comes without blanks at its ends; give the ${what} without them, and set the same at the sender`,
    )
    .refine(
      (text) => /^[\t\x20-\x7e]*$/.test(text.trim()),
      `Can never be relied on to match: a header carries letters, digits and signs of ASCII on one line; choose a ${what} of these, and set the same at the sender`,
    );
const header = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'Must be a header name such as X-Signature');
/** For the GET with which some senders check an address before they send. */
const verify_token = z.string().min(1).max(500).optional();

export const WebhookAuth = z
  .discriminatedUnion('type', [
    configObject({ type: z.literal('none'), verify_token }),
    configObject({
      type: z.literal('hmac_sha256'),
      header,
      secret,
      encoding: z.enum(['hex', 'base64']).default('hex'),
      prefix: z
        .string()
        .max(50)
        .regex(
          /^([\x21-\x7e][\t\x20-\x7e]*)?$/,
          'Can never match: a header begins with no blank, and carries letters, digits and signs of ASCII on one line',
        )
        .optional(),
      verify_token,
    }),
    configObject({
      type: z.literal('standard_webhooks'),
      secret: secret.refine(
        (text) => decodeSigningSecret(text) !== null,
        'Must be base64, with or without whsec_ before it, as the sender shows it',
      ),
      verify_token,
    }),
    configObject({ type: z.literal('shopify'), secret, verify_token }),
    /** `header` for senders that sign in the same form under another name, such as Calendly-Webhook-Signature. */
    configObject({ type: z.literal('stripe'), secret, header: header.default('Stripe-Signature'), verify_token }),
    configObject({ type: z.literal('header_token'), header, token: headerValueSchema('token'), verify_token }),
    configObject({ type: z.literal('basic'), username: z.string().min(1).max(500), password: secret, verify_token }),
  ])
  .default({ type: 'none' });

export type WebhookAuth = z.infer<typeof WebhookAuth>;

const checkedPath = (problemOf: (text: string) => string | null) =>
  z.string().superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });
/** A path into the body, as in mapping. */
const path = checkedPath(mappingPathProblem);

/** Contact fields, and any other key as a variable: where in the body its value is; of several paths the first that holds something. */
export const WebhookMapping = z.record(z.string().min(1).max(100), z.union([path, z.array(path).min(1).max(10)]));

export type WebhookMapping = z.infer<typeof WebhookMapping>;

export const WebhookConfig = configObject({
  auth: WebhookAuth,
  mapping: WebhookMapping.default({}),
  /** The list in the body of which each element is a delivery with a run of its own. */
  split: checkedPath(splitPathProblem).optional(),
  list_name: z.string().min(1).max(200).optional(),
  /** Name of a header or, beginning with `$.`, a path into the body. */
  delivery_id: z
    .string()
    .superRefine((text, context) => {
      const problem = text.startsWith('$.') ? mappingPathProblem(text) : header.safeParse(text).error?.issues[0]?.message;
      if (problem) context.addIssue({ code: 'custom', message: `${problem}; a path into the body begins with $.` });
    })
    .optional(),
  filter: Condition.optional(),
});

export type WebhookConfig = z.infer<typeof WebhookConfig>;
