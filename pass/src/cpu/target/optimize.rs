//! Runs LLVM's optimiser on lowered code.

use crate::llvm::{Machine, MachineError, ModuleItems, Value};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;

/// Simplifies control flow and keeps the form that loop passes require.
const SIMPLIFY: &str = "simplifycfg<bonus-inst-threshold=1;no-forward-switch-cond;switch-range-to-icmp;\
                        no-switch-to-lookup;keep-loops;no-hoist-common-insts;no-sink-common-insts;speculate-blocks;\
                        simplify-cond-branch>";

/// The same passes for the time after the loop passes.
const FINISH: &str = "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;\
                      no-keep-loops;hoist-common-insts;sink-common-insts;speculate-blocks;simplify-cond-branch>";

/// Combines instructions. The pass inspects constant vectors lane by lane, so one run takes an eighth of the time of
/// `default<O2>`.
const COMBINE: &str = "instcombine<max-iterations=1;no-verify-fixpoint>";

/// The number of instructions of a function from which on some passes are omitted. These passes take a large part of
/// the optimiser's time and find hardly anything in such functions: combining (half of the time for the code of a
/// Triton kernel with 512 accesses, whose size does not change without it), and passes for loop counters and single
/// bits (two fifths of the remaining time).
const LARGE: usize = 10_000;

/// Returns LLVM 22's `default<O2>` without the passes that lowered code does not need (vectorisers, unrolling,
/// coroutines, OpenMP), and with two of its eight runs of combining, the first and the last, because the others find
/// hardly anything. `lower-expect` creates the branch weights.
fn pipeline(large: bool) -> String {
    let combine = if large { "instsimplify" } else { COMBINE };
    let values = if large { "" } else { ",correlated-propagation" };
    let counters = if large { "" } else { ",loop(loop-idiom,indvars,loop-deletion)" };
    let bits = if large { "" } else { ",bdce" };
    let deletion = if large { "" } else { ",loop-deletion" };
    let carried = if large { "" } else { ",loop-load-elim" };
    let early = format!("lower-expect,{SIMPLIFY},sroa<modify-cfg>,early-cse<>");
    let first = format!("mem2reg,{combine},{SIMPLIFY}");
    let scalars = format!(
        "sroa<modify-cfg>,early-cse<memssa>,jump-threading{values},{SIMPLIFY},aggressive-instcombine,\
         tailcallelim,{SIMPLIFY},reassociate,constraint-elimination"
    );
    let loops = format!(
        "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,\
         loop-rotate<header-duplication;no-prepare-for-lto>,licm<allowspeculation>,\
         simple-loop-unswitch<no-nontrivial;trivial>),{SIMPLIFY}{counters}"
    );
    let redundant = format!(
        "sroa<modify-cfg>,vector-combine,mldst-motion<no-split-footer-bb>,gvn<>,sccp{bits},jump-threading{values},\
         adce,memcpyopt,dse,loop-mssa(licm<allowspeculation>),{SIMPLIFY},instsimplify"
    );
    let late = format!(
        "drop-unnecessary-assumes,float2int,lower-constant-intrinsics,\
         loop(loop-rotate<header-duplication;no-prepare-for-lto>{deletion}),infer-alignment{carried},{FINISH},\
         vector-combine,sroa<preserve-cfg>,infer-alignment,{combine},loop-mssa(licm<allowspeculation>),loop-sink,\
         instsimplify,div-rem-pairs,tailcallelim,{SIMPLIFY}"
    );
    format!(
        "inferattrs,function<eager-inv>({early}),ipsccp,called-value-propagation,globalopt,function<eager-inv>({first}),\
         require<globals-aa>,function(invalidate<aa>),require<profile-summary>,\
         cgscc(devirt<4>(inline,function-attrs<skip-non-recursive-function-attrs>,\
         function<eager-inv;no-rerun>({scalars},{loops},{redundant}),function-attrs)),\
         deadargelim,globalopt,globaldce,rpo-function-attrs,recompute-globalsaa,function<eager-inv>({late}),\
         globaldce,constmerge"
    )
}

/// Optimises a lowered module, or a part of it, for a host processor as in [`crate::cpu::Options::processor`].
pub fn optimize(module: &Module<'_>, processor: &str) -> Result<(), MachineError> {
    run(module, &Machine::host(processor)?)
}

/// Returns the passes that reduce the run time of code that is generated without optimisation. They keep values in
/// registers, remove repeated tests and loads, and move invariants out of loops. Value numbering and the elimination of
/// dead stores changed nothing for a tiled matrix product.
fn hooked_pipeline() -> String {
    format!(
        "function<eager-inv>(lower-expect,sroa<modify-cfg>,early-cse<memssa>,{SIMPLIFY},\
         loop-mssa(licm<allowspeculation>),adce,{FINISH}),globaldce"
    )
}

/// Optimises a part of a lowered module whose functions write records.
pub fn optimize_hooked(module: &Module<'_>, processor: &str) -> Result<(), MachineError> {
    Machine::host(processor)?.run_with(module, &hooked_pipeline(), PassBuilderOptions::create())
}

/// Makes LLVM determine the effects of functions on memory and on their arguments, because callers in other parts of
/// the module cannot see them.
pub fn infer_attributes(module: &Module<'_>, processor: &str) -> Result<(), MachineError> {
    Machine::host(processor)?.run(module, "cgscc(function-attrs)")
}

pub(crate) fn run(module: &Module<'_>, machine: &Machine) -> Result<(), MachineError> {
    let size =
        |function: Value<'_>| function.blocks().into_iter().map(|block| block.instructions().len()).sum::<usize>();
    let large = module.functions().into_iter().any(|function| size(function) > LARGE);
    machine.run_with(module, &pipeline(large), PassBuilderOptions::create())
}
