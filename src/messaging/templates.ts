import type { Context } from '../accounts/context.ts';
import { conflict, ServiceError } from '../library/errors.ts';
import type { MessagingFailure } from '../providers/messaging/failures.ts';
import { chooseTemplate, type Template, type Wanted } from '../providers/messaging/templates.ts';
import { findConfig } from './config-store.ts';
import { senderOf, type Sender, type SendingFailure } from './sender.ts';

const lifetimeMs = 60_000;
const mostKept = 200;
/** By organization and provider, for this isolate. */
const kept = new Map<string, { templates: Template[]; templatesOf: string; until: number }>();

const nameOf = ({ organization }: Context, { key }: Sender) => `${organization.id}:${key}`;

/** The approved templates of the selected provider, asked anew. Throws 409 when none is configured, and 502 when it does not tell. */
export async function listTemplates(context: Context): Promise<Template[]> {
  const sender = await senderOf(context, await findConfig(context.database, context.organization.id));
  if ('failure' in sender) throw conflict(sender.message);
  const listed = await askForTemplates(context, sender);
  if ('failure' in listed) throw providerFailed(listed);
  return listed.templates;
}

/** A template ready to be sent. One that the kept list does not have is looked for at the provider. */
export async function templateOf(
  context: Context,
  sender: Sender,
  wanted: Omit<Wanted, 'defaultId'>,
): Promise<{ template: Template } | MessagingFailure> {
  const choose = (templates: Template[]) =>
    chooseTemplate(templates, { ...wanted, ...(sender.defaultTemplateId !== undefined && { defaultId: sender.defaultTemplateId }) });
  const known = knownTemplates(context, sender);
  const chosen = known && choose(known);
  if (chosen && 'template' in chosen) return chosen;
  const listed = await askForTemplates(context, sender);
  return 'failure' in listed ? listed : choose(listed.templates);
}

/** After the provider has objected to one: it may have been changed there. */
export function forgetTemplates(context: Context, sender: Sender): void {
  kept.delete(nameOf(context, sender));
}

function knownTemplates(context: Context, sender: Sender): Template[] | undefined {
  const known = kept.get(nameOf(context, sender));
  const now = context.clock();
  // A clock that was set back must not stretch the minute.
  const isFresh = known && known.until > now && known.until <= now + lifetimeMs;
  return isFresh && known.templatesOf === sender.templatesOf ? known.templates : undefined;
}

async function askForTemplates(context: Context, sender: Sender) {
  const listed = await sender.provider.listTemplates();
  if ('failure' in listed) return listed;
  if (kept.size >= mostKept) kept.clear();
  const { templatesOf } = sender;
  kept.set(nameOf(context, sender), { templates: listed.templates, templatesOf, until: context.clock() + lifetimeMs });
  return listed;
}

const providerFailed = ({ message, retryAfterSeconds }: SendingFailure | MessagingFailure) =>
  new ServiceError('provider_failed', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
