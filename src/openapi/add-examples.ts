import { accountExamples } from '../accounts/examples.ts';
import { journeyExamples } from '../automation-workflows/examples.ts';
import { campaignExamples } from '../campaigns/examples.ts';
import { contactExamples } from '../contacts/examples.ts';
import { eventExamples } from '../events/examples.ts';
import { integrationExamples } from '../integrations/examples.ts';
import { knowledgeBaseExamples } from '../knowledge-base/documents/examples.ts';
import { contactPolicyExamples } from '../contact-policy/examples.ts';
import { languageModelExamples } from '../language-models/examples.ts';
import { messagingExamples } from '../messaging/examples.ts';
import { simtestExamples } from '../simtest/examples.ts';
import { callExamples } from '../calls/examples.ts';
import { operationsExamples } from '../operations/examples.ts';
import { statisticsExamples } from '../statistics/examples.ts';
import { telephonyConfigExamples } from '../telephony-configs/examples.ts';
import { voiceAgentExamples } from '../voice-agents/examples.ts';
import { webhookEndpointExamples } from '../webhook-endpoints/examples.ts';
import answers from './recorded-answers.json' with { type: 'json' };
import type { ExamplesByOperation, NamedExample } from '../http/operation-examples.ts';
import { listOperations, successResponseOf, type Document, type Example, type Operation } from './document-types.ts';

const examples: ExamplesByOperation = {
  ...accountExamples,
  ...contactExamples,
  ...contactPolicyExamples,
  ...eventExamples,
  ...journeyExamples,
  ...languageModelExamples,
  ...telephonyConfigExamples,
  ...voiceAgentExamples,
  ...callExamples,
  ...statisticsExamples,
  ...operationsExamples,
  ...campaignExamples,
  ...knowledgeBaseExamples,
  ...simtestExamples,
  ...integrationExamples,
  ...messagingExamples,
  ...webhookEndpointExamples,
};

/** Adds each area's examples to the document. Throws an Error for an example of an operation that does not exist. */
export function addExamples(document: Document): void {
  const operations = new Map(listOperations(document).map((operation) => [operation.operationId, operation]));
  for (const [id, given] of Object.entries(examples)) {
    const operation = operations.get(id);
    if (!operation) throw new Error(`There are examples of ${id}, which is no operation`);
    addTo(
      operation,
      (Array.isArray(given) ? given : [{ ...given, name: '' }]).map((one) => withRecordedAnswer(id, one)),
    );
  }
}

const recordedAnswers: Record<string, Record<string, unknown>> = answers;

/** The example with its own answer, else with the answer that `npm run record-examples` recorded. */
const withRecordedAnswer = (id: string, example: NamedExample): NamedExample => ({
  answer: recordedAnswers[id]?.[example.name],
  ...example,
});

/** An example without a name is the only one of its operation. */
function addTo(operation: Operation, given: NamedExample[]): void {
  for (const place of ['path', 'query'] as const)
    for (const name of new Set(given.flatMap((one) => Object.keys(one[place] ?? {})))) {
      const parameter = operation.parameters?.find((one) => one.in === place && one.name === name);
      if (!parameter) throw new Error(`An example of ${operation.operationId} has "${name}" in its ${place}, which is no parameter`);
      Object.assign(
        parameter,
        toExampleFields(given, (one) => one[place]?.[name]),
      );
    }
  const [requestMedia] = Object.values(operation.requestBody?.content ?? {});
  const body = toExampleFields(given, (one) => one.body);
  if (body && !requestMedia) throw new Error(`An example of ${operation.operationId} has a body, which the operation does not take`);
  Object.assign(requestMedia ?? {}, body);
  const [answerMedia] = Object.values(successResponseOf(operation)?.content ?? {});
  Object.assign(
    answerMedia ?? {},
    toExampleFields(given, (one) => one.answer),
  );
}

/** `example` for an operation with one example, `examples` by name for an operation with several; undefined when none has a value here. */
function toExampleFields(given: NamedExample[], read: (example: NamedExample) => unknown) {
  const present = given.filter((one) => read(one) !== undefined);
  if (present.length === 0) return undefined;
  if (given.length === 1 && given[0]!.name === '') return { example: read(given[0]!) };
  const named = present.map((one): [string, Example] => [
    one.name,
    { ...(one.summary === undefined ? {} : { summary: one.summary }), value: read(one) },
  ]);
  return { examples: Object.fromEntries(named) };
}
