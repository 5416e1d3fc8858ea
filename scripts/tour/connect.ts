import { requireCredentials } from '../local/credentials.ts';
import { LocalError } from '../local/settings.ts';
import type { LocalSettings } from '../local/settings.ts';
import { Terminal } from '../local/terminal.ts';
import { docsPath } from './docs-link.ts';
import type { ApiDocument } from './docs-link.ts';
import { Service } from './service.ts';
import { StepResultStore } from './step.ts';
import type { Tour } from './step.ts';

/** Finds the local service that is running. Throws a `LocalError` that says how to start it when there is none. */
export async function connect({ stateDirectory }: LocalSettings): Promise<Tour> {
  const { base_url: baseUrl, api_key: apiKey, simulators_url: simulatorsUrl } = requireCredentials(stateDirectory);
  const service = new Service(baseUrl, apiKey);
  await requireAnswer(service, 'service', `${baseUrl}/health`);
  await requireAnswer(service, 'simulators process', `${simulatorsUrl}/__sim/health`);
  const organization = await service.get<Tour['organization']>('/organizations/current');
  const document = await service.get<ApiDocument>('/openapi.json');
  const terminal = new Terminal();
  terminal.line(`The service at ${baseUrl} is running; the key belongs to "${organization.name}" (id ${organization.id}).`);
  return {
    service,
    baseUrl,
    apiKey,
    simulatorsUrl,
    organization,
    terminal,
    say: (line) => terminal.line(`   ${line}`),
    docsLink: (operation) => `${operation}  ${new URL(docsPath(document, operation) ?? '/docs/', baseUrl)}`,
    startedAt: Date.now(),
    stamp: Date.now().toString(36),
    notes: new StepResultStore(),
  };
}

async function requireAnswer(service: Service, name: string, url: string): Promise<void> {
  const answer = await service.call('GET', url).catch((error: unknown) => {
    if (error instanceof LocalError) return undefined;
    throw error;
  });
  if (answer?.status === 200) return;
  const how = answer === undefined ? 'does not answer' : `answers ${answer.status}`;
  throw new LocalError(
    `The ${name} at ${new URL(url).origin} ${how}. Run "npm start" in another terminal, with the same STATE_DIR, and try again.`,
  );
}
