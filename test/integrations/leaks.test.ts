import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { linesLoggedBy } from '../http/service.ts';
import { decideConsent, finalizeConnecting, startConnecting } from '../support/integrations.ts';
import { syncService } from './sync-service.ts';

const good = 'canary-key-of-the-broker';
const refused = 'canary-invalid-key-of-the-broker';

test("the broker's key is in no answer, no log, no record and no dead letter, whether the broker takes it or not", async () => {
  const { id: organizationId, bindings, clientWith, connectBooks, messages, step } = await syncService();
  const withKey = (COMPOSIO_API_KEY: string) => ({ ...bindings, COMPOSIO_API_KEY }) as Env;
  const client = clientWith(withKey(good));
  const shunned = clientWith(withKey(refused));
  const answers: unknown[] = [];
  const logged = await linesLoggedBy(async () => {
    const { body } = await startConnecting(client, 'chatapp');
    await decideConsent(body.redirect_url);
    answers.push(body, await finalizeConnecting(client, body.request_id, 'chatapp'), await client.get('/integration/chatapp/channels'));
    const books = await connectBooks();
    while (messages.length > 0) await step(withKey(refused));
    const ended = (await client.get('/integration/')).body.find((one: { id: number }) => one.id === books);
    expect(ended.provider_data.last_sync).toMatchObject({ status: 'failed' });
    answers.push(
      ended,
      await shunned.get('/integration/chatapp/channels'),
      await shunned.post('/integration/connect', { provider: 'sheet' }),
      await shunned.get(`/integration/${books}/books/organizations`),
      await shunned.post(`/integration/${books}/disconnect`),
    );
  });
  const kept = await Promise.all(
    ['integration', 'integration_sync', 'connection_request', 'integration_contact'].map((table) =>
      env.DB.prepare(`SELECT * FROM ${table} WHERE organization_id = ?`).bind(organizationId).all(),
    ),
  );
  expect(kept[1]!.results).not.toEqual([]);
  for (const text of [answers, logged, kept].map((all) => JSON.stringify(all))) expect(text).not.toContain('canary');
});
