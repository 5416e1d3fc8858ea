import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExampleRunner, type SentExample } from './examples/example-runner.ts';
import { requireCredentials } from './local/credentials.ts';
import { runProgram } from './local/run-program.ts';
import { LocalError, projectDirectory, readLocalSettings } from './local/settings.ts';

const answersPath = join(projectDirectory, 'src/openapi/recorded-answers.json');
/** Longer lists are cut to `shownRecords`. */
const wholeLists = 5;
const shownRecords = 2;

/** What goes on when its turn comes: the answer at the end of the story tells more. */
const toldAtEnd = new Set([
  'contacts.listEvents',
  'contacts.listCalls',
  'contacts.getTimeline',
  'events.list',
  'events.get',
  'triggers.listDeliveries',
  'journeyRuns.listMoves',
  'journeyRuns.getMove',
  'operations.listStuck',
  'agentRuns.get',
  'agentRuns.list',
  'calls.list',
  'calls.export',
  'statistics.calls',
  'statistics.journey',
  'statistics.knowledge',
  'statistics.usage',
  'campaigns.getProgress',
  'campaigns.listRows',
  'campaigns.getReport',
  'testSessions.get',
  'testSessions.getConversation',
  'loadTests.getStatistics',
  'integrations.list',
]);

/**
 * Sends the examples of openapi.json to a service that `npm start` has begun without state, and writes what it answers to where the document
 * takes its answers from. `npm run generate` then puts them into the document.
 */
await runProgram(async () => {
  const settings = readLocalSettings(process.env);
  const { base_url, api_key } = requireCredentials(settings.stateDirectory);
  const origin = new URL(base_url).origin;
  const runner = new ExampleRunner({ origin, key: api_key });
  await runner.run();
  if (runner.failures.length) throw new LocalError(`These examples do not work:\n${runner.failures.join('\n')}`);
  const answers: Record<string, Record<string, unknown>> = {};
  for (const sent of runner.sent) (answers[sent.operationId] ??= {})[sent.name] = shorten(await filled(sent));
  const text = JSON.stringify(answers, null, 2)
    .replaceAll(origin, 'http://127.0.0.1:8787')
    .replaceAll(`http://127.0.0.1:${settings.simulatorsPort}`, 'http://127.0.0.1:8788');
  await writeFile(answersPath, `${text}\n`);
  console.log(`Written: ${answersPath}, the answers to ${runner.sent.length} examples`);
});

async function filled({ operationId, url, init, answer }: SentExample): Promise<unknown> {
  if (!toldAtEnd.has(operationId)) return answer;
  const later = await fetch(url, init);
  if (!later.ok) return answer;
  return typeof answer === 'string' ? later.text() : later.json();
}

function shorten(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.slice(0, shownRecords).map(withoutReferences);
  if (typeof answer !== 'object' || answer === null) return answer;
  const cut = (value: unknown) => (Array.isArray(value) && value.length > wholeLists ? value.slice(0, shownRecords) : value);
  return withoutReferences(Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, cut(value)])));
}

/** JSON Schemas in answers refer to parts of themselves, which readers of the document would look for in the document. */
function withoutReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (typeof value !== 'object' || value === null) return value;
  return '$ref' in value ? {} : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutReferences(inner)]));
}
