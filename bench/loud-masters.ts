/**
 * Do target and residual add up to a loud master, and does any sample of them clip? 200 masters of
 * seeds, in WAV and FLAC, with the built-in model.
 *
 *   node --import tsx bench/loud-masters.ts
 */
import {
  loudMaster,
  MasterSeparator,
  sumError,
  SUM_ERROR_MAX,
} from '../test/support/engine/loud-masters.ts'
import { report, round } from './report.ts'

const MASTERS = 200

const separator = await MasterSeparator.start()
for (const format of ['wav', 'flac'] as const) {
  const found = { lowered: 0, 'worst sum error': 0, 'clipped masters': 0, 'least gain in dB': 0 }
  for (let seed = 0; seed < MASTERS; seed += 1) {
    const separated = await separator.separate(loudMaster(seed).file, format)
    const error = sumError(separated)
    if (separated.gainDb < 0) found.lowered += 1
    if (error > SUM_ERROR_MAX) found['clipped masters'] += 1
    found['worst sum error'] = Math.max(found['worst sum error'], error)
    found['least gain in dB'] = Math.min(found['least gain in dB'], separated.gainDb)
  }
  const error = round(found['worst sum error'])
  report(`loud masters in ${format}`, { masters: MASTERS, ...found, 'worst sum error': error })
}
await separator.stop()
