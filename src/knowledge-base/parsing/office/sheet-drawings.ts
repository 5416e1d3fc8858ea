import type { Archive } from '../../../library/office-files/archive.ts';
import { readRelationships } from '../../../library/office-files/relationships.ts';
import type { BlockWriter } from '../block-writer.ts';
import { countComments } from './count-comments.ts';
import { readChart } from './read-chart.ts';
import { readSlide } from './read-slide.ts';

/** `isChartSheet`: the sheet is a chart. `beforeText`: called before each text. */
interface DrawingOptions {
  isChartSheet: boolean;
  beforeText: () => void;
}

/**
 * Writes the texts of the boxes and diagrams of a sheet, what its pictures are described as, and the titles of its charts. The data
 * of a chart stands in a sheet, and is written only where the chart is a sheet of its own. Counts the comments, which are left out.
 */
export async function writeDrawings(archive: Archive, sheet: string, options: DrawingOptions, writer: BlockWriter): Promise<void> {
  const relationships = await readRelationships(archive, sheet);
  writer.warnings.add('comments_left_out', { count: await countComments(archive, relationships) });
  for (const { type, target } of relationships) if (type === 'drawing') await writeDrawing(archive, target, options, writer);
}

async function writeDrawing(archive: Archive, drawing: string, options: DrawingOptions, writer: BlockWriter): Promise<void> {
  const relationships = await readRelationships(archive, drawing);
  const charts = new Map(relationships.map(({ id, target }) => [id, target]));
  const { parts, hiddenTexts, describedImages } = await readSlide(archive.pieces(drawing), writer.warnings);
  for (const { id, target } of relationships) if (describedImages.has(id)) writer.describedImages.add(target);
  for (const { type, target } of relationships)
    if (type === 'diagramData') for (const part of (await readSlide(archive.pieces(target), writer.warnings)).parts) parts.push(part);
  writer.warnings.add('hidden_left_out', { count: hiddenTexts });
  for (const part of parts) {
    if ('paragraph' in part && part.paragraph.text.trim() !== '') {
      options.beforeText();
      writer.paragraph(part.paragraph.text);
    } else if ('chart' in part && charts.has(part.chart)) {
      await writeChart(archive, charts.get(part.chart)!, options, writer);
      charts.delete(part.chart);
    }
  }
}

async function writeChart(
  archive: Archive,
  chart: string,
  { isChartSheet, beforeText }: DrawingOptions,
  writer: BlockWriter,
): Promise<void> {
  const { title, rows } = await readChart(archive, chart);
  if (title !== '' || isChartSheet) beforeText();
  writer.paragraph(title);
  if (isChartSheet) for (const row of rows) writer.row(row);
  writer.endTable();
}
