/** A colour for each lane that stands out on light and dark backgrounds. */

import type { Lane } from '../../audio/lane.ts'

const MIXTURE = '#7386a8'
const RESIDUAL = '#b4622d'
/** As many as a request can have prompts. */
const TARGETS = [
  '#2f6fed',
  '#0f8a5f',
  '#b83280',
  '#7c4ddb',
  '#a8790f',
  '#0e87a3',
  '#d64545',
  '#6b8e23',
]

export const colorsOf = (lanes: readonly Pick<Lane, 'kind'>[]): string[] => {
  const targets = lanes.filter(({ kind }) => kind === 'target')
  return lanes.map((lane) => {
    if (lane.kind === 'mixture') return MIXTURE
    return lane.kind === 'residual' ? RESIDUAL : TARGETS[targets.indexOf(lane)]!
  })
}
