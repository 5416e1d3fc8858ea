/** An independent look at the wall clocks of zones, for comparing with the service's own. */

const minute = 60_000;
const day = 86_400_000;

export const zones = [
  'America/New_York',
  'Europe/London',
  'America/Sao_Paulo',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Africa/Casablanca',
  'Asia/Tehran',
  'America/St_Johns',
  'Pacific/Chatham',
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** Minutes since 1970 as the wall clock shows them. */
export function shownMinute(zone: string, epochMs: number): number {
  let format = formats.get(zone);
  if (!format) {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...parts });
    formats.set(zone, format);
  }
  const read = Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(read['year']!, read['month']! - 1, read['day'], read['hour'], read['minute']) / minute;
}

/** The first minutes after each change of the clock in these years, found by looking at every half hour. */
function clockChanges(zone: string, years: readonly number[]): number[] {
  const changes: number[] = [];
  for (const year of years) {
    let before: number | null = null;
    for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += 30 * minute) {
      const offset = shownMinute(zone, at) - at / minute;
      if (before !== null && offset !== before) changes.push(at);
      before = offset;
    }
  }
  return changes;
}

export interface Window {
  zone: string;
  start: number;
  /** For each minute from `start`, the latest time that the wall clock has shown so far, in minutes since 1970. */
  latestShown: number[];
}

/** Two days on either side of a moment, minute by minute. */
function windowAround(zone: string, moment: number): Window {
  const start = moment - 2 * day;
  let latest = shownMinute(zone, start - minute);
  const latestShown = Array.from(
    { length: (4 * day) / minute },
    (_, index) => (latest = Math.max(latest, shownMinute(zone, start + index * minute))),
  );
  return { zone, start, latestShown };
}

/** The instants of a window at which a wall clock that `matches` is reached for the first time or passed over. */
export function firstReached({ start, latestShown }: Window, matches: (shown: number) => boolean): number[] {
  return latestShown.flatMap((latest, index) => {
    const previous = index === 0 ? latest : latestShown[index - 1]!;
    for (let shown = previous + 1; shown <= latest; shown++) if (matches(shown)) return [start + index * minute];
    return [];
  });
}

/**
 * One window around each clock change, and an ordinary window for zones without changes. For zones that have given up changing, the last
 * changes are included.
 */
export function interestingWindows(): Window[] {
  const lastYears: Record<string, number[]> = { 'America/Sao_Paulo': [2018], 'Asia/Tehran': [2022], 'Pacific/Apia': [2011, 2020] };
  return zones.flatMap((zone) => {
    const changes = clockChanges(zone, lastYears[zone] ?? [2026]);
    return (changes.length > 0 ? changes : [Date.UTC(2026, 5, 15)]).map((change) => windowAround(zone, change));
  });
}
