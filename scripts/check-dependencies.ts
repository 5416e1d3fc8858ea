import { cruise, type ICruiseResult } from 'dependency-cruiser';
import configuration from '../dependency-rules.ts';
import { LocalError } from './local/settings.ts';
import { runProgram } from './local/run-program.ts';

/** Without its parser of TypeScript the cruiser finds no file, and nothing that breaks a rule. */
const minModules = 500;

// Says which import breaks which rule, and what to do.
await runProgram(async () => {
  const { options, forbidden } = configuration;
  const { output } = await cruise(['src', 'durable-objects'], { ...options, validate: true, ruleSet: { forbidden } });
  const { totalCruised, violations } = (output as ICruiseResult).summary;
  if (totalCruised < minModules) throw new LocalError(`Only ${totalCruised} modules were found; run npm ci, so that @swc/core is there`);
  for (const { rule, from, to, cycle } of violations) {
    const way = cycle ? [from, ...cycle.map(({ name }) => name)].join(' → ') : `${from} → ${to}`;
    console.log(`${rule.name}: ${way}\n  ${forbidden.find(({ name }) => name === rule.name)?.comment ?? ''}`);
  }
  if (violations.length > 0) throw new LocalError(`${violations.length} imports break a rule of dependency-rules.ts`);
  console.log(`${totalCruised} modules break no rule of dependency-rules.ts.`);
});
