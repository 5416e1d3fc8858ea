import { join } from 'node:path';
import { LocalError, projectDirectory } from '../local/settings.ts';
import { adviceFor } from './advice.ts';
import type { DeployOptions } from './arguments.ts';
import { Cloudflare } from './cloudflare.ts';
import { nextSteps } from './next-steps.ts';
import { planDeployment, readConfiguration, type Plan, type RawConfiguration } from './plan.ts';
import { deploymentSteps, rollbackSteps } from './steps.ts';
import { DeploymentFiles, type RunWrangler, type DeploymentContext } from './deployment-context.ts';

export interface DeploymentDependencies {
  wrangler: RunWrangler;
  /** Builds the Worker that `main` of the configuration names. */
  build: () => Promise<unknown>;
  environment: Record<string, string | undefined>;
  say: (line: string) => void;
  send?: typeof fetch;
  directory?: string;
  smokeTestTimeoutMs?: number;
}

/** Deploys, upgrades or rolls back, or prints the steps. A failed step is a `LocalError` that names the step and what to do. */
export async function deploy(options: DeployOptions, outside: DeploymentDependencies): Promise<void> {
  const files = new DeploymentFiles(outside.directory ?? join(projectDirectory, '.deploy'), options.environment);
  const domain = options.domain ?? files.read<RawConfiguration>('')?.routes?.[0]?.pattern;
  const plan = planDeployment(readConfiguration(), options.environment, domain);
  const steps = options.rollbackTo === undefined ? deploymentSteps : rollbackSteps;
  if (options.isDryRun) return steps.forEach((step, index) => outside.say(described(step.name, step.would(plan), index, steps.length)));

  const world = createDeploymentContext(options, outside, plan, files);
  for (const [index, step] of steps.entries()) {
    const startedAt = Date.now();
    outside.say(`[${index + 1}/${steps.length}] ${step.name} ...`);
    try {
      const outcome = await step.run(world);
      outside.say(`      ${outcome} (${((Date.now() - startedAt) / 1_000).toFixed(1)} s)`);
    } catch (error) {
      if (!(error instanceof LocalError)) throw error;
      throw new LocalError(`Step ${index + 1} of ${steps.length}, ${step.name}, failed.\n${error.message}\n${adviceFor(error)}`);
    }
  }
  if (options.rollbackTo === undefined) outside.say(nextSteps(world));
}

const described = (name: string, lines: string[], index: number, count: number) =>
  [`[${index + 1}/${count}] ${name}`, ...lines.map((line) => `      ${line}`)].join('\n');

function createDeploymentContext(
  options: DeployOptions,
  outside: DeploymentDependencies,
  plan: Plan,
  files: DeploymentFiles,
): DeploymentContext {
  const send = outside.send ?? fetch;
  return {
    options,
    plan,
    files,
    environment: outside.environment,
    // Wrangler is to work in the account that was chosen, once it is.
    wrangler: (parameters) => {
      const { account_id: account } = plan.configuration;
      return outside.wrangler(parameters, typeof account === 'string' ? { CLOUDFLARE_ACCOUNT_ID: account } : {});
    },
    build: outside.build,
    send,
    say: outside.say,
    smokeTestTimeoutMs: outside.smokeTestTimeoutMs ?? 180_000,
    cloudflare: new Cloudflare('', outside.environment, send),
    account: '',
    databaseIds: new Map(),
    address: '',
  };
}
