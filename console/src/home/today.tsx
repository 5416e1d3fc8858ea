import { SimpleGrid, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, answerOf, type Schemas } from '../api/client.ts';
import { formatCount, formatDollars, formatDuration, formatShare } from '../parts/format.ts';
import { Problem } from '../parts/problem.tsx';
import { useSession } from '../shell/session.ts';
import { texts } from '../texts/english.ts';
import { startOfDay } from './days.ts';
import { Section } from './section.tsx';

type Totals = Schemas['CallTotals'];
const words = texts.home;
const weekMs = 7 * 86_400_000;
const againMs = 30_000;

const figures: { label: string; of: (totals: Totals) => string }[] = [
  { label: words.numbers.calls, of: ({ calls }) => formatCount(calls) },
  { label: words.numbers.answerRate, of: ({ answer_rate }) => formatShare(answer_rate) },
  { label: words.numbers.talk, of: ({ talk_seconds }) => formatDuration(talk_seconds) },
  { label: words.numbers.cost, of: ({ cost_usd }) => formatDollars(cost_usd) },
];

/** The calls of the organization's day so far, beside those of the same weekday of last week until the same time. */
export function Today() {
  const { timezone } = useSession().organization;
  const found = useQuery({
    queryKey: ['today', timezone],
    queryFn: async () => {
      const now = new Date();
      const from = startOfDay(now, timezone);
      const [today, before] = await Promise.all([
        totals(from, now, timezone),
        totals(new Date(from.getTime() - weekMs), new Date(now.getTime() - weekMs), timezone),
      ]);
      return { today, before, weekday: new Intl.DateTimeFormat(navigator.language, { weekday: 'long', timeZone: timezone }).format(now) };
    },
    refetchInterval: againMs,
  });
  return (
    <Section title={words.today}>
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Skeleton height={60} aria-label={texts.loading} />}
      {found.data && (
        <>
          <SimpleGrid cols={{ base: 2, sm: 4 }} component="dl" m={0}>
            {figures.map(({ label, of }) => (
              <div key={label}>
                <Text component="dt" size="sm">
                  {label}
                </Text>
                <Text component="dd" m={0} size="xl" fw={600}>
                  {of(found.data.today)}
                </Text>
                <Text component="dd" m={0} size="sm">
                  {words.before(of(found.data.before))}
                </Text>
              </div>
            ))}
          </SimpleGrid>
          <Text size="sm" mt="xs">
            {words.beside(found.data.weekday)}
          </Text>
        </>
      )}
    </Section>
  );
}

async function totals(from: Date, to: Date, timezone: string): Promise<Totals> {
  const query = { from: from.toISOString(), to: to.toISOString(), timezone };
  return (await answerOf(api.GET('/api/v1/statistics/calls', { params: { query } }))).totals;
}
