/** One tool: one operation of the API, described for an assistant. Its arguments are the operation's own parameters and body. */
export interface ToolDescription {
  /** Letters, digits and underscores: what every client takes. */
  name: string;
  /** Method and path, as the OpenAPI document has them without the base path. */
  operation: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  title: string;
  description: string;
  /** Body fields that are always sent so; the assistant does not see them. */
  fixed?: Record<string, unknown>;
  /** Sent for a query parameter that the assistant leaves out. */
  defaults?: Record<string, string>;
  /** Changes nothing that lasts. A GET does not have to say so. */
  isReading?: boolean;
  /** Calls or writes to people, or ends what cannot be begun again. */
  isDestructive?: boolean;
}

/** Where an assistant begins; sent once to each client. */
export const instructions = `Voice agents, customer journeys and calling campaigns of one organization.
Order of work for a journey: list_journey_node_types, create_journey (a draft), validate_journey, test_journey (a dry run on a virtual clock: nothing is sent), then update_journey with status "active".
Order of work for a campaign: list_agents, preview_campaign, create_campaign (a draft), start_campaign. Starting and resuming dial real people: ask the user first.
To try an agent without a phone: create_agent_test, start_agent_test, then get_agent_test until its status is no longer "running", and get_agent_test_conversation.
Ids are integers. Phone numbers are E.164. Times are ISO 8601 UTC. Days of the week count from 0, Monday. Lists take limit and cursor: pass next_cursor on.
A refused call answers with the reason: correct the named argument and call again. Use the same idempotency_key when you repeat a call whose answer you did not get.`;

