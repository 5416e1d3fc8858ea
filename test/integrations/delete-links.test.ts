import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { deliver } from '../support/background.ts';
import { syncService } from './sync-service.ts';

const linksOf = async (integrationId: number): Promise<number> => {
  const row = await env.DB.prepare('SELECT count(*) AS total FROM integration_contact WHERE integration_id = ?')
    .bind(integrationId)
    .first();
  return row!['total'] as number;
};

const cleanupOf = (integrationId: number) =>
  env.DB.prepare("SELECT id FROM cleanup WHERE kind = 'integration_disconnected' AND subject_id = ?")
    .bind(integrationId)
    .first<{ id: number }>();

test('a disconnected data source is forgotten page by page, however often it is asked for, and its contacts stay', async () => {
  const { client, connectBooks, work, addToBooks, id: organizationId } = await syncService();
  await addToBooks(200);
  const id = await connectBooks();
  await work();
  const contacts = (await client.get('/contacts?limit=1')).body.total as number;
  expect([await linksOf(id), contacts]).toEqual([650, 650]);
  await client.post(`/integration/${id}/disconnect`);
  const message = { v: 1, kind: 'cleanup', organization_id: organizationId, id: (await cleanupOf(id))!.id };
  await deliver('fanout', [message]);
  expect(await linksOf(id)).toBe(150);
  await deliver('fanout', [message, message]);
  expect([await linksOf(id), await cleanupOf(id)]).toEqual([0, null]);
  expect((await client.get('/contacts?limit=1')).body.total).toBe(contacts);
});
