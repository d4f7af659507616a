/** Every part of SAM-Audio, and whole separations, against the reference: `golden/`. */
import { FIXTURES } from '../../support/models/tiny-sam-audio.ts'
import { testStages } from '../../support/models/open-model.ts'

await testStages(FIXTURES)
