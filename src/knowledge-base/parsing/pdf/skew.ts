import type { TextContent } from './text-content.ts';

/** In degrees: text that leans less is straight. */
const minSkew = 0.5;
/** In degrees: text that leans more is slanted on purpose. */
const maxSkew = 20;

interface Viewport {
  width: number;
  height: number;
  transform: readonly number[];
}

/** The viewport, turned about its middle so that most of the text is straight where a scan lies askew. */
export function straighten(items: TextContent['items'], viewport: Viewport): Viewport {
  const skew = findSkew(items, viewport);
  if (skew === 0) return viewport;
  const [cos, sin] = [Math.cos((-skew * Math.PI) / 180), Math.sin((-skew * Math.PI) / 180)];
  const { width, height, transform } = viewport;
  const [a = 1, b = 0, c = 0, d = -1, e = 0, f = 0] = transform;
  const [middleX, middleY] = [width / 2, height / 2];
  const turn = (x: number, y: number): [number, number] => [cos * x - sin * y, sin * x + cos * y];
  const [movedX, movedY] = turn(e - middleX, f - middleY);
  return { width, height, transform: [...turn(a, b), ...turn(c, d), movedX + middleX, movedY + middleY] };
}

/** The angle, in degrees, by which more than half of the letters lean to one side; 0: there is none. */
function findSkew(items: TextContent['items'], { transform: [va = 1, vb = 0, vc = 0, vd = -1] }: Viewport): number {
  const lengths = new Map<number, number>();
  let all = 0;
  for (const item of items) {
    if (!('str' in item) || item.str.trim() === '') continue;
    const [a = 1, b = 0] = item.transform as number[];
    const angle = (Math.atan2(vb * a + vd * b, va * a + vc * b) * 180) / Math.PI;
    // Tenths of a degree from the nearest quarter turn.
    const skew = Math.round((angle - Math.round(angle / 90) * 90) * 10);
    lengths.set(skew, (lengths.get(skew) ?? 0) + item.str.length);
    all += item.str.length;
  }
  const [most] = [...lengths].toSorted(([, one], [, other]) => other - one);
  if (most === undefined || Math.abs(most[0]) < minSkew * 10 || Math.abs(most[0]) > maxSkew * 10) return 0;
  let near = 0;
  for (let skew = most[0] - 10; skew <= most[0] + 10; skew += 1) near += lengths.get(skew) ?? 0;
  return near > all / 2 ? most[0] / 10 : 0;
}
