/* Student's t distribution, and Holm's correction of many tests. */
#ifndef HEED_CLI_SURVEY_STUDENT_H
#define HEED_CLI_SURVEY_STUDENT_H

#include <stddef.h>

/* P(|T| >= |t|) with `degrees` > 0 degrees of freedom: the regularised incomplete beta function
 * I_x(degrees / 2, 1 / 2) of x = degrees / (degrees + t^2). t may be infinite; NaN gives 1. */
double survey_student(double t, double degrees);
/* p [count] becomes Holm's adjusted p (1979): sorted upwards, the largest so far of
 * (count - rank) p, at most 1. order [count] is scratch. */
void survey_holm(double *p, size_t count, size_t *order);

#endif
