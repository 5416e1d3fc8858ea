/** When a timer is due (epoch ms); null: it is not set. */
export function timerDueAt(sql: SqlStorage, kind: string): number | null {
  return sql.exec<{ due: number }>('SELECT due FROM timer WHERE kind = ?', kind).toArray()[0]?.due ?? null;
}

/** When the object has something to do that is more than telling its row. */
export const nextWakeAt = (sql: SqlStorage): number | null =>
  sql.exec<{ due: number | null }>("SELECT min(due) AS due FROM timer WHERE kind <> 'project'").one().due;
