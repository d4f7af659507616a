/**
 * fast-check with the seed of this run, so that no property fails by chance. Tests import `fc` only
 * from here.
 */

import fc from 'fast-check'
import { TEST_SEED } from './test-seed.ts'

fc.configureGlobal({ seed: TEST_SEED })

export { fc }
