import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import configuration from '../../dependency-rules.ts';

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'rooms-'))));
afterEach(() => rmSync(directory, { recursive: true }));

/** Two files, the first of which imports from the second: the rules that they break. */
async function brokenRules(
  from: string,
  to: string,
  importing: (path: string) => string = (path) => `import '${path}';`,
): Promise<string[]> {
  for (const folder of ['src', 'durable-objects', 'test', dirname(from), dirname(to)])
    mkdirSync(join(directory, folder), { recursive: true });
  const path = relative(dirname(from), to);
  writeFileSync(join(directory, from), `${importing(path.startsWith('.') ? path : `./${path}`)}\n`);
  writeFileSync(join(directory, to), 'export type Thing = string;\nexport const thing = 1;\n');
  const { options, forbidden } = configuration;
  const { output } = await cruise(['src', 'durable-objects', 'test'], {
    ...options,
    baseDir: directory,
    validate: true,
    ruleSet: { forbidden },
  });
  return (output as ICruiseResult).summary.violations.map(({ rule }) => rule.name);
}

/** What breaks each rule. */
const violations: [rule: string, from: string, to: string][] = [
  ['floor-of-library', 'src/library/text/trim.ts', 'src/database/client.ts'],
  ['floor-of-library', 'src/settings.ts', 'src/providers/broker/broker.ts'],
  ['floor-of-database', 'src/database/client.ts', 'src/outbox/messages.ts'],
  ['floor-of-context', 'src/providers/http/exchange.ts', 'src/http/errors.ts'],
  ['floor-of-context', 'src/outbox/enqueue.ts', 'src/contacts/contacts/create.ts'],
  ['floor-of-http', 'src/http/router.ts', 'src/accounts/schemas.ts'],
  ['floor-of-accounts', 'src/accounts/members/add.ts', 'src/contacts/contacts/create.ts'],
  ['floor-of-expressions', 'src/expressions/templates/engine.ts', 'src/contacts/contacts/read.ts'],
  ['floor-of-webhook-endpoints', 'src/webhook-endpoints/event-types.ts', 'src/contacts/contacts/read.ts'],
  ['floor-of-contacts', 'src/contacts/contacts/read.ts', 'src/events/list.ts'],
  ['floor-of-events', 'src/events/accept.ts', 'src/messaging/schemas.ts'],
  ['floor-of-knowledge-base', 'src/knowledge-base/search/search.ts', 'src/automation-workflows/triggers/match.ts'],
  ['floor-of-messaging', 'src/messaging/schemas.ts', 'src/voice-agents/schemas.ts'],
  ['floor-of-voice-agents', 'src/voice-agents/agents/create.ts', 'src/simtest/schemas.ts'],
  ['floor-of-calls', 'src/calls/rpc.ts', 'durable-objects/call/call-object.ts'],
  ['floor-of-campaigns', 'src/campaigns/rpc.ts', 'durable-objects/campaign/campaign-object.ts'],
  ['floor-of-statistics', 'src/statistics/calls/read.ts', 'src/mcp/server.ts'],
  ['floor-of-mcp', 'src/mcp/server.ts', 'src/app.ts'],
  ['stores-are-private', 'src/campaigns/source/read.ts', 'src/contacts/contacts/store.ts'],
  ['stores-are-private', 'src/calls/records/read.ts', 'src/voice-agents/agents/agent-store.ts'],
  ['routes-are-composed', 'src/campaigns/create.ts', 'src/campaigns/routes.ts'],
  ['runs-know-no-trigger', 'src/automation-workflows/runs/store.ts', 'src/automation-workflows/triggers/configs.ts'],
  ['product-knows-no-tool', 'src/contacts/contacts/read.ts', 'test/support/people.ts'],
];

test.each(violations)('%s: %s does not import %s', async (rule, from, to) => {
  expect(await brokenRules(from, to)).toContain(rule);
});

test('every rule has something above that breaks it', () => {
  const tried = new Set([...violations.map(([rule]) => rule), 'no-cycle']);
  expect(configuration.forbidden.map(({ name }) => name!).filter((name) => !tried.has(name))).toEqual([]);
});

describe('an import counts', () => {
  const [from, to] = ['src/contacts/contacts/read.ts', 'src/campaigns/rows/rows.ts'];
  test.each([
    ['of a type', (path: string) => `import type { Thing } from '${path}';\nexport type Other = Thing;`],
    ['of a type beside values', (path: string) => `import { type Thing } from '${path}';\nexport type Other = Thing;`],
    ['that is exported again', (path: string) => `export { thing } from '${path}';`],
    ['that is made when it is needed', (path: string) => `export const load = () => import('${path}');`],
  ])('%s', async (_kind, importing) => {
    expect(await brokenRules(from, to, importing)).toContain('floor-of-contacts');
  });
});

test('files that import each other are a cycle, by types alone, too', async () => {
  mkdirSync(join(directory, 'src/library'), { recursive: true });
  writeFileSync(join(directory, 'src/library/one.ts'), "import type { Two } from './two.ts';\nexport type One = Two;\n");
  writeFileSync(join(directory, 'src/library/two.ts'), "import type { One } from './one.ts';\nexport type Two = One;\n");
  const { options, forbidden } = configuration;
  const { output } = await cruise(['src'], { ...options, baseDir: directory, validate: true, ruleSet: { forbidden } });
  expect((output as ICruiseResult).summary.violations.map(({ rule }) => rule.name)).toContain('no-cycle');
});

test.each([
  ['src/campaigns/create.ts', 'src/contacts/contacts/create.ts'],
  ['src/cron/tick.ts', 'src/campaigns/store.ts'],
  ['src/app.ts', 'src/contacts/contacts/routes.ts'],
  ['src/contacts/contacts/create.ts', 'src/contacts/contacts/store.ts'],
  ['src/automation-workflows/triggers/fire.ts', 'src/automation-workflows/runs/start.ts'],
  ['durable-objects/call/call-object.ts', 'src/calls/rpc.ts'],
])('%s may import %s', async (from, to) => {
  expect(await brokenRules(from, to)).toEqual([]);
});
