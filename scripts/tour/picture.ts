/** The steps that the picture shows with all their lines, by operation; of the others it shows the title. */
const shownInFull = new Set([
  'GET /automation-workflows/{workflow_id}/runs',
  'GET /campaign/{campaign_id}/runs',
  'POST /workflow/{workflow_id}/runs/{run_id}/messages',
  'POST /simtest/test-sessions',
]);

const maxColumns = 116;
const fontSize = 13;
const lineHeight = 18;
const characterWidth = 7.83;
const padding = 18;

const isTitle = (line: string): boolean => /^\d+\. /.test(line);
const isAddress = (line: string): boolean => /https?:\/\//.test(line);

/** The lines of a tour's output that the picture shows: no addresses, since they and the key are of one machine alone. */
export function pickLines(output: string): string[] {
  const steps = output
    .split(/\n(?=\d+\. )/)
    .filter(isTitle)
    .map((step) => step.split('\n'));
  const end = /^All \d+ steps worked.*$/m.exec(output)?.[0];
  const shown = steps.flatMap(([title = '', operation = '', ...lines]) => {
    const body = lines.filter((line) => line.startsWith(' ') && !isAddress(line));
    return shownInFull.has(operation.trim().split('  ')[0]!) ? [title].concat(body) : [title];
  });
  return end === undefined ? shown : [...shown, '', end];
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const cut = (line: string): string => (line.length > maxColumns ? `${line.slice(0, maxColumns - 1)}…` : line);

/** The lines on a terminal, as SVG. */
export function drawTerminal(command: string, lines: string[]): string {
  const all = [`$ ${command}`, ...lines.map(cut)];
  const width = Math.ceil(maxColumns * characterWidth + 2 * padding);
  const height = all.length * lineHeight + 2 * padding;
  const texts = all.map((line, index) => {
    const y = padding + index * lineHeight + fontSize;
    const style = index === 0 ? ' class="command"' : isTitle(line) ? ' class="title"' : '';
    return `  <text x="${padding}" y="${y}"${style} xml:space="preserve">${escaped(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="What ${escaped(command)} prints">
  <style>
    text { font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #c9d1d9; }
    .title { fill: #79c0ff; font-weight: bold; }
    .command { fill: #7ee787; }
  </style>
  <rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${texts.join('\n')}
</svg>
`;
}
