import { open } from '../library/security/encryption.ts';
import { systemRuntime, type Runtime } from '../providers/http/runtime.ts';
import type { LanguageModel, LanguageModelSettings } from '../providers/language-model/contract.ts';
import { createEndpointModel, createLanguageModel } from '../providers/language-model/language-model.ts';
import { modelsInOrder } from '../providers/language-model/models-in-order.ts';
import { toEndpoint, type EndpointSettings } from './endpoint.ts';
import type { PinnedModel } from './pinned-models.ts';
import type { ModelPurpose } from './purposes.ts';

type PurposeModelSettings = LanguageModelSettings & EndpointSettings;

/** The organization's models for a purpose, in their order. */
const modelsFor = (models: readonly PinnedModel[], purpose: ModelPurpose): PinnedModel[] =>
  models
    .filter(({ purposes }) => purposes[purpose] !== undefined)
    .toSorted((one, other) => one.purposes[purpose]! - other.purposes[purpose]! || one.id - other.id);

/**
 * The language model for a purpose: the organization's models in their order, or the service's own where there is none. Sealed keys are opened
 * when they are used.
 */
export function createPurposeModel(
  settings: PurposeModelSettings,
  organizationId: number,
  models: readonly PinnedModel[],
  purpose: ModelPurpose,
  runtime: Runtime = systemRuntime,
): LanguageModel {
  const own = modelsFor(models, purpose);
  if (own.length === 0) return createLanguageModel(settings, runtime);
  const inOrder = own.map((one) => ({
    id: one.id,
    name: one.name,
    model: one.model,
    firstTokenSeconds: one.first_token_seconds,
    languageModel: createEndpointModel(() => openEndpoint(settings, organizationId, one), runtime),
  }));
  return modelsInOrder(inOrder, runtime.now);
}

/** The model of a conversation: it talks by the models for talks, and extracts by those for extraction. */
export function createConversationModel(
  settings: PurposeModelSettings,
  organizationId: number,
  models: readonly PinnedModel[],
  runtime: Runtime = systemRuntime,
): LanguageModel {
  const talk = createPurposeModel(settings, organizationId, models, 'talk', runtime);
  const extraction = createPurposeModel(settings, organizationId, models, 'extraction', runtime);
  // The model that an agent names may be one of the organization's, which the service does not have.
  const isNameUnknown = modelsFor(models, 'talk').length > 0 && modelsFor(models, 'extraction').length === 0;
  return {
    complete: (request) => extraction.complete(isNameUnknown ? { ...request, model: undefined } : request),
    converse: (request, signal) => talk.converse(request, signal),
  };
}

async function openEndpoint(settings: EndpointSettings, organizationId: number, pinned: PinnedModel) {
  const { id, provider, base_url: baseUrl, model, api_key: sealed } = pinned;
  const of = `of /language-models/${id}`;
  const names = { key: `the api_key ${of}`, address: `the base_url ${of}`, model: `the model ${of}` };
  return toEndpoint(settings, { provider, baseUrl, model }, await open(settings.ENCRYPTION_KEY, organizationId, sealed), names);
}
