import assert from 'node:assert/strict'
import test from 'node:test'
import { outputFileName } from '../../../../../gateway/requests/present/outputs.ts'

test('outputs are named after their source', () => {
  const cases: Record<string, string> = {
    'concert.m4a': 'concert.piano.wav',
    'a.b.c.mp3': 'a.b.c.piano.wav',
    'Interview Dr. Meier': 'Interview Dr. Meier.piano.wav',
    'Take 1.5 final': 'Take 1.5 final.piano.wav',
    'Take 1.5': 'Take 1.5.piano.wav',
    'clip.3GP': 'clip.piano.wav',
    'no extension': 'no extension.piano.wav',
    '../../etc/passwd': 'passwd.piano.wav',
    'C:\\music\\song.flac': 'song.piano.wav',
    '.hidden': '.hidden.piano.wav',
    'folder/': 'audio.piano.wav',
    '🎻 Ünïcode.ogg': '🎻 Ünïcode.piano.wav',
  }
  for (const [source, output] of Object.entries(cases)) {
    assert.equal(outputFileName(source, 'piano', 'wav'), output)
  }
})
