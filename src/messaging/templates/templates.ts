import type { Context } from '../../context.ts';
import { conflict, ServiceError } from '../../library/errors.ts';
import type { MessagingFailure } from '../../providers/messaging/failures.ts';
import { chooseTemplate, type Template, type TemplateSelector } from '../../providers/messaging/templates.ts';
import { findConfig } from '../config/store.ts';
import { resolveSender, type Sender, type SendFailure } from '../messages/sender.ts';

const cacheTtlMs = 60_000;
const maxCacheEntries = 200;
/** The templates by organization and provider, in this isolate. */
const templateCache = new Map<string, { templates: Template[]; templatesOf: string; until: number }>();

const cacheKey = ({ organization }: Context, { key }: Sender) => `${organization.id}:${key}`;

/**
 * The approved templates of the selected provider, freshly listed. Throws 409 when no provider is configured, and 502 when the provider
 * fails.
 */
export async function listTemplates(context: Context): Promise<Template[]> {
  const sender = await resolveSender(context, await findConfig(context.database, context.organization.id));
  if ('failure' in sender) throw conflict(sender.message);
  const listed = await fetchTemplates(context, sender);
  if ('failure' in listed) throw providerFailed(listed);
  return listed.templates;
}

/** Finds the template of a message. A template that the cache does not have is looked for at the provider. */
export async function findTemplate(
  context: Context,
  sender: Sender,
  wanted: Omit<TemplateSelector, 'defaultId'>,
): Promise<{ template: Template } | MessagingFailure> {
  const choose = (templates: Template[]) =>
    chooseTemplate(templates, { ...wanted, ...(sender.defaultTemplateId !== undefined && { defaultId: sender.defaultTemplateId }) });
  const known = cachedTemplates(context, sender);
  const chosen = known && choose(known);
  if (chosen && 'template' in chosen) return chosen;
  const listed = await fetchTemplates(context, sender);
  return 'failure' in listed ? listed : choose(listed.templates);
}

/** Forgets the cached templates after the provider has refused one: it may have been changed there. */
export function invalidateTemplates(context: Context, sender: Sender): void {
  templateCache.delete(cacheKey(context, sender));
}

function cachedTemplates(context: Context, sender: Sender): Template[] | undefined {
  const known = templateCache.get(cacheKey(context, sender));
  const now = context.clock();
  // Guards against a clock that was set back.
  const isFresh = known && known.until > now && known.until <= now + cacheTtlMs;
  return isFresh && known.templatesOf === sender.templatesOf ? known.templates : undefined;
}

async function fetchTemplates(context: Context, sender: Sender) {
  const listed = await sender.provider.listTemplates();
  if ('failure' in listed) return listed;
  if (templateCache.size >= maxCacheEntries) templateCache.clear();
  const { templatesOf } = sender;
  templateCache.set(cacheKey(context, sender), { templates: listed.templates, templatesOf, until: context.clock() + cacheTtlMs });
  return listed;
}

const providerFailed = ({ message, retryAfterSeconds }: SendFailure | MessagingFailure) =>
  new ServiceError('provider_failed', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
