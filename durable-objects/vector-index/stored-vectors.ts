import type { QuantizedVector } from './quantized-vector.ts';
import { slotsPerPage, VectorPage } from './vector-page.ts';

const schema = [
  'CREATE TABLE IF NOT EXISTS page (number INTEGER PRIMARY KEY, ids BLOB NOT NULL, document_ids BLOB NOT NULL, scales BLOB NOT NULL, codes BLOB NOT NULL)',
  'CREATE TABLE IF NOT EXISTS fine (id INTEGER PRIMARY KEY, code BLOB NOT NULL)',
];

type PageRow = { number: number; ids: ArrayBuffer; document_ids: ArrayBuffer; scales: ArrayBuffer; codes: ArrayBuffer };

interface NewVector {
  id: number;
  documentId: number;
  vector: QuantizedVector;
}

/**
 * The vectors of one object. Pages with the coarse codes are in memory and in SQLite; fine codes are in SQLite only, one row each. When a
 * write throws, the memory may be ahead of the disk: drop this instance and load a new one.
 */
export class StoredVectors {
  readonly #storage: DurableObjectStorage;
  readonly #pages = new Map<number, VectorPage>();
  /** Position of each id: page * 64 + slot. */
  readonly #positions = new Map<number, number>();
  readonly #pagesWithFreeSlots = new Set<number>();

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    if (!hasTables(storage)) return;
    for (const { number, ...row } of storage.sql.exec<PageRow>(
      'SELECT number, ids, document_ids, scales, codes FROM page ORDER BY number',
    )) {
      const page = new VectorPage(row);
      this.#pages.set(number, page);
      if (page.used < slotsPerPage) this.#pagesWithFreeSlots.add(number);
      for (const [slot, id] of page.ids.entries()) if (id !== 0) this.#positions.set(id, number * slotsPerPage + slot);
    }
  }

  get size(): number {
    return this.#positions.size;
  }

  get pages(): Iterable<VectorPage> {
    return this.#pages.values();
  }

  get bytes(): number {
    return this.#pages.size * pageBytes;
  }

  has(id: number): boolean {
    return this.#positions.has(id);
  }

  put(vectors: NewVector[]): void {
    const { sql } = this.#storage;
    const changed = new Set<number>();
    this.#storage.transactionSync(() => {
      for (const statement of schema) sql.exec(statement);
      for (const { id, documentId, vector } of vectors) {
        const position = this.#positions.get(id) ?? this.#claimSlot(id);
        const [page, slot] = this.#slotAt(position);
        page.documentIds[slot] = documentId;
        page.scales[slot] = vector.scale;
        page.code(slot).set(vector.coarse);
        changed.add(toPageNumber(position));
        sql.exec('INSERT OR REPLACE INTO fine (id, code) VALUES (?, ?)', id, vector.fine.buffer);
      }
      this.#write(changed);
    });
  }

  remove(ids: number[]): void {
    const stored = ids.filter((id) => this.has(id));
    if (stored.length === 0) return;
    const changed = new Set<number>();
    this.#storage.transactionSync(() => {
      for (const id of stored) {
        const position = this.#positions.get(id);
        // An id given twice is already removed.
        if (position === undefined) continue;
        const [page, slot] = this.#slotAt(position);
        page.ids[slot] = 0;
        page.used -= 1;
        this.#positions.delete(id);
        this.#pagesWithFreeSlots.add(toPageNumber(position));
        changed.add(toPageNumber(position));
      }
      this.#storage.sql.exec('DELETE FROM fine WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(stored));
      this.#write(changed);
    });
  }

  /** The stored vectors among `ids`. */
  *read(ids: number[]): Iterable<{ id: number; vector: QuantizedVector }> {
    const stored = [...new Set(ids)].filter((id) => this.has(id));
    if (stored.length === 0) return;
    const rows = this.#storage.sql.exec<{ id: number; code: ArrayBuffer }>(
      'SELECT fine.id, fine.code FROM json_each(?) AS wanted CROSS JOIN fine ON fine.id = wanted.value',
      JSON.stringify(stored),
    );
    for (const { id, code } of rows) {
      const [page, slot] = this.#slotAt(this.#positions.get(id)!);
      yield { id, vector: { scale: page.scales[slot]!, coarse: page.code(slot), fine: new Int8Array(code) } };
    }
  }

  #slotAt(position: number): [VectorPage, number] {
    return [this.#pages.get(toPageNumber(position))!, position % slotsPerPage];
  }

  #claimSlot(id: number): number {
    const [number = this.#newPage()] = this.#pagesWithFreeSlots;
    const page = this.#pages.get(number)!;
    const slot = page.freeSlot();
    page.ids[slot] = id;
    page.used += 1;
    if (page.used === slotsPerPage) this.#pagesWithFreeSlots.delete(number);
    const position = number * slotsPerPage + slot;
    this.#positions.set(id, position);
    return position;
  }

  #newPage(): number {
    let number = 0;
    while (this.#pages.has(number)) number += 1;
    this.#pages.set(number, new VectorPage());
    this.#pagesWithFreeSlots.add(number);
    return number;
  }

  #write(numbers: Iterable<number>): void {
    for (const number of numbers) {
      const page = this.#pages.get(number)!;
      if (page.used === 0) {
        this.#pages.delete(number);
        this.#pagesWithFreeSlots.delete(number);
        this.#storage.sql.exec('DELETE FROM page WHERE number = ?', number);
      } else {
        this.#storage.sql.exec(
          'INSERT OR REPLACE INTO page (number, ids, document_ids, scales, codes) VALUES (?, ?, ?, ?, ?)',
          number,
          page.ids.buffer,
          page.documentIds.buffer,
          page.scales.buffer,
          page.codes.buffer,
        );
      }
    }
  }
}

const toPageNumber = (position: number): number => Math.floor(position / slotsPerPage);
const pageBytes = new VectorPage().codes.byteLength;

/** Whether the object has tables. Reading an unused object creates none. */
const hasTables = (storage: DurableObjectStorage): boolean =>
  storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'page'").toArray().length > 0;
