import { readExample } from '../examples.ts';
import type { TourStep } from '../step.ts';

interface Workflow {
  id: number;
  name: string;
  status: string;
  version: number;
}

interface JourneyExample {
  name: string;
  definition: { nodes: { id: string; name: string }[] };
}

/** Where the example sends its requests: the simulators of a service with the usual ports. */
const exampleOrigin = 'http://127.0.0.1:8788';

export const makeJourney: TourStep = {
  title: 'Create and activate the journey of examples/journey.json',
  operation: 'POST /automation-workflows',
  async run({ service, baseUrl, simulatorsUrl, say, notes }) {
    const example = JSON.parse(readExample('journey.json').replaceAll(exampleOrigin, simulatorsUrl)) as JourneyExample;
    const { automation_workflows: named } = await service.get<{ automation_workflows: Workflow[] }>(
      `/automation-workflows?search=${encodeURIComponent(example.name)}`,
    );
    const known = named.find(({ name }) => name === example.name);
    const workflow = known ? await update(known, example) : await create(example);
    notes.write('journey', { id: workflow.id, nodeNames: new Map(example.definition.nodes.map((node) => [node.id, node.name])) });
    say(`${baseUrl}/automation-workflows/${workflow.id}`);

    async function create(journey: JourneyExample): Promise<Workflow> {
      const draft = await service.post<Workflow>('/automation-workflows', journey);
      const active = await service.patch<Workflow>(`/automation-workflows/${draft.id}`, { status: 'active' });
      say(`"${active.name}" is new: id ${active.id}, created as ${draft.status}, now ${active.status}, version ${active.version}`);
      return active;
    }

    async function update(before: Workflow, journey: JourneyExample): Promise<Workflow> {
      const active = await service.patch<Workflow>(`/automation-workflows/${before.id}`, { ...journey, status: 'active' });
      const change = active.version === before.version ? 'as it was' : `changed from version ${before.version}`;
      say(`"${active.name}" was there: id ${active.id}, ${active.status}, version ${active.version}, ${change}`);
      return active;
    }
  },
};
