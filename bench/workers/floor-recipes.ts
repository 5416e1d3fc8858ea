import type { VectorIndexObject } from '../../durable-objects/vector-index/vector-index-object.ts';
import type { CallRecipe, Values } from '../recipe.ts';
import type { FloorCallStatesObject, FloorRowsObject, FloorTalkObject } from './floor-call-objects.ts';
import type { FloorRunObject } from './floor-object.ts';
import type { FloorTestObject } from './floor-tests.ts';

export interface Bindings {
  DB: D1Database;
  QUEUE: Queue<Message>;
  FILES: R2Bucket;
  RUN: DurableObjectNamespace<FloorRunObject>;
  ROWS: DurableObjectNamespace<FloorRowsObject>;
  CALL_STATES: DurableObjectNamespace<FloorCallStatesObject>;
  TALK: DurableObjectNamespace<FloorTalkObject>;
  TEST: DurableObjectNamespace<FloorTestObject>;
  VECTOR_INDEX: DurableObjectNamespace<VectorIndexObject>;
}

export interface Message {
  recipe: string;
  record: Values;
}

/** The route replays `request`, the consumer `queue`, and a run's object `object` at its end. */
export interface Recipe {
  request: CallRecipe[];
  queue: CallRecipe[];
  object: CallRecipe[];
  /** How many nodes a run visits. */
  nodes: number;
  /** What a run does before its end: calls to D1, then one to an address outside. */
  steps?: { calls: CallRecipe[]; url: string };
}

export const recipes = new Map<string, Recipe>();

export function getRecipe(name: string): Recipe {
  const recipe = recipes.get(name);
  if (!recipe) throw new Error(`The floor was given no recipe "${name}"`);
  return recipe;
}
