import { describe, expect, test } from 'vitest';
import { parseOrganizationCommand, takeEnvironment } from '../../scripts/local/organization-command.ts';
import { watchShardMove, type ShardMoveState, type ShardMoveTarget } from '../../scripts/local/watch-shard-move.ts';

const columns = `id, name, plan_max_integrations, plan_max_contacts, plan_concurrent_calls, plan_limits,
  (SELECT kept_in FROM vector_placement WHERE organization_id = organization.id) AS vectors_in, statistics_rebuild`;

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

test('statistics are counted again when the row of the organization says so', () => {
  const { organizationId, isRemote, sql } = parseOrganizationCommand(['rebuild-statistics', '7', '--remote']);
  expect({ organizationId, isRemote }).toEqual({ organizationId: 7, isRemote: true });
  expect(sql).toBe(`UPDATE organization SET statistics_rebuild = '{}' WHERE id = 7 AND deleting_at IS NULL RETURNING ${columns}`);
  expect(() => parseOrganizationCommand(['rebuild-statistics', '7', 'now'])).toThrow(/Usage/);
  expect(() => parseOrganizationCommand(['rebuild-statistics', '7; DROP TABLE contact'])).toThrow(/organization id/);
});

test('a move of vectors is asked for in one statement, and looked at in another', () => {
  const { organizationId, isRemote, sql, move } = parseOrganizationCommand(['move-vectors', '7', 'vectorize', '--remote']);
  expect({ organizationId, isRemote, target: move?.target }).toEqual({ organizationId: 7, isRemote: true, target: 'vectorize' });
  expect(sql).toMatch(/^INSERT INTO vector_placement .*'vectorize'.* FROM organization WHERE id = 7\s/);
  expect(move?.sql).toMatch(/^SELECT .* FROM vector_placement WHERE organization_id = 7$/);
});

test('a move between shards is asked for in one statement, and looked at in another', () => {
  const { organizationId, isRemote, sql, shardMove } = parseOrganizationCommand(['move', '7', '--to', '2', '--remote']);
  expect({ organizationId, isRemote, target: shardMove?.target }).toEqual({ organizationId: 7, isRemote: true, target: 2 });
  expect(sql).toMatch(/^INSERT INTO organization_move .*\n.* FROM organization WHERE id = 7 AND shard < 2 AND deleting_at IS NULL\n/);
  expect(shardMove?.sql).toMatch(/ WHERE o.id = 7$/);
  const stop = parseOrganizationCommand(['move', '7', '--stop']);
  expect(stop.shardMove?.target).toBe('stop');
  expect(stop.sql).toMatch(/^UPDATE organization_move .*\n.*\n\s+WHERE subject_id = 7 AND /);
});

describe('the watch over a move between shards', () => {
  const before = {
    shard: 0,
    deleting_at: null,
    phase: null,
    from_shard: null,
    to_shard: null,
    copied: null,
    changes_left: null,
    note: null,
  };
  const on = { ...before, from_shard: 0, to_shard: 1, copied: 0, changes_left: 0 };
  const watch = async (target: ShardMoveTarget, states: ShardMoveState[]) => {
    const lines: string[] = [];
    const left = [...states];
    const end = await watchShardMove(
      async () => left.shift()!,
      target,
      (line) => lines.push(line),
      0,
    );
    return { lines, end };
  };

  test('says each thing once, and how it ended', async () => {
    const { lines, end } = await watch(1, [
      { ...on, phase: 'asked' },
      { ...on, phase: 'asked' },
      { ...on, phase: 'copying', copied: 500 },
      { ...on, phase: 'copying', copied: 900, changes_left: 3 },
      { ...on, phase: 'fenced', copied: 903 },
      { ...on, phase: 'left', shard: 1 },
      { ...on, phase: 'left', shard: 1 },
      { ...on, phase: 'clearing', shard: 1 },
      { ...on, phase: 'moved', shard: 1 },
    ]);
    expect(lines).toEqual([
      expect.stringMatching(/^Waiting for the service/),
      '500 rows copied',
      '900 rows copied, 3 have changed since',
      expect.stringContaining('503'),
      expect.stringContaining('works on shard 1. In 15 minutes'),
      'Its rows are being deleted from shard 0.',
    ]);
    expect(end).toBe('The organization is on shard 1, and nothing of it is left on shard 0.');
  });

  test.each([
    ['a lower shard', 0, { ...before, shard: 1 }, 'only to a shard of a higher number'],
    ['an organization that is being deleted', 1, { ...before, deleting_at: 1 }, 'is being deleted'],
    ['a move to another shard', 2, { ...on, phase: 'copying' as const }, 'is moving to shard 1'],
    [
      'a refusal',
      7,
      { ...on, to_shard: 7, phase: 'refused' as const, note: 'There is no shard 7' },
      'still on shard 0. There is no shard 7.',
    ],
    ['a stop that is too late', 'stop' as const, { ...on, phase: 'left' as const, shard: 1 }, 'is on shard 1 already'],
    ['a stop that is too early', 'stop' as const, { ...on, phase: 'asked' as const }, 'again in some seconds'],
  ])('tells of %s', async (_, target, state, words) => {
    await expect(watch(target, [state])).rejects.toThrow(words);
  });

  test('ends at once where there is nothing to do', async () => {
    expect((await watch(1, [{ ...before, shard: 1 }])).end).toBe('The organization is on shard 1.');
    expect((await watch('stop', [before])).end).toBe('The organization is on shard 0, and is not moving.');
    const stopped = await watch('stop', [
      { ...on, phase: 'cancelling' },
      { ...on, phase: 'cancelled' },
    ]);
    expect(stopped).toEqual({
      lines: ['The organization stays on shard 0. What was copied is deleted from shard 1.'],
      end: 'The organization is on shard 0, and is not moving.',
    });
  });
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
  [['move', '7'], 'Usage:'],
  [['move', '7', '1'], 'Usage:'],
  [['move', '7', '--to', '1', '2'], 'Usage:'],
  [['move', '7', '--stop', '1'], 'Usage:'],
  [['move', '7', '--to'], 'The shard is ""'],
  [['move', '7', '--to', '1; DROP TABLE organization'], 'The shard is "1; DROP TABLE organization"'],
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
