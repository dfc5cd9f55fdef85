/** Questions drawn from a seed, over most fields of workload and plan. */
import { estimate, large, llama, mixtral } from './fixtures.mjs';

/** Mulberry32: the same draws everywhere. */
export function dice(seed) {
    let state = seed;
    const next = () => {
        state = (state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
    return { any: (...choices) => choices[Math.floor(next() * choices.length)], once: (share) => next() < share };
}

/** A question of many fields, some of them impossible together. */
export function draw({ any, once }) {
    const framework = any('megatron', 'megatron', 'deepspeed', 'fsdp1', 'fsdp2', 'ddp');
    const megatron = framework === 'megatron';
    const shares = megatron || framework === 'deepspeed';
    const config = any(llama, mixtral, large);
    const tensor = megatron || framework === 'fsdp2' ? any(1, 1, 2, 4) : 1;
    const pipeline = megatron ? any(1, 2, 4) : 1;
    const zero = { megatron: any(0, 1), deepspeed: any(0, 1, 2, 3), ddp: 0 }[framework] ?? any(2, 3);
    return estimate({
        config,
        workload: {
            framework, attention: null, sequence_length: any(512, 2048), global_batch_size: any(64, 128),
            micro_batch_size: any(1, 2), recompute: any('none', 'full', 'selective'),
            optimizer: any('adamw', 'sgd', 'adafactor', 'muon', 'adamw_8bit'),
            ...once(0.2) && { kind: 'finetuning', adapter: { method: any('lora', 'dora'), rank: 8, base: any('bf16', 'nf4') } },
            ...once(0.2) && { offload: any({ optimizer: 'cpu', ...megatron && once(0.5) && { optimizer_fraction: 0.5 } }, { activations: 'cpu' }) },
            ...once(0.1) && { precision: any('fp8', 'fp16', 'fp32') },
            ...once(0.1) && { cuda_graphs: any('layer', 'full') },
        },
        cluster: { nodes: any(1, 2, 4) },
        parallelism: {
            tensor, pipeline, data: null, sequence: megatron && tensor > 1 && once(0.5), zero_stage: zero,
            expert: shares && config === mixtral ? any(1, 2, 4) : 1, context: shares ? any(1, 1, 2) : 1,
            ...pipeline > 1 && once(0.4) && { schedule: any('gpipe', 'naive', 'zb_h1', 'zb_v') },
            ...once(0.1) && { grad_reduce_dtype: 'bf16' },
            ...once(0.1) && { gradient_sync: 'last' },
        },
    });
}
