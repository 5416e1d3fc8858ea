import { findAgent } from '../agents.ts';
import { readExample } from '../examples.ts';
import type { TourStep } from '../step.ts';
import { LocalError } from '../../local/settings.ts';

/** Whom the file names, and who must not be called. */
const unwilling = '+12125501111';

export const makeCampaign: TourStep = {
  title: 'Make a voice agent, and a campaign that calls the people of examples/campaign.csv',
  operation: 'POST /campaign/create',
  async run(tour) {
    const { service, baseUrl, say, stamp } = tour;
    const agent = await findAgent(tour, 'spring-offer');
    say(`The agent "${agent.name}" ${agent.isNew ? 'is new' : 'was there'}: id ${agent.id}, definition ${agent.current_definition_id}`);
    await service.post('/contacts/suppressions', { phone: unwilling, reason: 'asked not to be called' });
    say(`${unwilling} asked not to be called: nobody calls it any more, whoever has it in a file`);
    const file = readExample('campaign.csv');
    const { upload_url, source_id } = await service.post<{ upload_url: string; source_id: string }>('/campaign/upload-url', {
      filename: 'campaign.csv',
      content_type: 'text/csv',
    });
    const upload = await service.call<unknown>('PUT', upload_url, file, { 'content-type': 'text/csv' });
    if (upload.status !== 200) throw new LocalError(`the upload was answered ${upload.status} ${JSON.stringify(upload.body)}`);
    say('The file is uploaded to a signed URL, which needs no key');
    const campaign = await service.post<{ id: number; state: string }>('/campaign/create', {
      name: `Tour: spring offer ${stamp}`,
      workflow_id: agent.id,
      source_type: 'csv',
      source_id,
      max_concurrency: 2,
      // Whoever is busy would be called again after two minutes.
      retry_config: { enabled: false },
    });
    tour.notes.write('campaign', { id: campaign.id, agentId: agent.id });
    say(`The campaign is a ${campaign.state}: id ${campaign.id}, two calls at once, no second attempts`);
    say(`${baseUrl}/campaign/${campaign.id}`);
  },
};
