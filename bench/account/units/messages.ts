import type { Bench } from '../../bench.ts';
import type { Unit } from '../account.ts';

const credentials = {
  phone_number_id: '1055512345',
  access_token: 'of-the-account',
  waba_id: '2055512345',
  app_secret: 'secret-of-the-account',
};

/** Messages through a messaging provider. */
export async function messageUnits({ clients, headers }: Bench): Promise<Unit[]> {
  const post = (path: string, body: object) =>
    clients.recording.json<{ success?: boolean; error?: string }>({
      method: 'POST',
      path: `/api/v1/organizations/messaging-config${path}`,
      headers,
      body: JSON.stringify(body),
    });
  await post('', { messaging_app: { provider: 'provider_b', provider_b: credentials } });
  let sent = 0;
  const send = async () => {
    const answer = await post('/test', {
      to: `+1212555${1000 + sent++}`,
      kind: 'template',
      template_name: 'order_update',
      language: 'en',
      template_params: { 1: 'Ada', 2: '1001' },
    });
    if (!answer.success) throw new Error(`The message was not sent: ${answer.error}`);
  };
  return [{ name: 'A message that is sent', work: send }];
}
