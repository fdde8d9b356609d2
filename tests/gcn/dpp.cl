// Data of other lanes by DPP: permutations of four, shifts and rotations in rows, mirrors; lanes without data keep
// the old value or read 0; masks of rows and banks.
// run dpp block=64
// c: s32[512] = 0
// expect c[i] = i < 64 ? (i / 4 * 4 + 3 - i % 4) * 10 : i < 128 ? (i % 16 < 14 ? (i - 64 + 2) * 10 : 7) : i < 192 ? (i % 16 >= 3 ? (i - 128 - 3) * 10 : 0) : i < 256 ? ((i - 192) / 16 * 16 + (i + 11) % 16) * 10 : i < 320 ? ((i - 256) / 16 * 16 + 15 - i % 16) * 10 : i < 384 ? ((i - 320) / 8 * 8 + 7 - i % 8) * 10 : i < 448 ? (i / 16 % 2 == 0 && i / 4 % 2 == 1 ? (i - 384) * 10 : 7) : (i % 2 == 1 ? 7 : 0)
__kernel void dpp(__global int *c)
{
    int i = __builtin_amdgcn_workitem_id_x(), x = i * 10;
    c[i] = __builtin_amdgcn_update_dpp(7, x, 0x1b, 0xf, 0xf, false);
    c[64 + i] = __builtin_amdgcn_update_dpp(7, x, 0x102, 0xf, 0xf, false);
    c[128 + i] = __builtin_amdgcn_update_dpp(7, x, 0x113, 0xf, 0xf, true);
    c[192 + i] = __builtin_amdgcn_update_dpp(7, x, 0x125, 0xf, 0xf, false);
    c[256 + i] = __builtin_amdgcn_update_dpp(7, x, 0x140, 0xf, 0xf, false);
    c[320 + i] = __builtin_amdgcn_update_dpp(7, x, 0x141, 0xf, 0xf, false);
    // Rows 0 and 2 of each four, banks 1 and 3. A wave of 32 lanes has two rows.
    c[384 + i] = __builtin_amdgcn_update_dpp(7, x, 0xe4, 0x5, 0xa, false);
    // Lanes that are not active have no data for their neighbours.
    if (i % 2 == 1)
        c[448 + i] = __builtin_amdgcn_update_dpp(7, x, 0xb1, 0xf, 0xf, false);
}
