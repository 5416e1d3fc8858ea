import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../local/settings.ts';
import { describeCounts } from '../campaign-rows.ts';
import type { Tour, TourStep } from '../step.ts';

interface Progress {
  state: string;
  state_reason: string | null;
  rows: Record<string, number>;
  next_window_at: string | null;
  waiting: { waiting_for: string | null } | null;
}

const timeoutMs = 60_000;
const pollMs = 150;

export const followCampaign: TourStep = {
  title: 'Start it, and watch it call',
  operation: 'POST /campaign/{campaign_id}/start',
  async run(tour) {
    const { service, terminal, say, baseUrl } = tour;
    const { id } = tour.notes.read('campaign');
    await service.post(`/campaign/${id}/start`, {});
    const startedAt = Date.now();
    terminal.begin('   It calls');
    const printed = { counts: '', why: '' };
    for (let progress = await look(tour, id); ; progress = await look(tour, id)) {
      const counts = `${progress.state}: ${describeCounts(progress.rows)}`;
      const why = whyIn(progress);
      if (counts !== printed.counts) say(`${((Date.now() - startedAt) / 1000).toFixed(1)} s  ${counts}`);
      if (why !== '' && why !== printed.why) say(`       why no more at once: ${why}`);
      printed.counts = counts;
      printed.why = why;
      if (progress.state === 'completed') break;
      if (Date.now() > startedAt + timeoutMs || !['syncing', 'running'].includes(progress.state))
        throw new LocalError(
          `the campaign is ${progress.state} (${progress.state_reason ?? 'it has not ended in time'})${await logOf(tour, id)}`,
        );
      await sleep(pollMs);
    }
    terminal.end();
    say(`${baseUrl}/campaign/${id}/progress`);
  },
};

const look = ({ service }: Tour, id: number): Promise<Progress> => service.get<Progress>(`/campaign/${id}/progress`);

/** The present reason why the campaign dials no more calls; empty: none. */
function whyIn({ state, waiting, next_window_at }: Progress): string {
  if (state !== 'running') return '';
  return waiting?.waiting_for ?? (next_window_at === null ? '' : `the calling window opens at ${next_window_at}`);
}

async function logOf({ service }: Tour, id: number): Promise<string> {
  const { logs } = await service.get<{ logs: { level: string; message: string }[] }>(`/campaign/${id}`);
  return logs.map(({ level, message }) => `\n   ${level}: ${message}`).join('');
}
