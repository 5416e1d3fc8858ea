import type { z } from 'zod';
import { realOutside, type Outside } from '../outside.ts';
import type { App, AppAnswer, AppFailure, AppRequest, Broker } from '../broker/broker.ts';
import { fail } from '../broker/failing.ts';
import { withPatience } from '../broker/patience.ts';
import { failureOf } from './failures.ts';

/** A connection of an organization, and what its requests need of the world. */
export interface AppConnection {
  broker: Pick<Broker, 'request'>;
  /** The broker's id of it. */
  id: string;
  outside?: Pick<Outside, 'sleep' | 'random' | 'now'> | undefined;
  /** How long a provider may make a request wait before it is tried again; default 5,000. */
  longestWaitMs?: number | undefined;
}

export interface AppCall extends AppRequest {
  /** Whether doing it twice does no harm: it is then tried up to three times. A GET is; everything else has to say so. */
  isRepeatable?: boolean;
}

/** Asks a provider and reads its answer by `shape`. */
export type Ask = <Data>(call: AppCall, shape: z.ZodType<Data>) => Promise<{ data: Data } | AppFailure>;

export function asking(app: App, { broker, id, outside = realOutside, longestWaitMs }: AppConnection): Ask {
  return async (call, shape) => {
    const { isRepeatable = call.method === 'GET', ...request } = call;
    const attempt = async () => {
      const answer = await broker.request(id, request);
      return 'failure' in answer ? answer : read(app, answer, shape, outside.now());
    };
    if (isRepeatable) return withPatience({ outside, longestWaitMs }, attempt);
    const outcome = await attempt();
    return 'failure' in outcome && outcome.failure === 'unavailable' ? { ...outcome, outcomeUnknown: true } : outcome;
  };
}

function read<Data>(app: App, answer: AppAnswer, shape: z.ZodType<Data>, now: number): { data: Data } | AppFailure {
  const failure = failureOf(app, answer, now);
  if (failure) return failure;
  const parsed = shape.safeParse(answer.data);
  return parsed.success ? { data: parsed.data } : fail('unavailable', `${app}: the provider answered something that cannot be understood`);
}
