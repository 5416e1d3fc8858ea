import type { SchemaSteps } from '../shared/object-store.ts';

/** Each change of a conversation is one row; all columns but `id` are JSON. */
const changeTable =
  'CREATE TABLE change (id INTEGER PRIMARY KEY, state TEXT, messages TEXT NOT NULL, removed TEXT NOT NULL, events TEXT NOT NULL)';

const callTables = `
  CREATE TABLE call (run_id INTEGER PRIMARY KEY, facts TEXT NOT NULL, definition TEXT NOT NULL, initial_context TEXT NOT NULL, line TEXT NOT NULL);
  CREATE TABLE recording (config_id INTEGER NOT NULL, url TEXT NOT NULL);
  CREATE TABLE tries (subject TEXT PRIMARY KEY, made INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE chat_turn (key TEXT PRIMARY KEY, first_message_id INTEGER NOT NULL) WITHOUT ROWID;`;

export const callSchemaSteps: SchemaSteps = [
  callTables,
  `
  CREATE TABLE conversation (only INTEGER PRIMARY KEY CHECK (only = 1), state TEXT NOT NULL);
  CREATE TABLE message (id INTEGER PRIMARY KEY, message TEXT NOT NULL);
  CREATE TABLE event (id INTEGER PRIMARY KEY, event TEXT NOT NULL);`,
  changeTable,
  // What calls of earlier versions have said so far becomes the first change.
  `INSERT INTO change (id, state, messages, removed, events) VALUES (
     0, (SELECT state FROM conversation), (SELECT json_group_array(json(message)) FROM (SELECT message FROM message ORDER BY id)), '[]',
     (SELECT json_group_array(json(event)) FROM (SELECT event FROM event ORDER BY id))
   );
   DROP TABLE conversation;
   DROP TABLE message;
   DROP TABLE event;`,
];

/** The tables as the steps leave them. A call has its own object, so tables that it does not need would cost each call. */
export const newCallSchema = `${callTables}
  ${changeTable};`;
