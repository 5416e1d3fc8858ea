import type { z } from 'zod';
import { systemRuntime, type Runtime } from '../http/runtime.ts';
import type { App } from '../../library/connectable-apps.ts';
import type { AppResponse, AppFailure, AppRequest, Broker } from '../broker/broker.ts';
import { appFailure } from '../broker/app-failure.ts';
import { withRetry } from '../broker/retry.ts';
import { failureFromResponse } from './failures.ts';

/** A connection of an organization, with the dependencies of its requests. */
export interface AppConnection {
  broker: Pick<Broker, 'request'>;
  /** The broker's id of the connection. */
  id: string;
  runtime?: Pick<Runtime, 'sleep' | 'random' | 'now'> | undefined;
  /** The longest wait, at a provider's demand, before a request is tried again; default 5,000. */
  maxWaitMs?: number | undefined;
}

export interface AppCall extends AppRequest {
  /** Whether a second request does no harm; then there are up to three tries. Default: true for a GET, else false. */
  isRepeatable?: boolean;
}

/** Sends a request to a provider and parses its answer by `shape`. Never throws. */
export type AppClient = <Data>(call: AppCall, shape: z.ZodType<Data>) => Promise<{ data: Data } | AppFailure>;

export function createAppClient(app: App, { broker, id, runtime = systemRuntime, maxWaitMs }: AppConnection): AppClient {
  return async (call, shape) => {
    const { isRepeatable = call.method === 'GET', ...request } = call;
    const attempt = async () => {
      const answer = await broker.request(id, request);
      return 'failure' in answer ? answer : parseAppResponse(app, answer, shape, runtime.now());
    };
    if (isRepeatable) return withRetry({ runtime, maxWaitMs }, attempt);
    const outcome = await attempt();
    return 'failure' in outcome && outcome.failure === 'unavailable' ? { ...outcome, outcomeUnknown: true } : outcome;
  };
}

function parseAppResponse<Data>(app: App, answer: AppResponse, shape: z.ZodType<Data>, now: number): { data: Data } | AppFailure {
  const failure = failureFromResponse(app, answer, now);
  if (failure) return failure;
  const parsed = shape.safeParse(answer.data);
  return parsed.success
    ? { data: parsed.data }
    : appFailure('unavailable', `${app}: the provider answered something that cannot be understood`);
}
