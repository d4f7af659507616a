/** Checks whether the weights are those of this version, or complete for models of one's own. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256Of } from '../../../../models/checkpoint/sha256.ts'
import { readRecord, weightFilesOf } from '../../../../models/installed/record.ts'
import type { ModelChoice } from '../../../../models/model-choice.ts'
import { commandText, isPackaged, setUpAgain } from '../../command-name.ts'
import type { Context } from '../context.ts'
import { failure, okFinding, type Finding } from '../finding.ts'

/** SHA-256 of the built-in model's weights. */
export const MINI_SHA256 = '88d982014335a39cfd4f107ddb019ba6386097ee327981e1c504bb712a5971de'
const MINI_FILE = fileURLToPath(
  new URL('../../../../models/mini/weights/model.safetensors', import.meta.url),
)

export async function checkWeights({ engine }: Context): Promise<Finding[]> {
  if (!engine) return []
  const findings = await Promise.all(engine.models.map(weightsOf))
  return findings.flat()
}

async function weightsOf(choice: ModelChoice): Promise<Finding[]> {
  switch (choice.kind) {
    case 'mini':
      return [await fileFinding(MINI_FILE, MINI_SHA256)]
    case 'sam-audio':
      return inventory(choice.folder)
    case 'installed':
      return [installedFinding(choice)]
  }
}

/** Checks whether the files that the record names exist. */
function installedFinding({ name, folder }: { name: string; folder: string }): Finding {
  const missing = weightFilesOf(readRecord(folder)).find((file) => !existsSync(join(folder, file)))
  if (missing === undefined) return okFinding('weights', `${name} is installed in ${folder}`)
  const again = `${commandText('model', `remove ${name}`)}, then fetch or import it again`
  return failure('weights', `${join(folder, missing)} is not there`, again)
}

/** Compares the SHA-256 of the file. */
export async function fileFinding(file: string, sha256: string): Promise<Finding> {
  const remedy = isPackaged
    ? setUpAgain()
    : `Restore the file: git checkout -- ${file}, or a new clone.`
  if (!existsSync(file)) return failure('weights', `${file} is not there`, remedy)
  const own = await sha256Of(file)
  if (own === sha256) return okFinding('weights', `of the built-in model, SHA-256 ${short(own)}`)
  const found = `${file} has SHA-256 ${short(own)}, not ${short(sha256)} of this version`
  return failure('weights', found, remedy)
}

const short = (hash: string): string => `${hash.slice(0, 12)}…`

async function inventory(folder: string): Promise<Finding[]> {
  // this loads TensorFlow, which may be what is broken
  const { takeInventory } = await import('../../model/inventory.ts')
  const { parts } = await takeInventory(folder)
  const problems = parts.flatMap(({ part, folder: own, required, problems: all }) =>
    own !== null || required ? all.map((problem) => `${part}: ${problem}`) : [],
  )
  const inspect = commandText('model', `inspect ${folder}`)
  const remedy = `${inspect} shows all of it; docs/how-to/sam-audio.md says how.`
  return problems.length === 0
    ? [okFinding('weights', `${folder} has all that is needed`)]
    : problems.map((problem) => failure('weights', problem, remedy))
}
