import { endBench, measureAlternately, connections, prepareBench, type Bench } from '../bench.ts';
import { workerdMegabytes } from '../local/memory.ts';
import { Client, load } from '../load.ts';
import { installPeer, type PeerName } from '../peers/install.ts';
import { N8n } from '../peers/n8n.ts';
import { n8nWebhookPath } from '../peers/n8n-journey.ts';
import { searchWithHnswlib, searchWithSqliteVec } from '../peers/vector-search.ts';
import { median } from '../statistics.ts';
import type { TargetedFigure } from '../targets.ts';
import { postWebhook } from './exchanges.ts';
import { measurePeerVectors } from './peer-vectors.ts';
import { runWebhooks } from './webhook-runs.ts';

/** Other programs that do the same work, beside the service in the same run. One that cannot be installed or started is named, with the reason. */
export async function measurePeers(bench: Bench): Promise<TargetedFigure[]> {
  return [
    ...(await orNone(bench, 'n8n', () => measureN8n(bench))),
    ...(await orNone(bench, 'hnswlib-node', () => measurePeerVectors(bench, 'hnswlib-node', searchWithHnswlib))),
    ...(await orNone(bench, 'sqlite-vec', () => measurePeerVectors(bench, 'sqlite-vec', searchWithSqliteVec))),
  ];
}

async function orNone(bench: Bench, name: PeerName, measure: () => Promise<TargetedFigure[]>): Promise<TargetedFigure[]> {
  try {
    bench.progress(`Installing ${name}, unless it is`);
    await installPeer(name);
    return await measure();
  } catch (error) {
    bench.progress(`${name} is left out: ${String(error).split('\n').slice(0, 3).join(' ')}`);
    return [];
  }
}

/** The service has a workerd of its own, as n8n has its processes: without what the rest of the benchmark has left in memory. */
async function measureN8n({ pace, progress }: Bench): Promise<TargetedFigure[]> {
  progress('Starting the service alone');
  const bench = await prepareBench(pace, progress, { isAlone: true });
  try {
    return await compareWithN8n(bench);
  } finally {
    await endBench(bench);
  }
}

async function compareWithN8n(bench: Bench): Promise<TargetedFigure[]> {
  bench.progress('Starting n8n');
  const n8n = await N8n.start(bench.rig.receiver);
  const client = new Client(n8n.origin, connections);
  const before = n8n.savedExecutions();
  const { webhooks, rounds } = bench.pace;
  let sent = 0;
  const memory: Record<'service' | 'n8n', number[]> = { service: [], n8n: [] };
  try {
    bench.progress(`Webhook to completed run of 6 nodes, beside n8n, ${webhooks} at once`);
    const measured = await measureAlternately(rounds, ['service', 'n8n'] as const, async (side) => {
      const sample =
        side === 'service'
          ? await runWebhooks(bench, 'service', bench.typicalWebhookPath, webhooks, 0)
          : await load(
              client,
              Array.from({ length: webhooks }, () => postWebhook(sent++, n8nWebhookPath)),
              connections,
            );
      memory[side].push(side === 'service' ? workerdMegabytes() : n8n.residentMegabytes());
      return sample;
    });
    const saved = n8n.savedExecutions() - before;
    if (saved !== sent) throw new Error(`n8n has saved ${saved} of ${sent} executions`);
    const perSecond = (side: 'service' | 'n8n') => measured[side].map((sample) => sample.perSecond);
    const name = 'Webhook to completed run of 6 nodes beside n8n 2.8.4';
    const floorDoes = 'n8n: the same nodes, SQLite, every execution saved, answers at the end of the run';
    return [
      { name: `${name}: runs a second`, unit: '', service: perSecond('service'), floor: perSecond('n8n'), floorDoes },
      {
        name: `${name}: times as many`,
        unit: '',
        target: { atLeast: 1.5 },
        service: perSecond('service').map((ours, round) => ours / measured.n8n[round]!.perSecond),
      },
      {
        name: `${name}: resident memory of all processes`,
        unit: 'MB',
        service: memory.service,
        floor: memory.n8n,
        floorDoes: 'n8n and its task runner',
      },
      {
        name: `${name}: share of its memory`,
        unit: '',
        target: { atMost: 0.5 },
        service: [median(memory.service) / median(memory.n8n)],
      },
    ];
  } finally {
    client.close();
    await n8n.stop();
  }
}
