/** Whole separations against the reference: `golden/separate.safetensors`, `separate_alone.safetensors`. */
import { testStage } from './stages.ts'

testStage('separate')
