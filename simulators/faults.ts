import { z } from 'zod';
import { matchesPath } from './path-pattern.ts';

const effects = ['status', 'body', 'headers', 'delay_ms', 'drop_response'] as const;

/**
 * A fault on demand, body of `POST /__sim/faults`. It hits the next `times` requests to `provider` that match.
 * - `match.path`: the path as the vendor knows it (without the mount), `*` for any characters.
 * - `status`, `body`: answered in the vendor's place, which then never sees the request; a string body is sent as it is, anything else as JSON.
 * - `headers`: set on the answer, whoever gives it.
 * - `delay_ms`: waited before the request is handled.
 * - `drop_response`: the connection is cut instead of answering; the vendor has done the work unless `status` or `body` took its place.
 */
export const FaultSchema = z
  .strictObject({
    provider: z.string(),
    match: z.strictObject({ method: z.string().optional(), path: z.string().optional() }).default({}),
    times: z.int().min(1).default(1),
    status: z.int().min(200).max(599).optional(),
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    delay_ms: z.int().min(0).max(600_000).optional(),
    drop_response: z.boolean().optional(),
  })
  .refine((fault) => effects.some((effect) => fault[effect] !== undefined), {
    message: `a fault needs at least one of ${effects.join(', ')}`,
  });

export type Fault = z.output<typeof FaultSchema>;

/** The planned faults. The oldest that matches a request is used first. */
export class FaultPlan {
  #pending: { fault: Fault; remaining: number }[] = [];

  add(fault: Fault): void {
    this.#pending.push({ fault, remaining: fault.times });
  }

  /** The fault that hits this request, counted as used. `path` is the vendor's own. */
  take(provider: string, method: string, path: string): Fault | undefined {
    const hit = this.#pending.find(({ fault }) => isHit(fault, provider, method, path));
    if (hit === undefined) return undefined;
    hit.remaining -= 1;
    if (hit.remaining === 0) this.#pending = this.#pending.filter((pending) => pending !== hit);
    return hit.fault;
  }

  /** Forgets the faults of `provider`, all of them without it. */
  forget(provider?: string): void {
    this.#pending = provider === undefined ? [] : this.#pending.filter(({ fault }) => fault.provider !== provider);
  }
}

function isHit(fault: Fault, provider: string, method: string, path: string): boolean {
  if (fault.provider !== provider) return false;
  if (fault.match.method !== undefined && fault.match.method.toUpperCase() !== method) return false;
  return fault.match.path === undefined || matchesPath(fault.match.path, path);
}

/** The answer in the vendor's place, or undefined when the vendor answers itself. */
export function faultAnswer(fault: Fault): Response | undefined {
  if (fault.status === undefined && fault.body === undefined) return undefined;
  const status = fault.status ?? 200;
  if (fault.body === undefined || status === 204 || status === 205 || status === 304) return new Response(null, { status });
  return typeof fault.body === 'string' ? new Response(fault.body, { status }) : Response.json(fault.body, { status });
}
