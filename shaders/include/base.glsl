// What every shader has: the workgroup's width as specialisation constant 0, and a flat index over
// the grid. Long one-dimensional work is spread over x and y, since a device need not take more
// than 65535 groups along one axis.
#ifndef HEED_BASE_GLSL
#define HEED_BASE_GLSL

#extension GL_EXT_control_flow_attributes : require
#ifdef HEED_SUBGROUP
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;

uint heed_group() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }
uint heed_item() { return heed_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; }

#endif
