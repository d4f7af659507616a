import type { Language } from '../language.ts'

export const pt: Language = {
  name: 'Portuguese',
  englishToo:
    'no, a, o, e, do, as, me, com, mar, par, motor, piano, animal, fogo, pause, ' +
    'mute, menos, som, sons, violino, for, real',
  sounds: {
    vocals:
      'voz principal, vozes principais, voz cantada, voz do cantor, voz da cantora, cantor, ' +
      'cantora, cantores, a capela, à capela, acapela, vocais, vocal, voz da música',
    instrumental:
      'versão instrumental, faixa instrumental, instrumental, acompanhamento, ' +
      'base instrumental, playback, karaokê, instrumentos, faixa de apoio',
    other:
      'o resto, resto, todo o resto, outros sons, os outros sons, todos os outros sons, outros, ' +
      'demais sons, os demais sons, outros ruídos',
    effects: 'efeitos sonoros, efeitos, efeitos de som, efeito sonoro',
    speech:
      'fala, falas, discurso, diálogo, diálogos, conversa, conversas, falar, falando, locutor, ' +
      'locutora, narrador, narração, voz falada, pessoa falando, pessoas falando, apresentador, ' +
      'apresentadora, pessoa, pessoas, gente, alguém, entrevista, orador',
    voice: 'voz, vozes, voz humana, vozes humanas',
    woman:
      'mulher, mulheres, voz de mulher, voz feminina, vozes femininas, senhora, mulher falando, ' +
      'voz da mulher',
    man:
      'homem, homens, voz de homem, voz masculina, vozes masculinas, senhor, homem falando, ' +
      'voz do homem',
    child: 'criança, crianças, voz de criança, vozes de crianças, menino, menina, meninos',
    baby: 'bebê, bebês, bebé, bebés, choro de bebê, bebê chorando, choro de bebé, choro do bebê',
    crowd: 'multidão, multidões, plateia, público, burburinho',
    singing: 'canto, cantar, cantando, cantoria, coro, pessoa cantando',
    whisper: 'sussurro, sussurros, cochicho, sussurrar',
    laughter: 'risada, risadas, riso, risos, gargalhada, gargalhadas',
    scream: 'grito, gritos, berro, berros',
    sneeze: 'espirro, espirros',
    breathing: 'respiração, respirar, respirações',
    eating: 'mastigação, mastigar, comer, mastigando',
    dog:
      'cachorro, cachorros, cão, cães, cachorro latindo, latido de cachorro, ' +
      'cadela, latidos de cachorro',
    'cat meowing': 'gato, gatos, gata, miado, miados, gato miando, gatinho',
    horse: 'cavalo, cavalos, relincho, relinchos, cascos de cavalo',
    'farm animal':
      'animal de fazenda, animais de fazenda, animais da fazenda, vaca, vacas, ovelha, ovelhas, ' +
      'cabra, porco, porcos, gado',
    chicken: 'galinha, galinhas, frango, cacarejo',
    rooster: 'galo, galos, canto do galo',
    'bird chirping':
      'pássaro, pássaros, ave, aves, canto de pássaros, canto dos pássaros, passarinho, ' +
      'passarinhos, chilrear, pio',
    bee: 'abelha, abelhas, zumbido de abelha, zumbido de abelhas',
    crickets: 'grilo, grilos, cigarra, cigarras',
    piano: 'piano, pianos, piano de cauda',
    harpsichord: 'cravo, clavicórdio',
    organ: 'órgão, órgãos, órgão de igreja',
    accordion: 'acordeão, acordeões, sanfona, sanfonas',
    vibraphone: 'vibrafone, xilofone, marimba',
    'acoustic guitar': 'violão, violões, guitarra acústica, violão acústico, guitarra clássica',
    'electric guitar': 'guitarra elétrica, guitarras elétricas, guitarra eléctrica',
    bass: 'baixo, baixos, contrabaixo, baixo elétrico, linha de baixo, baixista',
    banjo: 'banjo',
    sitar: 'sitar, cítara',
    harp: 'harpa, harpas',
    violin: 'violino, violinos',
    cello: 'violoncelo, violoncelos',
    strings: 'cordas, seção de cordas, orquestra de cordas',
    trumpet: 'trompete, trompetes',
    trombone: 'trombone, trombones',
    'french horn': 'trompa, trompas',
    saxophone: 'saxofone, saxofones, sax',
    clarinet: 'clarinete, clarinetes',
    oboe: 'oboé, oboés',
    flute: 'flauta, flautas, flauta transversal, flauta doce',
    bagpipe: 'gaita de foles, gaita de fole, gaitas de foles',
    synth: 'sintetizador, sintetizadores',
    'drum kit': 'kit de bateria, set de bateria',
    'kick drum': 'bumbo, bumbos',
    'snare drum': 'caixa de bateria, caixa da bateria, tarola',
    'hi-hat': 'chimbal, chimbau, hi-hat',
    cymbal: 'prato de bateria, pratos de bateria, címbalo, címbalos, prato da bateria',
    toms: 'toms, tom-tons',
    congas: 'congas, conga, bongôs, bongô',
    tambourine: 'pandeiro, pandeiros, pandeireta',
    timpani: 'tímpanos, tímpano',
    'steel drum': 'tambor de aço, steel drum',
    helicopter: 'helicóptero, helicópteros',
    airplane: 'avião, aviões, aeronave',
    'car engine':
      'motor, motores, motor de carro, motor do carro, carro, carros, trânsito, tráfego, ' +
      'barulho do trânsito, automóvel',
    motorcycle: 'moto, motos, motocicleta, motocicletas, mota',
    'train passing': 'trem, trens, comboio, comboios, ferrovia, trem passando',
    'car horn': 'buzina, buzinas, buzina de carro, buzina do carro, buzinada',
    'train horn': 'apito de trem, apito do trem, buzina de trem, apito do comboio',
    'household appliance':
      'eletrodoméstico, eletrodomésticos, máquina de lavar, lava-louças, micro-ondas, ' +
      'secador de cabelo, liquidificador',
    'vacuum cleaner': 'aspirador, aspiradores, aspirador de pó',
    fan: 'ventilador, ventiladores, ventoinha, ar condicionado, ventoinhas',
    chainsaw: 'motosserra, motosserras, serra elétrica',
    'hand saw': 'serrote, serrotes, serra manual, serra',
    drill: 'furadeira, furadeiras, berbequim',
    'hissing air': 'chiado de ar, ar comprimido',
    clock: 'relógio, relógios, tique-taque, tique-taque do relógio',
    typing:
      'digitação, digitar, teclado de computador, máquina de escrever, digitando, ' +
      'teclado do computador',
    click: 'clique, cliques, clique do mouse, clique de mouse',
    hum: 'zumbido, zumbidos, zumbido elétrico',
    'white noise': 'ruído branco, ruído rosa, chiado, estática',
    noise:
      'ruído, ruídos, barulho, barulhos, ruído de fundo, ruídos de fundo, barulho de fundo, ' +
      'ruído ambiente, som ambiente, som de fundo, sons de fundo, fundo, ambiente, ' +
      'ruído ambiental, barulhos de fundo',
    phone: 'telefone, telefones, toque de telefone, telefone tocando, toque de celular, celular',
    'dial tone': 'tom de discagem, sinal de linha, tom de linha',
    doorbell: 'campainha, campainhas, campainha da porta',
    'church bell': 'sino, sinos, sino de igreja, sinos de igreja, sino da igreja',
    siren: 'sirene, sirenes, sirene da polícia, sirene de polícia, ambulância',
    alarm: 'alarme, alarmes, despertador, alarme de incêndio',
    'referee whistle': 'apito, apitos, apito do árbitro, apito do juiz, apito de árbitro',
    'morse code': 'código morse, morse',
    'video game': 'videogame, videogames, jogo de vídeo, videojogo, videojogos',
    rain: 'chuva, chuvas, chover, som de chuva, barulho de chuva, chovendo',
    sea: 'mar, oceano, ondas, onda, ondas do mar',
    wind: 'vento, ventos, brisa, ventania',
    thunder: 'trovão, trovões, trovoada, trovoadas, tempestade',
    stream: 'riacho, riachos, rio, córrego, água corrente, ribeiro',
    'water dripping':
      "gota d'água, gotas d'água, gotas de água, gota de água, gotejamento, água pingando, " +
      'goteira, pingos de água, pingos',
    splash: 'respingo, respingos, mergulho, salpico',
    bubbles: 'bolha, bolhas, borbulhas',
    'hand clap': 'palma, palmas, bater palmas',
    applause: 'aplauso, aplausos, aplaudir',
    footsteps: 'passo, passos, pegadas, caminhar',
    knock: 'batida na porta, batidas na porta, bater na porta, bater à porta, toc toc',
    door: 'porta, portas, porta batendo',
    creaking: 'rangido, rangidos, porta rangendo, ranger',
    'keys jingling': 'chaves, chave, molho de chaves, tilintar de chaves',
    coins: 'moeda, moedas',
    dishes: 'louça, louças, pratos, talheres',
    chopping: 'cortar legumes, picar legumes, cortar lenha, cortar madeira',
    writing: 'escrita, escrever, lápis, caneta, escrevendo',
    'paper rustling': 'papel, papéis, amassar papel, papel amassado, farfalhar de papel',
    'adhesive tape': 'fita adesiva, durex, fita-cola',
    'bouncing ball': 'bola quicando, bola pulando, bola, bola saltando, basquete',
    'glass breaking':
      'vidro quebrando, vidro quebrado, vidro partido, vidro, quebra de vidro, vidro a partir',
    fire: 'fogo, fogueira, lareira, chamas, incêndio',
    gunshot: 'tiro, tiros, disparo, disparos, tiroteio, pistola',
    explosion: 'explosão, explosões, bomba',
    whistling: 'assobio, assobios, assovio, assobiar, assobiando',
    heartbeat:
      'batimento cardíaco, batimentos cardíacos, batida do coração, coração, ' +
      'batidas do coração',
    music: 'música, músicas, música de fundo, trilha sonora, banda sonora, música ambiente',
    animal: 'animal, animais, sons de animais',
    guitar: 'guitarra, guitarras, guitarrista',
    'keyboard instrument': 'teclado, teclados, instrumento de teclado',
    'bowed instrument': 'instrumento de arco, instrumentos de arco, cordas friccionadas',
    brass: 'metais, instrumentos de metal, sopros de metal',
    woodwind: 'madeiras, instrumentos de sopro de madeira, sopros de madeira',
    drums: 'bateria, baterias, percussão, tambor, tambores, baterista',
    vehicle: 'veículo, veículos, caminhão, caminhões',
    water: 'água, águas, som da água, som de água',
    'clean speech':
      'limpar, limpar o áudio, limpar áudio, limpe o áudio, limpar a voz, limpar a gravação, ' +
      'limpe a gravação, melhorar a voz, melhorar a fala, melhorar o áudio, melhore a voz, ' +
      'redução de ruído, reduzir ruído, reduzir o ruído, remoção de ruído, ' +
      'cancelamento de ruído, supressão de ruído, voz limpa, voz clara, áudio limpo, ' +
      'isolar a voz, remover ruído',
  },
  words: {
    article: 'o, a, os, as, um, uma, uns, umas',
    ignored:
      'por favor, quero, queria, gostaria, pode, poderia, podes, me, dê, dar, dá, ouvir, ' +
      'escutar, extrair, extraia, extrai, separar, separe, separa, preciso, há, tem, este, ' +
      'esta, estes, esse, essa, meu, minha, seu, sua, onde, está, que é, qual, é, são, som, ' +
      'sons, som de, som do, som da, o som de, o som do, o som da, barulho de, barulho do, ' +
      'barulho da, ruído do, ruído da, faixa de, parte, obrigado, obrigada, olá, se, te, obter, ' +
      'isolado, isolada, ter, procuro, completamente, eu, você, favor, outro, outra, ' +
      'mais nenhum, fazer, da faixa',
    without:
      'sem, menos, excluindo, removendo, tirando, livre de, em vez de, em vez do, em vez da, ' +
      'ao invés de, no lugar de, nenhum, nenhuma, zero, sem nenhum, sem nenhuma, sem o, sem a',
    not: 'não, nunca, nem, jamais',
    remove:
      'remova, remover, remove, tire, tirar, tira, elimine, eliminar, elimina, apague, apagar, ' +
      'apaga, retire, retirar, retira, exclua, excluir, exclui, silencie, silenciar, corte, ' +
      'cortar, corta, suprima, suprimir, livre-se, livrar-se, filtre, filtrar, delete, deletar, ' +
      'desligue, desligar, omita, omitir, descarte, descartar, mute, mutar, reduza, reduzir, ' +
      'remoção, eliminação, deixe de fora, deixar de fora, abaixe, abaixar, subtraia, subtrair, ' +
      'desative, desativar, tirem',
    after:
      'removido, removida, removidos, removidas, retirado, retirada, retirados, tirado, tirada, ' +
      'eliminado, eliminada, apagado, apagada, excluído, excluída, silenciado, silenciada, ' +
      'fora, cortado, cortada, remoção, mudo, muda',
    except:
      'exceto, excepto, salvo, fora o, fora a, à exceção de, com exceção de, com exceção do, ' +
      'com exceção da, à exceção da, à exceção do, a não ser, tirando, além de, além do, ' +
      'além da, que não seja, que não sejam',
    but: 'mas, porém, senão',
    keep: 'mantenha, manter, mantém, conserve, conservar, deixe, deixar, deixa, preserve, guarde',
    only:
      'só, somente, apenas, unicamente, isole, isolar, isola, deixe só, deixar só, ' +
      'deixe apenas, exclusivamente, mas só, nada além de, nada além do, nada além da',
    everything:
      'tudo, todos, todas, toda, todo, canção, canções, gravação, áudio, arquivo, ficheiro, ' +
      'mixagem, mistura, faixa, vídeo, todos os sons, qualquer coisa, filme, qualquer som',
    nothing: 'nada, nenhum som, nada mais, ninguém',
    and: 'e, mais, assim como, bem como, junto com, também, ou, e também, tanto, quanto',
    with: 'com, incluindo',
    of: 'de, do, da, dos, das, desta, deste, dessa, a partir de',
    preposition:
      'que, quem, em, no, na, nos, nas, num, numa, em frente ao, em frente à, na frente do, ' +
      'na frente da, diante de, atrás do, atrás da, sobre, sob, perto do, perto da, ao lado do, ' +
      'ao lado da, durante, quando, enquanto, por, para, contra, entre, porque, tocado por, ' +
      'tocada por, ao fundo, ao',
    playing: 'toca, tocando, tocar, tocam',
    whole: 'drum and bass, rock and roll, preto e branco, sal e pimenta',
  },
}
