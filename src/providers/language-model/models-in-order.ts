import type {
  Completion,
  CompletionFailure,
  CompletionRequest,
  ConversationDelta,
  ConversationRequest,
  FailureType,
  LanguageModel,
  ModelFallback,
} from './contract.ts';

/** A model of an order. */
export interface ModelInOrder {
  id: number;
  /** For people. */
  name: string;
  /** The provider's name. */
  model: string;
  /** How long a person waits for its first token before the next model is asked. */
  firstTokenSeconds: number;
  languageModel: LanguageModel;
}

/** A model that has failed is asked after the others for this time. */
const restMs = 60_000;
const defaultTimeoutSeconds = 60;
/** What says something about the model itself, and not about the request. */
const troubles = new Set<FailureType>([
  'not_configured',
  'invalid_credentials',
  'insufficient_quota',
  'model_not_found',
  'address_not_allowed',
  'rate_limited',
  'provider_failed',
]);
/** Judgements about the prompt, which no other model is asked to overrule. */
const judgements = new Set<FailureType>(['refused', 'content_filter']);

type Failed = { asked: ModelInOrder; failure: CompletionFailure };

/**
 * Models that stand in for each other: the next one is asked when one fails before its first word, or is too slow with its first token.
 * After the first word the failure is the caller's, so that nothing is said twice. A request's `model` names the one that is asked first, by
 * its name or the provider's. `models` has at least one; `now` in epoch ms.
 */
export function modelsInOrder(models: readonly ModelInOrder[], now: () => number): LanguageModel {
  const failedAt = new Map<ModelInOrder, number>();
  let isUnknownNameReported = false;

  function orderFor(wanted: string | undefined): ModelInOrder[] {
    const isWanted = isCalled(wanted);
    const ordered = [...models.filter(isWanted), ...models.filter((one) => !isWanted(one))];
    const isResting = (one: ModelInOrder) => now() - (failedAt.get(one) ?? -Infinity) < restMs;
    return [...ordered.filter((one) => !isResting(one)), ...ordered.filter(isResting)];
  }

  function note(asked: ModelInOrder, failure: CompletionFailure): Failed {
    if (troubles.has(failure.failure)) failedAt.set(asked, now());
    return { asked, failure };
  }

  async function complete(request: CompletionRequest): Promise<Completion | CompletionFailure> {
    const deadline = now() + Math.min(request.timeout_seconds ?? defaultTimeoutSeconds, defaultTimeoutSeconds) * 1000;
    const order = orderFor(request.model);
    const failed: Failed[] = [];
    for (const [index, asked] of order.entries()) {
      // The time is shared, so that all of them together take no longer than one.
      const seconds = Math.max(0.01, Math.round((deadline - now()) / 10 / (order.length - index)) / 100);
      const tries = index < order.length - 1 ? { max_attempts: 1 } : {};
      const answer = await asked.languageModel
        .complete({ ...request, ...tries, model: asked.model, timeout_seconds: seconds })
        .catch(toAdapterFailure);
      if (!('failure' in answer)) {
        failedAt.delete(asked);
        return { ...answer, language_model_id: asked.id, ...(failed.length > 0 && { fallbacks: failed.map(toFallback) }) };
      }
      failed.push(note(asked, answer));
      if (judgements.has(answer.failure)) break;
    }
    return toCommonFailure(failed);
  }

  async function* converse(request: ConversationRequest, signal: AbortSignal): AsyncGenerator<ConversationDelta> {
    const order = orderFor(request.model);
    const failed: Failed[] = [];
    if (request.model !== undefined && !isUnknownNameReported && !models.some(isCalled(request.model))) {
      isUnknownNameReported = true;
      yield { type: 'fallback', ...unknownName(request.model) };
    }
    for (const [index, asked] of order.entries()) {
      const isLast = index === order.length - 1;
      const haste = isLast ? {} : { max_attempts: 1, first_token_seconds: asked.firstTokenSeconds };
      let hasSpoken = false;
      let failure: CompletionFailure | null = null;
      for await (const delta of caught(asked.languageModel.converse({ ...request, ...haste, model: asked.model }, signal))) {
        if (delta.type === 'failure') {
          failure = delta;
          break;
        }
        if (delta.type === 'end') failedAt.delete(asked);
        hasSpoken ||= delta.type === 'text';
        yield delta.type === 'end' ? { ...delta, language_model_id: asked.id } : delta;
      }
      if (failure === null || signal.aborted) return;
      failed.push(note(asked, failure));
      if (hasSpoken || judgements.has(failure.failure)) return yield { ...failure, type: 'failure' };
      if (!isLast) yield { type: 'fallback', ...toFallback(failed.at(-1)!) };
    }
    yield { type: 'failure', ...toCommonFailure(failed) };
  }

  return { complete, converse };
}

const isCalled =
  (wanted: string | undefined) =>
  ({ name, model }: ModelInOrder): boolean =>
    name === wanted || model === wanted;

const unknownName = (model: string): ModelFallback => ({
  model,
  failure: 'model_not_found',
  message: 'None of the language models of the organization is called so, so they are asked in their order',
});

const toFallback = ({ asked, failure: { failure, message } }: Failed): ModelFallback => ({ model: asked.name, failure, message });

/** The failure of all models: that of the last one, or a transient one, since then the same request may succeed later. */
function toCommonFailure(failed: readonly Failed[]): CompletionFailure {
  const { failure } = failed.find((one) => one.failure.retryable) ?? failed.at(-1)!;
  if (failed.length === 1) return failure;
  return { ...failure, message: failed.map(({ asked, failure: { message } }) => `${asked.name}: ${message}`).join('; ') };
}

/** A defect of an adapter counts as a failure of its model. */
const toAdapterFailure = (error: unknown): CompletionFailure => ({
  failure: 'provider_failed',
  message: `The adapter failed: ${(error as Error).name}`,
  retryable: true,
});

async function* caught(deltas: AsyncIterable<ConversationDelta>): AsyncGenerator<ConversationDelta> {
  try {
    yield* deltas;
  } catch (error) {
    yield { type: 'failure', ...toAdapterFailure(error) };
  }
}
