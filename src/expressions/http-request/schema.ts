import { z } from 'zod';
import { configObject } from '../../library/json/config-object.ts';
import { decodeSigningSecret } from '../../library/security/standard-webhooks.ts';
import { isTemplate } from '../templates/render.ts';

const headerNamePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
/** Headers that the transport sets; another value would break the request or send it to another host. */
const transportHeaders = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);

export const isHttpUrl = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '';
};

const HeadersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerNamePattern.test(name)) context.addIssue({ code: 'custom', path: [name], message: `"${name}" is not a header name` });
    if (transportHeaders.has(name.toLowerCase()))
      context.addIssue({ code: 'custom', path: [name], message: `Header "${name}" is set by the service; leave it out` });
    if (/[\r\n\0]/.test(value)) context.addIssue({ code: 'custom', path: [name], message: `Header "${name}" must be one line` });
  }
});

export const HttpRequestData = configObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']).default('POST'),
  url: z
    .string()
    .max(4000)
    .refine(
      (url) => isTemplate(url) || isHttpUrl(url),
      'Must be an absolute http:// or https:// URL without user and password, perhaps with templates',
    ),
  headers: HeadersSchema.default({}),
  query: z.record(z.string(), z.unknown()).default({}),
  body: z.unknown().optional(),
  timeout_seconds: z.number().min(1).max(30).default(10),
  secret: z
    .string()
    .refine(
      (secret) => decodeSigningSecret(secret) !== null,
      'Must be base64, with or without whsec_ before it; for example whsec_ and 32 random bytes in base64',
    )
    .optional(),
  success_codes: z
    .array(z.union([z.int().min(100).max(599), z.string().regex(/^[1-5]xx$/, 'Must be a status such as 200 or a class such as "2xx"')]))
    .min(1)
    .max(50)
    .default(['2xx']),
  /** The request reaches a person, for example by a provider of text messages: the workflow's quiet hours apply. */
  respect_quiet_hours: z.boolean().default(false),
  /** After a crash between sending and recording, or a lost response: send again, or fail as `unknown`. */
  after_crash: z.enum(['repeat', 'unknown']).default('repeat'),
});

export type HttpRequestData = z.infer<typeof HttpRequestData>;

export const isSuccessStatus = (codes: HttpRequestData['success_codes'], status: number): boolean =>
  codes.some((code) => (typeof code === 'number' ? code === status : Number(code[0]) === Math.floor(status / 100)));
