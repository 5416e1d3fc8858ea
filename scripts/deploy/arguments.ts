import { parseArgs } from 'node:util';
import { LocalError } from '../local/settings.ts';

export const usage = `Usage: npm run deploy [-- options]

  --env NAME            a deployment beside others, such as staging; its resources are named after it (default: production, as wrangler.toml names them)
  --domain HOST         serve it there, a name in a zone of your account, instead of *.workers.dev; kept for later deployments
  --organization NAME   of the first organization (default: Main), made at the first deployment
  --email ADDRESS       of its first user (default: admin@example.com)
  --dry-run             print each step; no account and no network is needed
  --rollback [VERSION]  back to the version before, or to the one named
  --help                this text

Cloudflare is asked as whom "npx wrangler login" logged in, or by CLOUDFLARE_API_TOKEN. CLOUDFLARE_ACCOUNT_ID chooses among several accounts.`;

export interface DeployOptions {
  environment: string;
  domain: string | undefined;
  organization: string;
  email: string;
  isDryRun: boolean;
  /** Undefined: a deployment. Empty: to the version before. */
  rollbackTo: string | undefined;
}

/** Reads the command line; a wrong one is a `LocalError` that says what would do. */
export function parseDeployArguments(parameters: string[]): DeployOptions | 'help' {
  const { values, positionals } = read(parameters);
  if (values.help) return 'help';
  if (positionals.length > (values.rollback ? 1 : 0)) throw new LocalError(`"${positionals.at(-1)}" is not understood.\n\n${usage}`);
  const environment = values.env ?? 'production';
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(environment) || environment.endsWith('-'))
    throw new LocalError(
      `--env is "${environment}"; give up to 20 small letters, digits and hyphens, beginning with a letter, such as staging.`,
    );
  const domain = values.domain?.toLowerCase();
  if (domain !== undefined && !/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain))
    throw new LocalError(`--domain is "${values.domain}"; give a host name alone, such as calls.example.com.`);
  if (values.email !== undefined && !/^[^\s@'"]+@[^\s@'"]+\.[^\s@'"]+$/.test(values.email))
    throw new LocalError(`--email is "${values.email}"; give an address such as ada@example.com.`);
  return {
    environment,
    domain,
    organization: values.organization?.trim() || 'Main',
    email: values.email?.toLowerCase() ?? 'admin@example.com',
    isDryRun: values['dry-run'] ?? false,
    rollbackTo: values.rollback ? (positionals[0] ?? '') : undefined,
  };
}

function read(parameters: string[]) {
  try {
    return parseArgs({
      args: parameters,
      allowPositionals: true,
      options: {
        env: { type: 'string' },
        domain: { type: 'string' },
        organization: { type: 'string' },
        email: { type: 'string' },
        'dry-run': { type: 'boolean' },
        rollback: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new LocalError(`${(error as Error).message}\n\n${usage}`);
  }
}
