import { LocalError } from '../local/settings.ts';
import type { NeededTemplate } from './journey-file.ts';
import type { Tour } from './step.ts';

export type Template = NeededTemplate['template'];

/** An account at the simulated provider, which keeps the templates of its number and of its business by one id here. */
const account = { phone_number_id: '155500050060', access_token: 'simulated', waba_id: '155500050060' };

interface Messaging {
  messaging_app: { provider: string; provider_b: { waba_id: string } | null };
}

/** What the owner of a messaging account does by hand and waits for: the templates are there, and approved. */
export async function askForTemplates(tour: Tour, templates: Template[]): Promise<void> {
  const { service, simulatorsUrl } = tour;
  if (templates.length === 0) return;
  const { messaging_app: chosen } = await service.get<Messaging>('/organizations/messaging-config');
  if (chosen.provider === '')
    await service.post('/organizations/messaging-config', { messaging_app: { provider: 'provider_b', provider_b: account } });
  else if (chosen.provider !== 'provider_b' || chosen.provider_b?.waba_id !== account.waba_id) return;
  const known = await service.get<{ templates: { name: string }[] }>('/organizations/messaging-config/messaging-app-templates');
  const missing = templates.filter(({ name }) => !known.templates.some((template) => template.name === name));
  if (missing.length === 0) return;
  const added = await service.call(
    'POST',
    `${simulatorsUrl}/meta/__sim/templates`,
    JSON.stringify({ account: account.waba_id, templates: missing }),
    {
      'content-type': 'application/json',
    },
  );
  if (added.status !== 201) throw new LocalError(`the simulated provider answered ${added.status} ${JSON.stringify(added.body)}`);
}
