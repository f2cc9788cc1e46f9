// Members of structures that accesses index, and accesses that show none.
// PTX: no
#include "cuda.h"

struct P {
    float a[4], b[4];
    __device__ float get(int i) const { return a[i]; }
};
struct Inner { int count; float values[3]; };
struct Q { long number; Inner inner[3]; double last[2]; };
struct Cell { float x, y; };
struct Grid { Cell cells[4]; int rows[2][3]; int end; };
struct Base { int kind[2]; };
struct Derived : Base { float own[2]; int tail; };
struct Message { int length; char text[8]; };
struct Header { int count; float first[1]; };
struct Lanes { float own[2]; union { float words[4]; int numbers[4]; }; int end; };
struct System { int count; P *bodies; };
typedef struct { int keys[4]; int children[5]; } Node;

__device__ P table[8];

__global__ void one(P *p, int i) { p[__nvvm_read_ptx_sreg_tid_x()].a[i] = 1; }
__global__ void method(const P *p, float *out, int i) { *out = p[__nvvm_read_ptx_sreg_tid_x()].get(i); }
__global__ void nested(Q *q, int i, int j) { q[__nvvm_read_ptx_sreg_tid_x()].inner[j].values[i] = 1; }
__global__ void elements(Grid *g, int i) { g->cells[i].y = 1; }
__global__ void rows(Grid *g, int i, int j) { g->rows[i][j] = 1; }
__global__ void inherited(Derived *d, int i) { d[__nvvm_read_ptx_sreg_tid_x()].kind[i] = 1; }
__global__ void by_value(System system, int i) { system.bodies[__nvvm_read_ptx_sreg_tid_x()].b[i] = 1; }
__global__ void unnamed(Node *nodes, int i) { nodes[__nvvm_read_ptx_sreg_tid_x()].children[i] = 1; }
__global__ void constant(P *p) {
#pragma clang diagnostic ignored "-Warray-bounds"
    p->a[5] = 1;
}
__global__ void variable(int i) { table[__nvvm_read_ptx_sreg_tid_x()].b[i] = 1; }
__global__ void shared(float *out, int i) {
    __shared__ P tile[4];
    tile[__nvvm_read_ptx_sreg_tid_x()].a[i] = 1;
    __nvvm_barrier_sync(0);
    out[__nvvm_read_ptx_sreg_tid_x()] = tile[1].b[i];
}
__global__ void walked(P *p, int n, int i) {
    for (P *end = p + n; p != end; ++p) p->a[i] = 1;
}

// CHECK-LABEL: kernel 0 _Z3oneP1Pi
// CHECK: member of site [[#]] from Parameter { parameter: 0, offset: 0 }: p.a is 0 to 16 of P of 32 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Parameter { parameter: 0, offset: 0 }: p.a is 0 to 16 of P of 32 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Parameter { parameter: 0, offset: 0 }: q.inner is 8 to 56 of Q of 72 bytes, q.inner[].values is 4 to 16 of Inner of 16 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Parameter { parameter: 0, offset: 0 }: g.cells is 0 to 32 of Grid of 60 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Parameter { parameter: 0, offset: 0 }: g.rows is 32 to 56 of Grid of 60 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Parameter { parameter: 0, offset: 0 }: d.kind is 0 to 8 of Derived of 20 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Parameter { parameter: 0, offset: 8 }: system.bodies.b is 16 to 32 of P of 32 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Parameter { parameter: 0, offset: 0 }: nodes.children is 16 to 36 of ? of 36 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Parameter { parameter: 0, offset: 0 }: p.a is 0 to 16 of P of 32 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Global(0): table.b is 16 to 32 of P of 32 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Shared(0): tile.a is 0 to 16 of P of 32 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Shared(0): tile.b is 16 to 32 of P of 32 bytes{{$}}
// CHECK-NEXT: member of site [[#]] from Parameter { parameter: 0, offset: 0 }: p.a is 0 to 16 of P of 32 bytes{{$}}
// CHECK-NEXT: structure 0 P: .a[] 0+16, .b[] 16+16
// CHECK-NEXT: structure 1 Q: .number 0+8, .inner[].count 8+4, .inner[].values[] 12+12
// CHECK-NOT: member of site

// The first structure starts at an unknown distance from the pointer.
__global__ void header(char *raw, int i) { ((P *)(raw + 16))[__nvvm_read_ptx_sreg_tid_x()].a[i] = 1; }
__global__ void other(float4 *raw, int i) { ((Inner *)raw)[__nvvm_read_ptx_sreg_tid_x()].values[i] = 1; }
__global__ void linked(P **list, int i) { list[__nvvm_read_ptx_sreg_tid_x()]->a[i] = 1; }
// The member has no fixed size, or the code treats it as another array.
__global__ void flexible(Message *message, int i) { message->text[i] = 1; }
__global__ void trailing(Header *header, int i) { header->first[i] = 1; }
__global__ void pointer(P *p, int i) {
    float *first = p[__nvvm_read_ptx_sreg_tid_x()].a;
    first[i] = 1;
}
__global__ void added(P *p, int i) { *(p->a + i) = 1; }
__global__ void wider(P *p, int i) { *(long *)&p->a[i] = 1; }
__global__ void either(Lanes *lanes, int i) { lanes->words[i] = 1; }
__global__ void one_of_two(P *p, P *q, int i) { (i > 2 ? p : q)->a[i] = 1; }
