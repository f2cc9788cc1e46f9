// An algorithm of Thrust's whose result comes to the host in each call.
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/find.h>

int main() {
    thrust::device_vector<unsigned char> symbols(256);
    long places = 0;
    for (int symbol = 0; symbol < 60; symbol++)
        places += thrust::find(symbols.begin(), symbols.end(), static_cast<unsigned char>(symbol % 3)) - symbols.begin(); // EACH CALL
    std::printf("%ld\n", places);
}
