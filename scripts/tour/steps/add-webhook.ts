import { randomBytes } from 'node:crypto';
import { readExample } from '../examples.ts';
import type { TourStep } from '../step.ts';

interface Trigger {
  id: number;
  type: string;
  name: string;
  webhook_url: string;
}

interface TriggerExample {
  type: string;
  name: string;
  config: { auth: { type: 'shopify'; secret: string } };
}

export const addWebhook: TourStep = {
  title: 'Give the journey a signed webhook as a second way in',
  operation: 'POST /automation-workflows/{workflow_id}/triggers',
  async run({ service, baseUrl, say, notes }) {
    const { id } = notes.read('journey');
    const example = JSON.parse(readExample('webhooks/shopify-trigger.json')) as TriggerExample;
    example.config.auth.secret = randomBytes(32).toString('hex');
    const { triggers } = await service.get<{ triggers: Trigger[] }>(`/automation-workflows/${id}/triggers`);
    const known = triggers.find(({ type, name }) => type === example.type && name === example.name);
    const trigger = known
      ? await service.patch<Trigger>(`/automation-workflows/triggers/${known.id}`, { config: example.config, state: 'active' })
      : await service.post<Trigger>(`/automation-workflows/${id}/triggers`, example);
    notes.write('webhook', { url: trigger.webhook_url, secret: example.config.auth.secret });
    say(`"${trigger.name}" ${known ? 'was there and has a new secret' : 'is new'}: id ${trigger.id}. The shop would post its orders to`);
    say(trigger.webhook_url);
    say(`${baseUrl}/automation-workflows/${id}/triggers`);
  },
};
