import { expect, test } from 'vitest';
import { parseOrganizationCommand, takeEnvironment } from '../../scripts/local/organization-command.ts';

const columns = `id, name, plan_max_integrations, plan_max_contacts, plan_concurrent_calls, plan_limits,
  (SELECT kept_in FROM vector_placement WHERE organization_id = organization.id) AS vectors_in`;

test('a limit of a plan is set for one organization', () => {
  expect(parseOrganizationCommand(['set-plan', '7', 'concurrent_call_limit', '250'])).toEqual({
    organizationId: 7,
    isRemote: false,
    sql: `UPDATE organization SET plan_concurrent_calls = 250 WHERE id = 7 RETURNING ${columns}`,
  });
});

test('limits without a column of their own are kept by name', () => {
  const sqlOf = (value: string) => parseOrganizationCommand(['set-plan', '7', 'max_triggers', value]).sql;
  expect(sqlOf('30')).toBe(
    `UPDATE organization SET plan_limits = json_set(coalesce(plan_limits, '{}'), '$.max_triggers', 30) WHERE id = 7 RETURNING ${columns}`,
  );
  expect(sqlOf('default')).toBe(
    `UPDATE organization SET plan_limits = json_remove(coalesce(plan_limits, '{}'), '$.max_triggers') WHERE id = 7 RETURNING ${columns}`,
  );
});

test('"default" takes the override away, and --remote may stand anywhere', () => {
  const expected = {
    organizationId: 7,
    isRemote: true,
    sql: `UPDATE organization SET plan_max_contacts = NULL WHERE id = 7 RETURNING ${columns}`,
  };
  expect(parseOrganizationCommand(['--remote', 'set-plan', '7', 'max_contacts', 'default'])).toEqual(expected);
  expect(parseOrganizationCommand(['set-plan', '7', 'max_contacts', 'default', '--remote'])).toEqual(expected);
});

test('a move of vectors is asked for in one statement, and looked at in another', () => {
  const { organizationId, isRemote, sql, move } = parseOrganizationCommand(['move-vectors', '7', 'vectorize', '--remote']);
  expect({ organizationId, isRemote, target: move?.target }).toEqual({ organizationId: 7, isRemote: true, target: 'vectorize' });
  expect(sql).toMatch(/^INSERT INTO vector_placement .*'vectorize'.* FROM organization WHERE id = 7\s/);
  expect(move?.sql).toMatch(/^SELECT .* FROM vector_placement WHERE organization_id = 7$/);
});

test('of several deployments, --env names the one that is meant', () => {
  const parameters = ['show', '--env', 'staging', '7', '--remote'];
  expect(takeEnvironment(parameters)).toEqual({ environment: 'staging', parameters: ['show', '7', '--remote'] });
  expect(takeEnvironment(['show', '7'])).toEqual({ environment: 'production', parameters: ['show', '7'] });
  expect(() => takeEnvironment(['show', '7', '--env', '../x'])).toThrow('--env is "../x"');
});

test('an organization is shown', () => {
  expect(parseOrganizationCommand(['show', '7']).sql).toBe(`SELECT ${columns} FROM organization WHERE id = 7`);
});

test.each([
  [[], 'Usage:'],
  [['delete', '7'], 'Usage:'],
  [['show', '7', 'extra'], 'Usage:'],
  [['set-plan', '7', 'max_contacts'], 'Usage:'],
  [['move-vectors', '7'], 'Usage:'],
  [['move-vectors', '7', 'elsewhere'], '"elsewhere" is no index of vectors'],
  [['move-vectors', '7; DROP TABLE organization', 'vectorize'], 'The organization id is'],
  [['show', '7; DROP TABLE organization'], 'The organization id is "7; DROP TABLE organization"'],
  [['show', '0'], 'The organization id is "0"'],
  [['set-plan', '7', 'name', '1'], '"name" is no limit of a plan'],
  [['set-plan', '7', 'constructor', '1'], '"constructor" is no limit of a plan'],
  [['set-plan', '7', 'max_contacts', '-1'], 'max_contacts is "-1"'],
  [['set-plan', '7', 'max_contacts', '1e3'], 'max_contacts is "1e3"'],
  [['set-plan', '7', 'max_contacts', '9007199254740993'], 'max_contacts is "9007199254740993"'],
])('%j is refused in words', (parameters, words) => {
  expect(() => parseOrganizationCommand(parameters)).toThrow(words);
});
