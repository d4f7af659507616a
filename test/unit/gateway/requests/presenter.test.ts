import assert from 'node:assert/strict'
import test from 'node:test'
import { outputFileName } from '../../../../gateway/requests/presenter.ts'

test('outputs are named after their source', () => {
  const cases: Record<string, string> = {
    'concert.m4a': 'concert-target.wav',
    'a.b.c.mp3': 'a.b.c-target.wav',
    'no extension': 'no extension-target.wav',
    '../../etc/passwd': 'passwd-target.wav',
    'C:\\music\\song.flac': 'song-target.wav',
    '.hidden': '.hidden-target.wav',
    'folder/': 'audio-target.wav',
    '🎻 Ünïcode.ogg': '🎻 Ünïcode-target.wav',
  }
  for (const [source, output] of Object.entries(cases)) {
    assert.equal(outputFileName(source, 'target', 'wav'), output)
  }
})
