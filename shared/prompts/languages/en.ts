import type { Language } from '../language.ts'

/** The spelling of the name itself comes first. */
export const en: Language = {
  name: 'English',
  sounds: {
    vocals:
      'vocals, vocal, vox, lead vocals, lead vocal, lead voice, main vocals, main vocal, 🎤, ' +
      'sung voice, ' +
      'singer, lead singer, vocalist, acapella, acappella, a cappella, a capella, cappella, ' +
      'capella, ' +
      "singer's voice, singers voice, voice of singer, voice of the singer, voice of song, " +
      'voice of the song, voice of this song, voice in song, voice in the song, voice from song, ' +
      'voice from the song, singing voice',
    instrumental:
      'instrumental, instrumentals, instrumental version, instrumental track, karaoke, ' +
      'off vocals, ' +
      'karaoke version, karaoke track, backing track, backing tracks, backing music, minus one, ' +
      'music minus one, ' +
      'off vocal, accompaniment, instruments, all instruments, playback',
    other:
      'other, others, everything else, all else, anything else, the rest, rest, other sounds, ' +
      'other sound, other instruments, all other sounds, all other instruments, all others, ' +
      'the remaining sounds, remaining sounds, remainder',
    effects: 'effects, sound effects, sound effect, sfx, fx, foley',
    // Voices.
    speech:
      'speech, dialogue, dialogues, dialog, dialogs, spoken words, spoken word, talking, 🗣, ' +
      'speaking, ' +
      'speaker, speakers, speaking voice, spoken voice, narrator, narration, conversation, ' +
      'person speaking, person talking, people speaking, people talking, someone speaking, ' +
      'someone talking, somebody talking, somebody speaking, talk, voiceover, voice over, ' +
      'human speech, presenter, announcer, podcaster, podcast host, news anchor, lecturer, ' +
      'foreground, ' +
      'person, persons, people, someone, somebody, human, host, interviewer, interview',
    voice: 'voice, voices, human voice, human voices',
    woman:
      'woman, women, female, lady, female voice, female speech, female speaker, ' +
      "woman's voice, womans voice, woman speaking, woman talking, female speaking, " +
      'lady speaking, ' +
      "a woman's voice, women speaking, women talking",
    man:
      "man, men, male, guy, gentleman, male voice, male speech, male speaker, man's voice, " +
      'mans voice, man speaking, man talking, male speaking, guy speaking, guy talking, ' +
      'men talking',
    child:
      "child, children, kid, kids, child's voice, kid's voice, child speaking, child talking, " +
      "children's voices, children playing, kids playing, kid speaking, kids talking",
    baby:
      'baby, babies, infant, baby crying, crying baby, baby cry, baby cries, infant crying, ' +
      'newborn, toddler crying',
    crowd: 'crowd, crowds, crowd noise, crowd of people, chatter, babble, crowd chatter, audience',
    singing: 'singing, sing, song vocals, person singing, someone singing, choir singing',
    whisper: 'whisper, whispers, whispering, whispered voice, person whispering',
    laughter:
      'laughter, laugh, laughs, laughing, giggle, giggling, person laughing, people laughing',
    scream: 'scream, screams, screaming, shriek, shrieking, person screaming, woman screaming',
    sneeze: 'sneeze, sneezes, sneezing',
    breathing: 'breathing, breath, breaths, breathe, heavy breathing',
    eating: 'eating, chewing, munching, crunching food',
    // Animals.
    dog:
      'dog, dogs, puppy, puppies, dog bark, dog barks, dog barking, dogs barking, barking dog, ' +
      '🐶, 🐕, ' +
      'barking dogs, barking, bark, barks, hound, doggy',
    'cat meowing':
      'cat meowing, cat, cats, meow, meows, meowing, kitten, kittens, kitty, cat meow, ' +
      'meowing cat, 🐱, 🐈',
    horse: 'horse, horses, horse neighing, neigh, neighing, hooves, horse hooves, galloping horse',
    'farm animal':
      'farm animal, farm animals, livestock, cow, cows, moo, mooing, sheep, goat, pig, pigs',
    chicken: 'chicken, chickens, hen, hens, clucking, chicken clucking',
    rooster: 'rooster, roosters, cock crowing, cockerel, rooster crowing, crowing',
    'bird chirping':
      'bird chirping, bird, birds, birdsong, bird song, bird songs, birds chirping, 🐦, ' +
      'birds singing, ' +
      'bird singing, bird sounds, chirping birds, chirping, chirp, chirps, tweeting birds, ' +
      'singing birds, singing bird, bird call, bird calls, bird tweeting',
    bee: 'bee, bees, bee buzzing, bees buzzing, buzzing bee, buzzing bees',
    crickets: 'crickets, cricket, cricket chirping, crickets chirping, chirping crickets, cicadas',
    // Instruments.
    piano:
      'piano, pianos, grand piano, upright piano, electric piano, keys, keyboards, piano music, 🎹',
    harpsichord: 'harpsichord, harpsichords, clavichord, cembalo',
    organ: 'organ, organs, pipe organ, church organ, hammond organ',
    accordion: 'accordion, accordions, concertina',
    vibraphone:
      'vibraphone, vibraphones, mallets, xylophone, marimba, glockenspiel, vibes, ' +
      'mallet percussion',
    'acoustic guitar':
      'acoustic guitar, acoustic guitars, classical guitar, nylon guitar, spanish guitar',
    'electric guitar': 'electric guitar, electric guitars, distorted guitar, lead guitar, e guitar',
    bass:
      'bass, bass guitar, bass guitars, bassline, bass line, basslines, electric bass, ' +
      'bass instrument, bassist, basses, double bass, upright bass, contrabass',
    banjo: 'banjo, banjos',
    sitar: 'sitar, sitars',
    harp: 'harp, harps, harpist',
    violin: 'violin, violins, fiddle, fiddles, violinist, 🎻',
    cello: 'cello, cellos, violoncello, cellist',
    strings: 'strings, string section, string ensemble, string orchestra',
    trumpet: 'trumpet, trumpets, trumpeter, cornet, 🎺',
    trombone: 'trombone, trombones, trombonist',
    'french horn': 'french horn, french horns',
    saxophone: 'saxophone, saxophones, sax, saxes, alto sax, tenor sax, saxophonist, 🎷',
    clarinet: 'clarinet, clarinets, clarinettist',
    oboe: 'oboe, oboes, oboist',
    flute: 'flute, flutes, flutist, flautist, piccolo, recorder flute',
    bagpipe: 'bagpipe, bagpipes',
    synth: 'synth, synths, synthesizer, synthesizers, synthesiser, synth lead, synth pad',
    'drum kit': 'drum kit, drumkit, drum kits, drum set, drumset, drum sets',
    'kick drum': 'kick drum, kick drums, kick, kicks, bass drum, bass drums, kickdrum',
    'snare drum': 'snare drum, snare drums, snare, snares',
    'hi-hat': 'hi-hat, hi-hats, hihat, hihats, high hat, high hats, hi hats',
    cymbal: 'cymbal, cymbals, crash cymbal, ride cymbal',
    toms: 'toms, tom, tom-tom, tom-toms, tomtom, tomtoms, tom drum, tom drums, floor tom',
    congas: 'congas, conga, bongos, bongo, conga drum, conga drums',
    tambourine: 'tambourine, tambourines',
    timpani: 'timpani, timpanis, kettledrum, kettledrums, kettle drum, kettle drums',
    'steel drum': 'steel drum, steel drums, steelpan, steel pan, steelpans',
    // Vehicles.
    helicopter: 'helicopter, helicopters, chopper',
    airplane: 'airplane, airplanes, aeroplane, aeroplanes, plane, planes, aircraft, jet plane, jet',
    'car engine':
      'car engine, car engines, engine, engines, car, cars, car engine running, engine noise, ' +
      'motor, ' +
      'idling engine, car passing, cars passing, traffic',
    motorcycle: 'motorcycle, motorcycles, motorbike, motorbikes',
    'train passing':
      'train passing, train, trains, passing train, railway, railroad, train passing by',
    'car horn': 'car horn, car horns, honk, honking, car honking, car honk, vehicle horn',
    'train horn': 'train horn, train horns, train whistle, locomotive horn',
    // Machines and tools.
    'household appliance':
      'household appliance, household appliances, home appliance, washing machine, dishwasher, ' +
      'microwave, blender, hair dryer',
    'vacuum cleaner': 'vacuum cleaner, vacuum cleaners, vacuum, hoover, vacuuming, hoovering',
    fan: 'fan, fans, electric fan, ventilator, ceiling fan, fan noise, air conditioner',
    chainsaw: 'chainsaw, chainsaws, chain saw, chain saws',
    'hand saw': 'hand saw, hand saws, handsaw, saw, sawing, sawing wood',
    drill: 'drill, drills, drilling, power drill, electric drill',
    'hissing air': 'hissing air, air hiss, hiss of air, air hissing, compressed air',
    clock: 'clock, clocks, clock ticking, ticking clock, ticking, clock tick',
    typing:
      'typing, keyboard typing, computer keyboard, typing on a keyboard, typewriter, typing sounds',
    click: 'click, clicks, clicking, mouse click, mouse clicks, mouse clicking',
    hum: 'hum, humming noise, mains hum, electric hum, buzz, electrical hum, 50 hz hum, 60 hz hum',
    'white noise': 'white noise, pink noise, brown noise, static, static noise, tape hiss, hiss',
    noise:
      'noise, noises, background noise, background noises, the background, background, ' +
      'background sound, ' +
      'background sounds, ambient noise, ambient sound, ambient sounds, ambience, ambiance, ' +
      'room noise, ' +
      'environmental noise, surrounding noise, unwanted noise, disturbing noise, ' +
      'noise in the background, ' +
      'sounds in the background, sound in the background, noise floor, annoying noise, ' +
      'loud noise, ' +
      'constant noise, terrible noise, outside noise, street noise, city noise, bad noise, ' +
      'other noise,  any noise, all noise, all noises',
    // Signals.
    phone:
      'phone, phones, telephone, telephones, phone ringing, ringing phone, ringtone, phone ring, ' +
      'telephone ringing',
    'dial tone': 'dial tone, dial tones, dialtone, dialing tone, phone dialing, dtmf',
    doorbell: 'doorbell, doorbells, door bell, door bells, ding dong, door chime',
    'church bell':
      'church bell, church bells, bell, bells, bell ringing, bells ringing, bell tower',
    siren: 'siren, sirens, police siren, ambulance, ambulance siren, fire engine siren, police car',
    alarm:
      'alarm, alarms, alarm clock, alarm sound, fire alarm, smoke alarm, car alarm, alarm beeping',
    'referee whistle': 'referee whistle, referee whistles, whistle blow, referee, sports whistle',
    'morse code': 'morse code, morse',
    'video game':
      'video game, video games, videogame, videogames, arcade game, game sounds, 8 bit game',
    // Weather and water.
    rain:
      'rain, raining, rainfall, rain falling, falling rain, heavy rain, light rain, raindrops, ' +
      '🌧, ' +
      'rain drops',
    sea: 'sea, ocean, waves, sea waves, ocean waves, surf, ocean surf, waves crashing, sea surf',
    wind: 'wind, winds, wind blowing, wind noise, windy, howling wind, blowing wind, breeze',
    thunder: 'thunder, thunders, thunderstorm, thunderclap, thunder rumble, lightning, storm',
    stream: 'stream, streams, brook, creek, river, flowing water, running water, water flowing',
    'water dripping':
      'water dripping, dripping water, drip, drips, dripping, water drops, water drop, ' +
      'drop of water, ' +
      'drops of water, water drips, dripping tap, dripping faucet',
    splash: 'splash, splashes, splashing, water splash, water splashing, splashing water',
    bubbles: 'bubbles, bubble, bubbling, bubbling water, bubbles in water',
    // Hands and objects.
    'hand clap': 'hand clap, hand claps, clap, claps, clapping, handclap, handclaps, hand clapping',
    applause:
      'applause, applauding, crowd clapping, audience clapping, people clapping, audience applause',
    footsteps:
      'footsteps, footstep, steps, walking, foot steps, footfalls, person walking, walking steps',
    knock:
      'knock, knocks, knocking, door knock, knock on the door, knocking on a door, ' +
      'door knocking, knock on door, knocks on the door, knock at the door, ' +
      'knocking on the door, knock on wood',
    door:
      'door, doors, door slam, slamming door, door closing, door opening, door slamming, ' +
      'closing door',
    creaking:
      'creaking, creak, creaks, creaky, squeaking, squeak, creaking door, door creaking, ' +
      'door creak, creaky door, squeaky door',
    'keys jingling':
      'keys jingling, jingling keys, keys rattling, key jingle, bunch of keys, keychain, key ring',
    coins: 'coins, coin, coins jingling, coin drop, coins dropping, money, jingling coins',
    dishes:
      'dishes, dish, plates, cutlery, crockery, dishes clattering, clattering dishes, silverware',
    chopping:
      'chopping, chop, chopping vegetables, chopping food, cutting vegetables, knife chopping, ' +
      'chopping wood',
    writing:
      'writing, pencil writing, pen writing, writing with a pencil, handwriting, scribbling, ' +
      'writing on paper, pencil on paper',
    'paper rustling':
      'paper rustling, paper, papers, rustling paper, crumpling paper, paper crumpling, ' +
      'page turning, turning pages, rustle of paper',
    'adhesive tape':
      'adhesive tape, sticky tape, duct tape, scotch tape, ripping tape, tape ripping',
    'bouncing ball':
      'bouncing ball, ball bouncing, ball, basketball, ball bounce, bouncing balls, ' +
      'basketball bouncing, ping pong',
    'glass breaking':
      'glass breaking, breaking glass, glass, glass shattering, shattering glass, broken glass, ' +
      'glass break',
    fire: 'fire, fireplace, campfire, bonfire, crackling fire, fire crackling, flames',
    gunshot:
      'gunshot, gunshots, gun shot, gun shots, gun, gunfire, shot, shooting, gun firing, ' +
      'machine gun',
    explosion: 'explosion, explosions, blast, bomb, exploding, bomb explosion, detonation',
    whistling: 'whistling, whistle, whistles, person whistling, someone whistling, human whistle',
    heartbeat:
      'heartbeat, heartbeats, heart beat, heart beats, heart, heart beating, beating heart',
    // Groups.
    music:
      'music, background music, film music, soundtrack, musical background, 🎵, 🎶, ' +
      'music in the background',
    animal: 'animal, animals, animal sounds, animal noises',
    guitar: 'guitar, guitars, guitarist, guitar playing, guitar music, 🎸',
    'keyboard instrument': 'keyboard instrument, keyboard instruments, music keyboard',
    'bowed instrument': 'bowed instrument, bowed instruments, bowed strings',
    brass: 'brass, brass section, brass instrument, brass instruments, brass band',
    woodwind: 'woodwind, woodwinds, woodwind instrument, woodwind instruments, wind instrument',
    drums:
      'drums, drum, drum beat, drumbeat, drum beats, drumming, percussion, drummer, beats, beat, ' +
      '🥁, ' +
      'drum track',
    vehicle: 'vehicle, vehicles',
    water: 'water, waters',
    // Clean-up.
    'clean speech':
      'denoise, denoised, denoising, denoiser, de-noise, de-noised, clean up, cleanup, clean-up, ' +
      'clean it up, clean up the audio, clean up audio, clean audio, clean the audio, ' +
      'cleaned audio, ' +
      'clean up the sound, clean sound, clean up the recording, clean the recording, ' +
      'clean recording, ' +
      'clean up my audio, clean up this audio, clean my audio, clean this up, ' +
      'clean up this recording, ' +
      'clean up the speech, clean speech, clean up speech, clean the speech, cleaner speech, ' +
      'clean up the voice, clean voice, clean the voice, clean up voice, clean vocals, ' +
      'clean up the podcast, clean up podcast, clean up the dialogue, clean dialogue, ' +
      'enhance speech, enhance the speech, speech enhancement, enhanced speech, enhance voice, ' +
      'enhance the voice, voice enhancement, enhance dialogue, enhance the dialogue, ' +
      'enhance audio, ' +
      'enhance the audio, audio enhancement, enhance, dialogue enhancement, improve the speech, ' +
      'improve speech, improve the audio, improve the voice, improve audio quality, ' +
      'voice isolation, ' +
      'speech isolation, ' +
      'noise suppression, noise cancellation, noise canceling, noise cancelling, ' +
      'noise reduction, ' +
      'reduce noise, reduce the noise, reduce background noise, reduce the background noise, ' +
      'cancel noise, cancel the noise, noise gate, clear speech, clear voice, ' +
      'clear up the audio, ' +
      'make it clear, make the speech clear, make the voice clearer, make the speech clearer, ' +
      'clearer speech, clearer voice, boost the voice, boost voice, boost dialogue, ' +
      'boost speech, ' +
      'dry voice, studio voice, studio sound, restore the audio, audio restoration, clean',
  },
  words: {
    without:
      'without, w/o, minus, no, non, excluding, sans, less the, free of, free from, with no, ' +
      'devoid of, ' +
      'lacking, clear of, leaving out, zero, omitting, removing, muting, subtracting, ' +
      'instead of, ' +
      'less, fewer, rather than, in absence of, in the absence of, eliminating, dropping',
    not:
      "not, don't, dont, do not, never, does not, doesn't, isn't, is not, didn't, shouldn't, " +
      "should not, won't, cannot, can't, not any, no more, neither, hate, can't stand, dislike, " +
      "tired of, sick of, not include, do not include, don't include, dont include, not including",
    remove:
      'remove, mute, nix, drop, cut, strip, delete, kill, get rid of, getting rid of, rid of, ' +
      'stop, ' +
      'take out, take away, taking out, taking away, turning off, filtering out, ' +
      'leave out, silence, exclude, omit, eliminate, erase, subtract, suppress, filter out, ' +
      'cut out, ' +
      'strip out, strip away, wipe out, throw out, throw away, turn off, turn down, switch off, ' +
      'shut off, fade out, edit out, bleep out, cancel, cancel out, discard, ditch, lose, skip, ' +
      'attenuate, reduce, block out, purge, reject, scrap, avoid, ' +
      'ignore, weed out, tune out, carve out, rip out, shut up, tone down, ' +
      'pull down, disable, deactivate, clean out, unmix',
    after:
      'removed, removal, remover, muted, mute, dropped, deleted, killed, silenced, excluded, ' +
      'omitted, ' +
      'eliminated, erased, subtracted, suppressed, filtered out, cut out, taken out, taken away, ' +
      'left out, stripped, stripped out, stripped away, free, gone, reduction, suppression, ' +
      'cancellation, canceller, cancelled, canceled, elimination, eliminator, turned off, ' +
      'turned down, ' +
      'switched off, edited out, faded out, discarded, disabled, exclusion, deleted, absent, ' +
      'suppressor, killer, begone, disappear, vanish, silent, inaudible',
    off: 'off, out, away, down, out of',
    turn:
      'turn, take, leave, cut, filter, switch, strip, throw, fade, shut, edit, bring, move, ' +
      'tune',
    except:
      'except, except for, excepting, apart from, besides, other than, aside from, but for, ' +
      'save for, ' +
      'barring, save, with the exception of, with exception of, beside',
    but: 'but, than',
    keep: 'keep, preserve, retain, but keep, and keep, leave me',
    only:
      'only, just, isolate, extract, leave only, keep only, give me only, only keep, just keep, ' +
      'but only, but just, instead',
    everything:
      'everything, all, anything, whole, entire, every, any, every sound, all sounds, ' +
      'all the sounds, ' +
      'any sound, sounds, song, songs, mix, mixture, audio, recording, track, tracks, full mix, ' +
      'the lot, ' +
      'file, clip, video, original, all of it, everyone, all of, all the, everybody, whatever, ' +
      'material',
    nothing: 'nothing, none, no sound, no sounds, no one, nobody, nothing else',
    and:
      'and, plus, &, +, as well as, along with, together with, both, also, or, n, nor, ' +
      'in addition to, and also, combined with, and then',
    with: 'with, w, including',
    of: 'of, from, of the, from the, by',
    preposition:
      'in front of, in, on, at, who, whom, whose, that, which, while, when, where, near, ' +
      'next to, behind, isolated from, separated from, extracted from, ' +
      'before, after, over, under, above, below, beneath, during, as, because, since, until, ' +
      'through, ' +
      'into, onto, inside, outside, against, across, around, between, among, amid, against, for, ' +
      'to, ' +
      'toward, towards, so that, if, along, on top of, within, via, than, like, coming, ' +
      'played by, ' +
      'being, is, are, was, were, has, have, had, made by, made, there is, heard, recorded, ' +
      'located, ' +
      'sitting, standing, beside the, close to, far from, far away, accompanied by, upon, past, ' +
      'although, though',
    playing: 'playing, plays, played, play',
    article: 'the, a, an, some',
    ignored:
      "this, that's, my, our, your, his, her, its, their, these, those, please, can, could, you, " +
      "would, will, i, i'd, we, me, us, it, want, wanna, need, give, get, got, make, hear, " +
      'listen, let, ' +
      "like to, would like, i would like, i'd like, want to, need to, like to hear, to hear, " +
      'to get, ' +
      "have, to have, to, help, kindly, hey, hi, hello, thanks, thank, thank you, what, what's, " +
      'what is, ' +
      'where is, is there, are there, do, does, there, for me, try, trying, tell, show, find, ' +
      'isolated, extracted, separate, separated, separating, separation, isolating, extracting, ' +
      'grab, pull, fetch, save, export, stem, stems, part, parts, sound, just the sound, ' +
      'very, really, also, maybe, perhaps, actually, simply, quickly, completely, entirely, ' +
      'fully, totally, ' +
      'two, three, four, several, many, turn up, now, then, so, well, ok, okay, yes, here, ' +
      'whose, more, other, else, both of, the sound of, ' +
      'the sounds of, sound of, sounds of, a sound of, noise of, noises of, the noise of, ' +
      'version, version of, ' +
      'go, away from me, provide, produce, output, create, return, render, split, need you to, ' +
      'i am, ' +
      'am, be, looking, looking for, interested in, must, should, may, might, able, possible, ' +
      'longer, how, how to, mind, ' +
      'purely, solely, exclusively, single, specific, particular, focus on, focus, bring out, ' +
      'the part of, not only, any of',
    whole:
      'drum and bass, drum & bass, drum n bass, rock and roll, rock & roll, rock n roll, ' +
      "rock 'n' roll, rhythm and blues, r&b, salt and pepper shaker, salt and pepper, " +
      'country and western, ' +
      'black and white, up and down, back and forth, on and off, loud and clear, high and low, ' +
      'low and high, old and young, big and small, mortar and pestle, bow and arrow, ' +
      'hammer and nail, ' +
      'hammer and nails, lock and key, fish and chips, bed and breakfast, knife and fork, ' +
      'horse and carriage, horse and cart, thunder and lightning, washer and dryer, ' +
      'nuts and bolts, ' +
      'cup and saucer, pots and pans, pen and paper, pen and pencil, call and response, ' +
      'stop and go, ' +
      'question and answer, ladies and gentlemen, needle and thread, ball and chain, ' +
      'rise and fall, ' +
      'hide and seek, pinball machine, drop box, off road vehicle, off-road, takeoff, take off, ' +
      'taking off, lights out, cut glass, dropout, strip club, free fall, free jazz, ' +
      'free kick, free throw, free style, freestyle, hands free, hands-free, cut scene, ' +
      'drop out, ' +
      'kill switch, mute button, mute trumpet, off road, without a doubt, no doubt, cutoff, ' +
      'muted trumpet, muted guitar, muted trombone, palm muted guitar, palm mute, ' +
      'palm-muted guitar, ' +
      'free reed, silence of the lambs, grunge and metal, death metal',
  },
}
