import { Hono } from 'hono';
import type { CallRecipe } from '../recipe.ts';
import type { Bindings } from './floor-recipes.ts';
import { replay } from './replay.ts';

/** What a search is made of, when its vector is known. */
export interface SearchRecipe {
  /** Of the organization's index. */
  index: string;
  vector: number[];
  topK: number;
  words: CallRecipe;
  rows: CallRecipe;
}

const searches = new Map<string, Omit<SearchRecipe, 'vector'> & { vector: Float32Array }>();

/** The least that the knowledge base can be made of. */
export const knowledgeRoutes = new Hono<{ Bindings: Bindings }>();

knowledgeRoutes.put('/searches/:name', async (c) => {
  const { vector, ...recipe } = await c.req.json<SearchRecipe>();
  searches.set(c.req.param('name'), { ...recipe, vector: Float32Array.from(vector) });
  return c.body(null, 204);
});

/** A search, or one part of it: `index`, `words` or `rows`. */
knowledgeRoutes.post('/searches/:name/:part', async (c) => {
  const { index, vector, topK, words, rows } = searches.get(c.req.param('name'))!;
  const played = async (call: CallRecipe) => (await replay(c.env.DB, [call], {}))[0]!;
  const nearest = () => c.env.VECTOR_INDEX.getByName(index).query(vector, topK);
  switch (c.req.param('part')) {
    case 'index':
      return c.json(await nearest());
    case 'words':
      return c.json(await played(words));
    case 'rows':
      return c.json(await played(rows));
    default:
      await Promise.all([nearest(), played(words)]);
      return c.json({ chunks: await played(rows) });
  }
});

/** Extracts the text of a PDF with the service's library, page after page; keeps only its length. */
knowledgeRoutes.post('/pdf', async (c) => {
  const { extractText, getDocumentProxy } = await import('unpdf');
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(await c.req.arrayBuffer())));
  return c.json({ characters: text.join('').length });
});
