import { expect, test, vi } from 'vitest';
import { smokeTest } from '../../scripts/deploy/smoke-test.ts';
import type { DeploymentContext } from '../../scripts/deploy/deployment-context.ts';
import { Checkout } from './checkout.ts';

const waiting = { timeout: 60_000, interval: 250 };

const journey = (name: string, trigger: object) => ({
  name,
  trigger,
  definition: {
    nodes: [
      { id: 'start', type: 'trigger' },
      { id: 'end', type: 'exit', data: { outcome: 'thanked' } },
    ],
    edges: [{ id: 'e1', source: 'start', target: 'end' }],
  },
});

test('a plain "npx wrangler dev" in a fresh checkout takes a sign-up, a contact and an event, and completes runs', async () => {
  const checkout = await Checkout.create();
  try {
    const development = checkout.start('npx', ['wrangler', 'dev']);
    await vi.waitFor(() => expect(development.output).toContain(`Ready on http://127.0.0.1:${checkout.port}`), waiting);
    expect(development.output).toContain(`${checkout.api}/auth/signup`);
    expect(development.output).toContain('npm run --silent credentials');
    expect(development.output).toContain(`SIM_PORT=${checkout.simulatorsPort} npm run simulators`);
    expect((await checkout.call('GET', '/health')).body).toMatchObject({ status: 'ok', deployment_mode: 'local' });

    const person = { email: 'ada@example.com', password: 'correct horse battery', organization_name: 'Acme' };
    const session = await checkout.call('POST', '/auth/signup', person);
    const bearer = { Authorization: `Bearer ${session.body.token}` };
    const key = await checkout.call('POST', '/user/api-keys', { name: 'First key', scopes: ['admin'] }, bearer);
    const mine = { 'X-API-Key': key.body.api_key };
    const contact = await checkout.call('POST', '/contacts/upsert', { list_name: 'Customers', phone: '+14155550123' }, mine);
    expect(contact.body).toMatchObject({ contact_created: true, contact: { phone: '+14155550123' } });

    const activate = async (body: ReturnType<typeof journey>): Promise<number> => {
      const { id } = (await checkout.call('POST', '/automation-workflows', body, mine)).body;
      expect((await checkout.call('PATCH', `/automation-workflows/${id}`, { status: 'active' }, mine)).status).toBe(200);
      return id;
    };
    const completes = (id: number, waitMs: number) =>
      vi.waitFor(
        async () => {
          const { body } = await checkout.call('GET', `/automation-workflows/${id}/runs`, undefined, mine);
          expect(body.runs[0]).toMatchObject({ state: 'completed', outcome: 'thanked' });
        },
        { timeout: waitMs, interval: 250 },
      );
    const minutely = await activate(journey('Each minute', { type: 'schedule', config: { cron: '* * * * *', timezone: 'UTC' } }));
    const onEvent = await activate(journey('Thanks', { type: 'contact_event', config: { event_types: ['order_placed'] } }));
    const event = await checkout.call('POST', '/events', { event_type: 'order_placed', phone: '+14155550123' }, mine);
    expect(event.status).toBe(201);
    await completes(onEvent, 20_000);

    const { base_url, api_key } = JSON.parse(await credentials(checkout));
    expect(base_url).toBe(checkout.api);
    expect((await checkout.call('GET', '/contacts', undefined, { 'X-API-Key': api_key })).status).toBe(200);

    const deployment = { address: `http://127.0.0.1:${checkout.port}`, environment: { API_KEY: api_key }, patienceMs: 30_000, send: fetch };
    for (let times = 0; times < 2; times++)
      expect(await smokeTest(deployment as unknown as DeploymentContext)).toMatch(
        /is well: a contact, an event, and a run completed [\d.]+ s later/,
      );

    const second = checkout.start('npx', ['wrangler', 'dev', '--port', String(checkout.port + 1)]);
    expect(await second.ended).not.toBe(0);
    expect(second.output).toContain(`already runs on port ${checkout.port} with the state in ${checkout.directory}/.wrangler/state`);

    await completes(minutely, 75_000);

    await development.stop();
    const together = checkout.start('npm', ['start'], { PORT: String(checkout.port) });
    await vi.waitFor(() => expect(together.output).toContain('curl'), waiting);
    expect(together.output).toContain(api_key);
    expect((await checkout.call('GET', '/contacts', undefined, mine)).body.contacts).toHaveLength(1);
    await together.stop();
  } finally {
    await checkout.remove();
  }
}, 240_000);

/** Reads the credentials, which exist shortly after the service is up. */
const credentials = (checkout: Checkout) =>
  vi.waitFor(async () => {
    const asked = checkout.start('npm', ['run', '--silent', 'credentials']);
    expect(await asked.ended).toBe(0);
    return asked.output;
  }, waiting);
