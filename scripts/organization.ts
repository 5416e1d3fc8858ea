import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { showMoveProgress } from './local/move-progress.ts';
import { parseOrganizationCommand, takeEnvironment } from './local/organization-command.ts';
import { runProgram } from './local/run-program.ts';
import { LocalError, projectDirectory, readLocalSettings } from './local/settings.ts';
import { watchMove, type MoveState } from './local/watch-move.ts';
import { watchShardMove, type ShardMoveState } from './local/watch-shard-move.ts';
import { runWrangler } from './local/wrangler.ts';

await runProgram(async () => {
  const { environment, parameters } = takeEnvironment(process.argv.slice(2));
  const { organizationId, isRemote, sql, move, shardMove } = parseOrganizationCommand(parameters);
  const { stateDirectory } = readLocalSettings(process.env);
  if (!isRemote && !existsSync(stateDirectory))
    throw new LocalError(`There is no local service in ${stateDirectory} yet. Run "npm start" first.`);
  const configuration = join(projectDirectory, '.deploy', `${environment}.json`);
  if (isRemote && !existsSync(configuration))
    throw new LocalError(`There is no ${configuration}. Run "npm run deploy", with the same --env, which writes it.`);
  const database = isRemote ? ['--remote', '--config', configuration] : ['--local', '--persist-to', stateDirectory];
  const find = async (statement: string): Promise<Record<string, unknown> | undefined> => {
    const output = await runWrangler(['d1', 'execute', 'DB', ...database, '--json', '--command', statement], stateDirectory);
    const [answer] = JSON.parse(output) as { results: Record<string, unknown>[] }[];
    return answer?.results[0];
  };
  const rowOf = async (statement: string): Promise<Record<string, unknown>> => {
    const row = await find(statement);
    if (row !== undefined) return row;
    throw new LocalError(
      `There is no organization ${organizationId} in ${isRemote ? 'the deployed database' : `the database of ${stateDirectory}`}.`,
    );
  };
  if (shardMove) {
    await find(sql);
    const read = async () => (await rowOf(shardMove.sql)) as unknown as ShardMoveState;
    return console.log(await watchShardMove(read, shardMove.target, (line) => console.log(line)));
  }
  const row = await rowOf(sql);
  if (!move) return console.log(JSON.stringify(row, null, 2));
  const read = async () => (await rowOf(move.sql)) as unknown as MoveState;
  console.log(await watchMove(read, move.target, showMoveProgress()));
});
