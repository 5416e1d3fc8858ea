import type { Context } from '../../../context.ts';
import { conflict, rateLimited } from '../../../library/errors.ts';

// The plan's runs a minute. This isolate counts exactly; the binding RUN_LIMITER, in sixtieths of the limit, adds what others of the
// same place have started. It writes no rows, and when it fails, runs start.

const windowMs = 60_000;
const unitsPerWindow = 60;
const maxEntries = 10_000;

interface RateWindow {
  startedAt: number;
  count: number;
  /** How many starts were put off in this window. */
  rescheduled: number;
}

const windows = new Map<number, RateWindow>();

/** How many of `wanted` runs may start now, and from when on the next `count` of the others may. Epoch ms. */
export interface StartReservation {
  now: number;
  later: { count: number; at: number }[];
}

/** Takes starts of this minute, as far as there are any, and finds the minutes of the others. */
export async function reserveStarts(context: Context, wanted: number): Promise<StartReservation> {
  const { organization, clock } = context;
  const limit = organization.plan.runsPerMinute;
  const window = currentWindow(organization.id, clock());
  const granted = await takeRateUnits(context, window, Math.min(wanted, Math.max(0, limit - window.count)));
  const later: StartReservation['later'] = [];
  for (let left = wanted - granted; left > 0;) {
    const turn = Math.floor(window.rescheduled / limit);
    const count = Math.min(left, limit - (window.rescheduled % limit));
    later.push({ count, at: window.startedAt + (turn + 1) * windowMs });
    window.rescheduled += count;
    left -= count;
  }
  return { now: granted, later };
}

/** For runs that are asked for by a request: all at once, or 429 that says when; 409 when there are more than a whole minute has. */
export async function requireStartCapacity(context: Context, wanted: number): Promise<void> {
  const { organization, clock } = context;
  const limit = organization.plan.runsPerMinute;
  if (wanted > limit)
    throw conflict(`The plan allows ${limit} runs a minute (runs_per_minute), and this asks for ${wanted}; send fewer at a time`);
  const window = currentWindow(organization.id, clock());
  const isGranted = window.count + wanted <= limit && (await takeRateUnits(context, window, wanted)) === wanted;
  if (isGranted) return;
  const seconds = Math.max(1, Math.ceil((window.startedAt + windowMs - clock()) / 1000));
  throw rateLimited(
    `The plan allows ${limit} runs a minute (runs_per_minute); try again in ${seconds} s, or have the plan raised`,
    seconds,
  );
}

async function takeRateUnits({ bindings, organization, log }: Context, window: RateWindow, wanted: number): Promise<number> {
  const limit = organization.plan.runsPerMinute;
  const perUnit = Math.ceil(limit / unitsPerWindow);
  const units = Math.floor((window.count + wanted) / perUnit) - Math.floor(window.count / perUnit);
  window.count += wanted;
  for (let unit = 0; unit < units; unit++) {
    if (await hasRateUnit(bindings, organization.id, log)) continue;
    // Others have used up the minute.
    const granted = Math.min(wanted, unit * perUnit);
    window.count = limit;
    return granted;
  }
  return wanted;
}

async function hasRateUnit(bindings: Partial<Env>, organizationId: number, log: Context['log']): Promise<boolean> {
  if (!bindings.RUN_LIMITER) return true;
  try {
    return (await bindings.RUN_LIMITER.limit({ key: String(organizationId) })).success;
  } catch (error) {
    log.error('the limiter of runs failed; runs start', error);
    return true;
  }
}

function currentWindow(organizationId: number, now: number): RateWindow {
  const known = windows.get(organizationId);
  if (known && now - known.startedAt < windowMs && now >= known.startedAt) return known;
  const opened = { startedAt: now, count: 0, rescheduled: 0 };
  windows.delete(organizationId);
  if (windows.size >= maxEntries) windows.delete(windows.keys().next().value!);
  windows.set(organizationId, opened);
  return opened;
}
