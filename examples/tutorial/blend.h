#pragma once

void launch_blend(float *image, const float *layer, int width, int height, float opacity);
