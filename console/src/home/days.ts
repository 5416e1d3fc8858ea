const dayMs = 86_400_000;

/** When the day of a moment began in a zone, also on the days whose clocks are changed. */
export function startOfDay(moment: Date, timeZone: string): Date {
  const start = new Date(moment.getTime() - elapsedOf(moment, timeZone));
  const off = elapsedOf(start, timeZone);
  return off < dayMs / 2 ? new Date(start.getTime() - off) : new Date(start.getTime() + dayMs - off);
}

/** What the clock of a zone shows, in ms since midnight. */
function elapsedOf(moment: Date, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, hourCycle: 'h23', hour: '2-digit', minute: '2-digit', second: '2-digit' });
  const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  const [hour = 0, minute = 0, second = 0] = [parts.get('hour'), parts.get('minute'), parts.get('second')];
  return ((hour * 60 + minute) * 60 + second) * 1000 + moment.getMilliseconds();
}
