/** Text at a place, in points from the lower left corner, as PDF has it. `turned`: upwards along the page. */
export interface PdfText {
  text: string;
  x: number;
  y: number;
  size?: number;
  isBold?: boolean;
  turned?: boolean;
}

/** A PDF as the format's reference writes it: pages of Letter size with text in Helvetica. */
export function makePdf(pages: PdfText[][], info = ''): Uint8Array {
  const objects: string[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${6 + index * 2} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>',
  ];
  for (const texts of pages) {
    const content = texts.map(draw).join('\n');
    const at = objects.length + 1;
    objects.push(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${at} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>`,
    );
  }
  objects.push(`<< ${info} >>`);
  const offsets: number[] = [];
  let file = '%PDF-1.4\n';
  for (const [index, object] of objects.entries()) {
    offsets.push(file.length);
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer << /Size ${objects.length + 1} /Root 1 0 R /Info ${objects.length} 0 R >>`;
  return new TextEncoder().encode(
    `${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}\nstartxref\n${file.length}\n%%EOF\n`,
  );
}

function draw({ text, x, y, size = 10, isBold = false, turned = false }: PdfText): string {
  const escaped = text.replace(/[\\()]/g, String.raw`\$&`);
  return `BT /${isBold ? 'F2' : 'F1'} ${size} Tf ${turned ? '0 1 -1 0' : '1 0 0 1'} ${x} ${y} Tm (${escaped}) Tj ET`;
}

/** Lines below each other. */
export const lines = (texts: string[], x: number, y: number, more: Partial<PdfText> = {}): PdfText[] =>
  texts.map((text, index) => ({ text, x, y: y - index * (more.size ?? 10) * 1.2, ...more }));
