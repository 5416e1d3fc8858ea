import type { DeploymentCredentials } from './first-organization.ts';
import type { DeploymentContext } from './deployment-context.ts';

/** The steps that a person does after a deployment. */
export function nextSteps({ address, files, plan, options }: DeploymentContext): string {
  const credentials = files.read<DeploymentCredentials>('credentials');
  const secrets = files.read<Record<string, string>>('secrets');
  const put = (name: string) => `npx wrangler secret put ${name} --config ${files.shown('')}`;
  const api = `${address}/api/v1`;
  return `
${plan.worker} runs.

  API      ${api}
  Docs     ${address}/docs
${credentials ? `  Key      in ${files.shown('credentials')}, with the password of ${credentials.email}\n` : ''}
Next:
${secrets ? `  - Put ENCRYPTION_KEY of ${files.shown('secrets')} into a safe, then delete that file. Without the key no stored secret can be read, not even from a backup.\n` : ''}  - A language model, for agents and llm nodes:    ${put('OPENAI_API_KEY')}
  - A connection broker, for tools:                ${put('COMPOSIO_API_KEY')}
  - A carrier: POST ${api}/organizations/telephony-configs; its callbacks come to ${address}, which must be the PUBLIC_URL
  - Country and time zone: PATCH ${api}/organizations/current
  - An upgrade: the same command again. ${options.domain ? '' : 'A domain of your own: --domain calls.example.com. '}Back again: npm run deploy -- ${options.environment === 'production' ? '' : `--env ${options.environment} `}--rollback
  - Cloudflare may take 15 minutes to start the cron trigger.`;
}
