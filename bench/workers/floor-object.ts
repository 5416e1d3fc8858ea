import { DurableObject } from 'cloudflare:workers';
import type { Values } from '../recipe.ts';
import { replay } from './replay.ts';
import { getRecipe, type Bindings } from './floor-recipes.ts';

const progress = JSON.stringify({ state: 'running' });

/** What a run writes at least: its row, a record for each node, and its row in D1. */
export class FloorRunObject extends DurableObject<Bindings> {
  async run(recipe: string, values: Values): Promise<void> {
    const { nodes, steps, object } = getRecipe(recipe);
    this.#begin();
    for (let node = 1; node <= nodes; node++) this.#record(node);
    if (steps) {
      await replay(this.env.DB, steps.calls, values, [values]);
      const response = await fetch(steps.url, { method: 'POST', body: JSON.stringify(values), headers: { 'idempotency-key': this.#name } });
      await response.json();
    }
    await replay(this.env.DB, object, values, [values]);
  }

  /** A run that has come to its second node and waits there. */
  async sleep(): Promise<void> {
    this.#begin();
    this.#record(1);
    this.#record(2);
  }

  async wake(recipe: string, values: Values): Promise<void> {
    this.#record(3);
    await replay(this.env.DB, getRecipe(recipe).object, values, [values]);
  }

  get #name(): string {
    return this.ctx.id.name!;
  }

  #begin(): void {
    const { sql } = this.ctx.storage;
    sql.exec('CREATE TABLE run (id INTEGER PRIMARY KEY, progress TEXT NOT NULL, revision INTEGER NOT NULL)');
    sql.exec('CREATE TABLE history (id INTEGER PRIMARY KEY, node_id TEXT NOT NULL, status TEXT NOT NULL, entry TEXT NOT NULL)');
    sql.exec('INSERT INTO run (id, progress, revision) VALUES (?, ?, 1)', Number(this.#name), progress);
  }

  #record(node: number): void {
    const { sql } = this.ctx.storage;
    sql.exec("INSERT INTO history (node_id, status, entry) VALUES (?, 'completed', ?)", String(node), progress);
    sql.exec('UPDATE run SET progress = ?, revision = revision + 1', progress);
  }
}
