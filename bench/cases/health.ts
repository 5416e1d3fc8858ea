import { measureAlternately, bothSides, connections, type Bench, type Result } from '../bench.ts';
import { load } from '../load.ts';

/** The frame alone: routing, request id, log line. */
export async function measureHealth({ clients, pace, progress }: Bench): Promise<Result[]> {
  progress('GET /health');
  const samples = await measureAlternately(pace.rounds, bothSides, (side) => {
    const exchange = { method: 'GET' as const, path: side === 'service' ? '/api/v1/health' : '/health' };
    return load(
      clients[side],
      Array.from({ length: pace.events * 2 }, () => exchange),
      connections,
    );
  });
  return [{ name: 'GET /health', floorDoes: 'answers a constant', compares: 'rate', ...samples }];
}
