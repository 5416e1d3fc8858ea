import { z } from 'zod';

const Text = z.strictObject({
  type: z.literal('text'),
  text: z.string().min(1),
  marks: z.array(z.object({ type: z.string() })).optional(),
});
const Break = z.strictObject({ type: z.literal('hardBreak'), attrs: z.object({ text: z.literal('\n') }).optional() });
const Paragraph = z.strictObject({ type: z.literal('paragraph'), content: z.array(z.union([Text, Break])).optional() });
const Document = z.strictObject({ type: z.literal('doc'), version: z.literal(1), content: z.array(Paragraph) });

const isDocument = (value: unknown): boolean => Document.safeParse(value).success;

/** Jira's error for an invalid description; undefined for a valid document of paragraphs. */
export function documentProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return 'Operation value must be an Atlassian Document (see the Atlassian Document Format)';
  return isDocument(value) ? undefined : 'INVALID_INPUT';
}
