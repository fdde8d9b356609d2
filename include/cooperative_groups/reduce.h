/* Anywarp: reductions are declared in cooperative_groups.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <cooperative_groups.h>
