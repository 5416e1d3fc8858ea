import { z } from 'zod';
import { bodyParameters, sortPlaceholders, findPlaceholders, type Template } from '../templates.ts';

const Approval = z.looseObject({ name: z.string().nullish(), category: z.string().nullish(), status: z.string().nullish() });

const ListedContent = z.looseObject({
  sid: z.string().min(1),
  friendly_name: z.string().nullish(),
  language: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  types: z.record(z.string(), z.looseObject({ body: z.string().nullish(), title: z.string().nullish() })).default({}),
  approval_requests: Approval.nullish(),
});

/**
 * A content with its approval; undefined for anything else. Its placeholders are those of all its texts and of `variables`. Twilio would
 * use the sample of `variables` for a missing value, so each value is required.
 */
export function parseTwilioTemplate(listed: unknown): Template | undefined {
  const parsed = ListedContent.safeParse(listed);
  if (!parsed.success) return undefined;
  const { sid, friendly_name: friendlyName, language, variables, types, approval_requests: approval } = parsed.data;
  const name = approval?.name || friendlyName || sid;
  const names = sortPlaceholders([...new Set([...findPlaceholders(JSON.stringify(types)), ...Object.keys(variables ?? {})])]);
  const [content] = Object.values(types);
  return {
    id: sid,
    name,
    ...(friendlyName && friendlyName !== name && { otherName: friendlyName }),
    language: language ?? '',
    category: approval?.category ?? '',
    status: approval?.status ?? 'unsubmitted',
    body: content?.body ?? content?.title ?? '',
    placeholders: names.length,
    parameters: bodyParameters(names),
    isNamed: names.some((one) => !/^\d+$/.test(one)),
    components: Object.entries(types).map(([type, part]) => Object.assign({ type }, part)),
  };
}
