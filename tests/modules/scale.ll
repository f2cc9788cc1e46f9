; As Triton hands it over: no triple, no processor, a guard that is an operand, a shared array of dynamic size.
source_filename = "scale"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-p101:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external addrspace(3) global [0 x i8], align 16
@calls = addrspace(1) global i32 7, align 4

define ptx_kernel void @scale(ptr addrspace(1) %x, ptr addrspace(1) %out, i32 %n, float %factor, ptr addrspace(1) %scratch) #0 !dbg !4 {
  %block = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !6
  %first = shl i32 %block, 6, !dbg !6
  %thread = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !6
  %at = or disjoint i32 %first, %thread, !dbg !6
  %inside = icmp slt i32 %at, %n, !dbg !6
  %wide = sext i32 %at to i64, !dbg !6
  %from = getelementptr float, ptr addrspace(1) %x, i64 %wide, !dbg !6
  %to = getelementptr float, ptr addrspace(1) %out, i64 %wide, !dbg !6
  %place = getelementptr float, ptr addrspace(3) @global_smem, i32 %thread, !dbg !6
  %bits = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %from, i1 %inside), !dbg !6
  %value = bitcast i32 %bits to float, !dbg !6
  %product = fmul float %value, %factor, !dbg !7
  store float %product, ptr addrspace(3) %place, align 4, !dbg !7
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !7
  %loaded = load i32, ptr addrspace(3) %place, align 4, !dbg !7
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %loaded, ptr addrspace(1) %to, i1 %inside), !dbg !7
  ret void, !dbg !7
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

attributes #0 = { nounwind "nvvm.reqntid"="64" }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "scale.py", directory: "/nowhere")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!4 = distinct !DISubprogram(name: "scale", linkageName: "scale", scope: !1, file: !1, line: 5, type: !5, scopeLine: 5, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(cc: DW_CC_normal, types: !{})
!6 = !DILocation(line: 8, column: 9, scope: !4)
!7 = !DILocation(line: 9, column: 5, scope: !4)
