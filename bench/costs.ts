import { runProgram } from '../scripts/local/run-program.ts';
import { measureAccount } from './account/account.ts';
import { accountSection } from './account/section.ts';
import { compareAccounts } from './account/compare.ts';
import { readCountedAccount, writeCountedAccount } from './account/counted-account.ts';

await runProgram(async () => {
  const parameters = process.argv.slice(2);
  const isToWrite = parameters.includes('--write');
  const chosen = parameters.filter((parameter) => parameter !== '--write');
  const startedAt = performance.now();
  const progress = (text: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}`);
  const account = await measureAccount(progress, chosen);
  console.log(`\n${accountSection(account).join('\n')}\n`);
  const isPart = chosen.length > 0;
  const { rises, falls } = compareAccounts(readCountedAccount(), account, { isPart });
  for (const line of [...rises, ...falls]) console.log(line);
  if (isToWrite) console.log(`Written to ${writeCountedAccount(account, { isPart })}`);
  else if (rises.length > 0) process.exitCode = 1;
});