export const tools: ToolDescription[] = [
  {
    name: 'list_journeys',
    operation: 'GET /automation-workflows',
    title: 'List journeys',
    description: 'Journeys (automation workflows) with their status, trigger and counts of runs, newest first.',
  },
  {
    name: 'get_journey',
    operation: 'GET /automation-workflows/{workflow_id}',
    title: 'Get a journey',
    description: 'One journey with its whole definition and settings.',
  },
  {
    name: 'list_journey_node_types',
    operation: 'GET /automation-workflows/node-types',
    title: 'List node types',
    description:
      'Every node type that a journey may have: the JSON Schema of its data, its outgoing handles, and an example. Read it before you write a definition.',
  },
  {
    name: 'describe_triggers',
    operation: 'GET /automation-workflows/{workflow_id}/trigger-meta',
    title: 'Describe triggers',
    description: 'What can start a journey: the trigger types with the JSON Schema of their config, and the event types seen so far.',
  },
  {
    name: 'create_journey',
    operation: 'POST /automation-workflows',
    title: 'Create a journey',
    description: 'Stores a journey as a draft. A draft starts nothing until update_journey sets its status to "active".',
  },
  {
    name: 'update_journey',
    operation: 'PATCH /automation-workflows/{workflow_id}',
    title: 'Change a journey',
    description:
      'Changes the named fields of a journey. Status "active" validates it and lets its triggers fire: from then on it may call and message people. Status "paused" stops new runs.',
    isDestructive: true,
  },
  {
    name: 'validate_journey',
    operation: 'POST /automation-workflows/{workflow_id}/validate',
    title: 'Validate a journey',
    description: 'Whether the stored journey could go active; else every problem with the node or edge that has it.',
    isReading: true,
  },
  {
    name: 'test_journey',
    operation: 'POST /automation-workflows/{workflow_id}/test',
    title: 'Test a journey without effects',
    description:
      'Walks the journey at once on a virtual clock that jumps over waits. Nothing is sent and nobody is called; the history says what would have gone out.',
    fixed: { dry_run: true },
    isReading: true,
  },
  {
    name: 'explain_journey',
    operation: 'GET /automation-workflows/{workflow_id}/explain',
    title: 'Explain whether a contact enters',
    description: 'Whether this contact would enter the journey now, by which trigger, and which rule keeps it out.',
  },
  {
    name: 'list_runs',
    operation: 'GET /automation-workflows/runs',
    title: 'List runs of journeys',
    description: 'Runs of all journeys, newest first, filtered by state, journey, trigger or contact.',
  },
  {
    name: 'get_run',
    operation: 'GET /automation-workflows/runs/{run_id}',
    title: 'Get a run',
    description: 'One run: where it is, what it waits for, and its error if it failed.',
  },
  {
    name: 'get_run_history',
    operation: 'GET /automation-workflows/runs/{run_id}/history',
    title: 'Get the history of a run',
    description: 'Each step that a run took, with its input, output and error.',
  },
  {
    name: 'stop_run',
    operation: 'POST /automation-workflows/runs/{run_id}/stop',
    title: 'Stop a run',
    description: 'Cancels a live run for good.',
    isDestructive: true,
  },
  {
    name: 'send_event',
    operation: 'POST /events',
    title: 'Send an event',
    description:
      "Stores an event of a contact, as the customer's own systems do, and starts every active journey that listens to it. Real journeys act on it. Pass event_id so that a repeat is recognised.",
    isDestructive: true,
  },
  {
    name: 'list_agents',
    operation: 'GET /workflow',
    title: 'List voice agents',
    description: 'Voice agents with their status and number of runs.',
  },
  {
    name: 'get_agent',
    operation: 'GET /workflow/{workflow_id}',
    title: 'Get a voice agent',
    description: 'One voice agent with its definition (nodes, prompts, transitions), configurations and known problems.',
  },
  {
    name: 'create_agent',
    operation: 'POST /workflow/create/definition',
    title: 'Create a voice agent',
    description: 'Stores a voice agent. It calls nobody by itself.',
  },
  {
    name: 'update_agent',
    operation: 'PUT /workflow/{workflow_id}',
    title: 'Change a voice agent',
    description: 'Changes the named fields of a voice agent. Calls that begin afterwards use the new definition.',
    isDestructive: true,
  },
  {
    name: 'validate_agent',
    operation: 'POST /workflow/{workflow_id}/validate',
    title: 'Validate a voice agent',
    description: 'Every problem of the stored agent, or of a definition that is sent along, with the node or edge that has it.',
    isReading: true,
  },
  {
    name: 'create_agent_test',
    operation: 'POST /simtest/test-sessions',
    title: 'Create a test of an agent',
    description:
      'A conversation test without a phone: the agent under test (actor) talks with another agent that plays the customer (adversary). config.checks says what must be true of the talk.',
  },
  {
    name: 'start_agent_test',
    operation: 'POST /simtest/test-sessions/{test_session_id}/start',
    title: 'Start a test of an agent',
    description: 'Starts a pending conversation test. Nobody is called.',
  },
  {
    name: 'get_agent_test',
    operation: 'GET /simtest/test-sessions/{test_session_id}',
    title: 'Get a test of an agent',
    description: 'Status and results of a conversation test: outcome, checks, turns, latency.',
  },
  {
    name: 'get_agent_test_conversation',
    operation: 'GET /simtest/test-sessions/{test_session_id}/conversation',
    title: 'Read the talk of a test',
    description: 'What both agents said in a conversation test.',
  },
  {
    name: 'call_or_chat',
    operation: 'POST /workflow/{workflow_id}/runs',
    title: 'Call a person, or begin a text chat',
    description:
      'Mode "telephony" has the agent call a real person now: ask the user first. Mode "textchat" begins a written talk with the agent.',
    isDestructive: true,
  },
  {
    name: 'say_in_chat',
    operation: 'POST /workflow/{workflow_id}/runs/{run_id}/messages',
    title: 'Say something in a text chat',
    description: 'Sends one message in a text chat and answers what the agent says to it.',
  },
  {
    name: 'list_agent_calls',
    operation: 'GET /workflow/{workflow_id}/runs',
    title: 'List calls of an agent',
    description: 'Calls and chats of one voice agent, newest first, with disposition and extracted values.',
  },
  {
    name: 'get_call',
    operation: 'GET /workflow/{workflow_id}/runs/{run_id}',
    title: 'Get a call',
    description: 'One call or chat: what the line did, what the talk led to, extracted values, log.',
  },
  {
    name: 'get_call_transcript',
    operation: 'GET /workflow/{workflow_id}/runs/{run_id}/transcript',
    title: 'Read the transcript of a call',
    description: 'What was said in a call or chat that has ended.',
  },
  {
    name: 'find_contacts',
    operation: 'GET /contacts',
    title: 'Find contacts',
    description: 'Contacts by a part of the name, phone, email or company, by list, by tag, or by time of change.',
  },
  {
    name: 'get_contact',
    operation: 'GET /contacts/{contact_id}',
    title: 'Get a contact',
    description: 'One contact with its lists and custom fields.',
  },
  {
    name: 'list_contact_calls',
    operation: 'GET /contacts/{contact_id}/calls',
    title: 'List calls of a contact',
    description: 'Voice calls placed to one contact, newest first.',
  },
  {
    name: 'list_contact_events',
    operation: 'GET /contacts/{contact_id}/events',
    title: 'List events of a contact',
    description: 'Events that one contact had, newest first.',
  },
  {
    name: 'list_contact_lists',
    operation: 'GET /contacts/lists',
    title: 'List contact lists',
    description: 'Contact lists with the number of their members. A list is a source of a campaign (source_type "contact_list").',
  },
  {
    name: 'upsert_contact',
    operation: 'POST /contacts/upsert',
    title: 'Create or change a contact',
    description:
      'Finds a contact by phone, else by external_id, changes or creates it, and adds it to a list. Further fields become custom fields.',
  },
  {
    name: 'search_knowledge',
    operation: 'POST /knowledge-base/search',
    title: 'Search the knowledge base',
    description: 'Passages of the uploaded documents that answer a question, best first, with their document and place.',
    isReading: true,
  },
  {
    name: 'list_documents',
    operation: 'GET /knowledge-base/documents',
    title: 'List documents',
    description: 'Documents of the knowledge base with their processing status and error.',
  },
  {
    name: 'list_campaigns',
    operation: 'GET /campaign',
    defaults: { limit: '50' },
    title: 'List campaigns',
    description: 'Calling campaigns with their state and counts of rows.',
  },
  {
    name: 'get_campaign',
    operation: 'GET /campaign/{campaign_id}',
    title: 'Get a campaign',
    description: 'One campaign: state with its reason, counts, log.',
  },
  {
    name: 'preview_campaign',
    operation: 'POST /campaign/preview',
    title: 'Look at the people of a campaign',
    description:
      'What a campaign would dial: the columns of its source, which one holds the phone and why, first rows, and how many cannot be dialled.',
    isReading: true,
  },
  {
    name: 'create_campaign',
    operation: 'POST /campaign/create',
    title: 'Create a campaign',
    description: 'A calling campaign as a draft: an agent and a source of people. Nobody is called before start_campaign.',
  },
  {
    name: 'update_campaign',
    operation: 'PATCH /campaign/{campaign_id}',
    title: 'Change a campaign',
    description: 'Changes the named fields of a draft or paused campaign: calling windows, retries, concurrency, circuit breaker.',
  },
  {
    name: 'start_campaign',
    operation: 'POST /campaign/{campaign_id}/start',
    title: 'Start a campaign',
    description: 'Begins to dial the people of a draft campaign. Real people are called: ask the user first.',
    isDestructive: true,
  },
  {
    name: 'pause_campaign',
    operation: 'POST /campaign/{campaign_id}/pause',
    title: 'Pause a campaign',
    description: 'Places no new calls; calls under way go on to their end.',
  },
  {
    name: 'resume_campaign',
    operation: 'POST /campaign/{campaign_id}/resume',
    title: 'Resume a campaign',
    description: 'Goes on dialing a paused campaign. Real people are called: ask the user first.',
    isDestructive: true,
  },
  {
    name: 'get_campaign_progress',
    operation: 'GET /campaign/{campaign_id}/progress',
    title: 'Get the progress of a campaign',
    description: 'Counts of rows by state and outcome, what is under way, and what dialing waits for.',
  },
  {
    name: 'list_campaign_rows',
    operation: 'GET /campaign/{campaign_id}/runs',
    title: 'List rows of a campaign',
    description:
      'The people of a campaign with state, outcome, reason and attempts, and what came of each call: disposition, summary, extracted variables.',
  },
  {
    name: 'list_calls',
    operation: 'GET /calls',
    title: 'List calls',
    description:
      'Calls of the whole organization with outcome, disposition, summary and extracted variables, by agent, campaign, journey, contact, number, day or words of the transcript.',
  },
  {
    name: 'get_campaign_report',
    operation: 'GET /campaign/{campaign_id}/report',
    title: 'Get the report of a campaign',
    description:
      'Every row of a campaign with its final state and what came of its calls; leave format at csv or jsonl. A long report is cut: name the columns, or page through all of it with list_campaign_rows.',
  },
];
