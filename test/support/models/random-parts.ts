/** Shapes of the weights that SAM-Audio loads in addition to its own checkpoint, at any size. */
import type { PeConfig } from '../../../models/sam-audio/layers/pe-transformer.ts'
import type { SpanPredictorConfig } from '../../../models/sam-audio/spans/span-predictor.ts'
import type { ModernBertConfig } from '../../../models/sam-audio/text/modern-bert.ts'
import type { T5Config } from '../../../models/sam-audio/text/t5-config.ts'
import { under } from './random-weights.ts'

type Shapes = Record<string, readonly number[]>

const repeated = (path: string, count: number, shapes: (i: number) => Shapes): Shapes =>
  Object.assign(
    {},
    ...Array.from({ length: count }, (_, i) => under(`${path}.${i}`, shapes(i))),
  ) as Shapes

export function t5Shapes(config: T5Config): Shapes {
  const { vocabulary, dim, headDim, heads, hiddenDim, layers, buckets } = config
  const inner = heads * headDim
  return {
    'shared.weight': [vocabulary, dim],
    'encoder.final_layer_norm.weight': [dim],
    'encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight': [buckets, heads],
    ...repeated('encoder.block', layers, () => ({
      'layer.0.layer_norm.weight': [dim],
      'layer.0.SelfAttention.q.weight': [inner, dim],
      'layer.0.SelfAttention.k.weight': [inner, dim],
      'layer.0.SelfAttention.v.weight': [inner, dim],
      'layer.0.SelfAttention.o.weight': [dim, inner],
      'layer.1.layer_norm.weight': [dim],
      'layer.1.DenseReluDense.wi.weight': [hiddenDim, dim],
      'layer.1.DenseReluDense.wo.weight': [dim, hiddenDim],
    })),
  }
}

function modernBertShapes({ vocabulary, dim, hiddenDim, layers }: ModernBertConfig): Shapes {
  return {
    'embeddings.tok_embeddings.weight': [vocabulary, dim],
    'embeddings.norm.weight': [dim],
    'final_norm.weight': [dim],
    ...repeated('layers', layers, (i) => ({
      ...(i > 0 && { 'attn_norm.weight': [dim] }),
      'attn.Wqkv.weight': [3 * dim, dim],
      'attn.Wo.weight': [dim, dim],
      'mlp_norm.weight': [dim],
      'mlp.Wi.weight': [2 * hiddenDim, dim],
      'mlp.Wo.weight': [dim, hiddenDim],
    })),
  }
}

function peShapes({ dim, hiddenDim, layers, heads }: PeConfig): Shapes {
  const patcherBlock: Shapes = {
    'groupnorm.weight': [dim],
    'groupnorm.bias': [dim],
    'project.weight': [dim, dim, 3],
    'project.bias': [dim],
  }
  return {
    'embeddings.cls_token': [1, 1, dim],
    ...under('embeddings.resnet_block.block1', patcherBlock),
    ...under('embeddings.resnet_block.block2', patcherBlock),
    ...repeated('layers', layers, () => ({
      'input_layernorm.weight': [dim],
      'post_attention_layernorm.weight': [dim],
      'self_attn.q_proj.weight': [dim, dim],
      'self_attn.k_proj.weight': [dim, dim],
      'self_attn.v_proj.weight': [dim, dim],
      'self_attn.o_proj.weight': [dim, dim],
      'self_attn.q_norm.weight': [dim / heads],
      'self_attn.k_norm.weight': [dim / heads],
      'mlp.gate_proj.weight': [hiddenDim, dim],
      'mlp.up_proj.weight': [hiddenDim, dim],
      'mlp.down_proj.weight': [dim, hiddenDim],
    })),
    'norm.weight': [dim],
    'output.weight': [dim, dim],
  }
}

export function spanPredictorShapes(config: SpanPredictorConfig): Shapes {
  const { featureDim, audio, text, dim } = config
  const head = (inDim: number): Shapes => ({
    'layer_norm.weight': [inDim],
    'layer_norm.bias': [inDim],
    'proj.weight': [dim, inDim],
  })
  return {
    'audio_model.data_proj.weight': [audio.dim, featureDim],
    'audio_model.data_proj.bias': [audio.dim],
    ...under('audio_model.audio_transformer', peShapes(audio)),
    ...under('text_model', modernBertShapes(text)),
    ...under('audio_head', head(audio.dim)),
    ...under('text_head', head(text.dim)),
    logit_scale: [1],
    logit_bias: [1],
  }
}
