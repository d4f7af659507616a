/** Folder of the tiny SAM-Audio for tests. */
import { fileURLToPath } from 'node:url'

export const FIXTURES = fileURLToPath(new URL('../../fixtures/sam-audio', import.meta.url))
export const MODEL_FOLDER = `${FIXTURES}/sam-audio-tiny`
export const CHECKPOINT = `${MODEL_FOLDER}/checkpoint.pt`
export const CONFIG = `${MODEL_FOLDER}/config.json`
