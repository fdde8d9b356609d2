//! Blocks, barriers and forward progress, with kernels written in Rust.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};

use grid::{Config, FaultKind, Workers};
use support::{
    AtBarriers, Blocks, Sweeps, TestHost, WARPS, Warps, barrier, block, lanes, launch, pools, run, shared,
    sync,
};
use wave::abi::{Needs, Stop};
use wave::op::BarMode;

#[test]
fn every_block_runs_once() {
    for workers in pools() {
        for grid in [[1u32, 1, 1], [7, 1, 1], [3, 5, 2], [1000, 3, 1]] {
            let total: u32 = grid.iter().product();
            let seen: Vec<AtomicU32> = (0..total).map(|_| AtomicU32::new(0)).collect();
            let place = |id: [u32; 3]| (id[0] + grid[0] * (id[1] + grid[1] * id[2])) as usize;
            let whole = Blocks(|b: &wave::abi::BlockCtx| {
                assert_eq!((b.nctaid, b.ntid, b.grid_id), (grid, [40, 1, 1], 7));
                assert!(b.smid < b.nsmid);
                assert_eq!((b.shared_dynamic, b.shared_total), (3072, 4096));
                assert_eq!(b.shared as usize % 256, 0);
                seen[place(b.ctaid)].fetch_add(1, SeqCst);
                Stop::Done
            });
            let warps = Warps(|w: &mut wave::abi::WarpCtx| {
                assert_eq!(w.live, lanes(w));
                assert_eq!(w.frame as usize % 64, 0);
                seen[place(block(w).ctaid)].fetch_add(1, SeqCst);
                Stop::Done
            });
            let host = TestHost::default();
            let mut shape = launch(&whole, &host, 1, 40);
            shape.grid = grid;
            assert_eq!(workers.run_counted(&shape).unwrap().blocks, u64::from(total));
            assert!(seen.iter().all(|n| n.swap(0, SeqCst) == 1));
            shape.code = &warps;
            workers.run(&shape).unwrap();
            // 40 threads are two warps.
            assert!(seen.iter().all(|n| n.swap(0, SeqCst) == 2));
            let at_barriers = AtBarriers(|w: &mut wave::abi::WarpCtx| {
                seen[place(block(w).ctaid)].fetch_add(1, SeqCst);
                w.resume += 1;
                if w.resume < 3 { sync(w) } else { Stop::Done }
            });
            shape.code = &at_barriers;
            assert_eq!(workers.run_counted(&shape).unwrap().blocks, u64::from(total));
            // Two warps, each before and between two barriers and after them.
            assert!(seen.iter().all(|n| n.load(SeqCst) == 6));
        }
    }
}

#[test]
fn compiled_code_goes_on_with_the_next_blocks() {
    for workers in pools() {
        for grid in [[1u32, 1, 1], [9, 1, 1], [5, 7, 3]] {
            let total: u32 = grid.iter().product();
            let [seen, parted] = [0, 1].map(|_| (0..total).map(|_| AtomicU32::new(0)).collect::<Vec<_>>());
            let place = |id: [u32; 3]| (id[0] + grid[0] * (id[1] + grid[1] * id[2])) as usize;
            // In some blocks the warps do not stay together, such as in the first and the last one.
            let parts = |n: usize| n.is_multiple_of(4) || n % 7 == 5 || n + 1 == total as usize;
            let code = Sweeps(
                |b: &wave::abi::BlockCtx| {
                    seen[place(b.ctaid)].fetch_add(1, SeqCst);
                    parts(place(b.ctaid))
                },
                |w: &wave::abi::WarpCtx| {
                    assert_eq!((w.index, w.resume, w.live), (0, 1, lanes(w)));
                    parted[place(block(w).ctaid)].fetch_add(1, SeqCst);
                },
            );
            let host = TestHost::default();
            let mut shape = launch(&code, &host, 1, 64);
            shape.grid = grid;
            assert_eq!(workers.run_counted(&shape).unwrap().blocks, u64::from(total));
            for n in 0..total as usize {
                assert_eq!(seen[n].load(SeqCst), 1, "block {n} of {grid:?}");
                assert_eq!(parted[n].load(SeqCst), u32::from(parts(n)), "block {n} of {grid:?}");
            }
        }
    }
}

#[test]
fn block_barriers_order_the_warps() {
    // Each warp repeatedly adds its number to its neighbour's slot.
    let code = Warps(|w: &mut wave::abi::WarpCtx| {
        let (me, count, step) = (w.index as usize, 8usize, w.resume);
        w.resume += 1;
        let slot = |n: usize, phase: u32| n + if phase.is_multiple_of(2) { 0 } else { count };
        if step == 0 {
            *shared(w, slot(me, 0)) = w.index;
        } else {
            let from = *shared(w, slot((me + 1) % count, step - 1));
            *shared(w, slot(me, step)) = from;
        }
        if step < 16 {
            return sync(w);
        }
        // 16 steps around 8 warps lead back to the own slot.
        assert_eq!(*shared(w, slot(me, 16)), w.index);
        Stop::Done
    });
    for workers in pools() {
        run(&workers, &code, 300, 256).unwrap();
    }
}

#[test]
fn warps_that_leave_are_not_waited_for() {
    // Half of the warps exit at each barrier, until the last one is alone.
    let ends = AtomicU32::new(0);
    let code = Warps(|w: &mut wave::abi::WarpCtx| {
        if w.index >= 32 >> w.resume {
            ends.fetch_add(1, SeqCst);
            return Stop::Done;
        }
        *shared(w, 0) += 1;
        w.resume += 1;
        if w.resume == 7 { Stop::Done } else { sync(w) }
    });
    for workers in pools() {
        ends.store(0, SeqCst);
        run(&workers, &code, 64, 1024).unwrap();
        assert_eq!(ends.load(SeqCst), 64 * 32);
    }
}

#[test]
fn lanes_that_leave_are_not_waited_for() {
    let opened = AtomicU32::new(0);
    let code = Warps(|w: &mut wave::abi::WarpCtx| match w.resume {
        0 if w.index == 0 => {
            // The lower half waits; then the upper half exits.
            w.resume = 1;
            barrier(w, 0, 0, BarMode::Sync);
            w.bar_lanes = 0xffff;
            Stop::Barrier
        }
        0 => {
            w.resume = 2;
            sync(w)
        }
        1 => {
            assert_eq!(w.waiting, 0xffff);
            w.live = 0xffff;
            w.resume = 2;
            Stop::Yield
        }
        _ => {
            assert_eq!(w.waiting, 0);
            opened.fetch_add(1, SeqCst);
            Stop::Done
        }
    });
    for workers in pools() {
        run(&workers, &code, 20, 64).unwrap();
    }
    assert_eq!(opened.load(SeqCst), 3 * 20 * 2);
}

#[test]
fn reductions_reach_every_warp() {
    for mode in [BarMode::RedPopc, BarMode::RedAnd, BarMode::RedOr] {
        for set in [0u32, 1, 40, 100] {
            // The first `set` threads of 100 pass true. So do lanes that do not exist, which must not count.
            let code = Warps(move |w: &mut wave::abi::WarpCtx| {
                if w.resume == 0 {
                    w.resume = 1;
                    let missing = !lanes(w);
                    w.bar_preds = (0..32).filter(|l| w.index * 32 + l < set).fold(missing, |m, l| m | 1 << l);
                    return barrier(w, 3, 0, mode);
                }
                let expect = match mode {
                    BarMode::RedPopc => set,
                    BarMode::RedAnd => u32::from(set == 100),
                    _ => u32::from(set != 0),
                };
                assert_eq!(w.bar_result[3], expect, "{mode:?} {set}");
                Stop::Done
            });
            for workers in pools() {
                run(&workers, &code, 10, 100).unwrap();
            }
        }
    }
}

#[test]
fn producers_and_consumers() {
    // Warp 0 writes and arrives; warp 1 waits and reads; a second barrier signals that the slot is empty.
    // Warp 2 does not take part.
    let sum = AtomicU64::new(0);
    let code = Warps(|w: &mut wave::abi::WarpCtx| {
        const ROUNDS: u32 = 20;
        if w.index == 2 || w.resume == 2 * ROUNDS {
            return Stop::Done;
        }
        let step = w.resume;
        w.resume += 1;
        match (w.index, step % 2) {
            (0, 0) => {
                *shared(w, 0) = step / 2;
                barrier(w, 1, 64, BarMode::Arrive)
            }
            (0, _) => barrier(w, 2, 64, BarMode::Sync),
            (1, 0) => barrier(w, 1, 64, BarMode::Sync),
            (_, _) => {
                assert_eq!(*shared(w, 0), step / 2);
                sum.fetch_add(u64::from(step / 2), SeqCst);
                barrier(w, 2, 64, BarMode::Arrive)
            }
        }
    });
    for workers in pools() {
        sum.store(0, SeqCst);
        run(&workers, &code, 9, 96).unwrap();
        assert_eq!(sum.load(SeqCst), 9 * 190);
    }
}

#[test]
fn a_barrier_that_cannot_open_is_a_fault() {
    let count = Warps(|w: &mut wave::abi::WarpCtx| {
        w.line = 42;
        barrier(w, 1, 96, BarMode::Sync)
    });
    let crossed = Warps(|w: &mut wave::abi::WarpCtx| barrier(w, w.index, 64, BarMode::Sync));
    for workers in pools() {
        let fault = run(&workers, &count, 3, 64).unwrap_err();
        assert_eq!((fault.kind, fault.line), (FaultKind::Deadlock, Some(42)));
        assert_eq!(
            fault.detail,
            "barrier 1 waits for 96 threads, 64 have arrived; \
             warp 0 lanes 0xffffffff wait at line 42, warp 1 lanes 0xffffffff wait at line 42"
        );
        let fault = run(&workers, &crossed, 1, 64).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Deadlock);
        // The pool still works.
        run(&workers, &Warps(|_: &mut wave::abi::WarpCtx| Stop::Done), 8, 64).unwrap();
    }
}

#[test]
fn a_spinning_warp_lets_the_others_run() {
    // Warp 0 waits for a flag that the last warp sets after a barrier with warp 1 only.
    let code = Warps(|w: &mut wave::abi::WarpCtx| match (w.index, w.resume) {
        (0, _) => match *shared(w, 0) {
            1 => Stop::Done,
            _ => Stop::Yield,
        },
        (_, 0) => {
            *shared(w, 0) = 0;
            w.resume = 1;
            barrier(w, 1, 64, BarMode::Sync)
        }
        _ => {
            *shared(w, 0) = 1;
            Stop::Done
        }
    });
    for workers in pools() {
        run(&workers, &code, 50, 96).unwrap();
    }
}

#[test]
fn blocks_may_wait_for_earlier_and_later_ones() {
    for workers in pools() {
        // Each block waits for the flag of the next one, so all must be resident.
        let flags: Vec<AtomicBool> = (0..41).map(|_| AtomicBool::new(false)).collect();
        flags[40].store(true, SeqCst);
        let chain = Warps(|w: &mut wave::abi::WarpCtx| {
            let me = block(w).ctaid[0] as usize;
            if flags[me + 1].load(SeqCst) {
                flags[me].store(true, SeqCst);
                return Stop::Done;
            }
            Stop::Yield
        });
        run(&workers, &chain, 40, 32).unwrap();
        assert!(flags[0].load(SeqCst));
        // Look-back: each block waits for the previous one.
        let sums: Vec<AtomicU32> = (0..500).map(|_| AtomicU32::new(0)).collect();
        let scan = Warps(|w: &mut wave::abi::WarpCtx| {
            let me = block(w).ctaid[0];
            let before = if me == 0 { 1 } else { sums[me as usize - 1].load(SeqCst) };
            if before == 0 {
                return Stop::Yield;
            }
            sums[me as usize].store(before + me, SeqCst);
            Stop::Done
        });
        run(&workers, &scan, 500, 32).unwrap();
        assert_eq!(sums[499].load(SeqCst), 1 + 499 * 500 / 2);
    }
}

#[test]
fn blocks_that_wait_take_turns_in_proportion_to_their_number() {
    let turns = |grid: u32, cooperative: bool| {
        let count = AtomicU64::new(0);
        let flags: Vec<AtomicBool> = (0..=grid).map(|_| AtomicBool::new(false)).collect();
        flags[grid as usize].store(true, SeqCst);
        let code = Warps(|w: &mut wave::abi::WarpCtx| {
            count.fetch_add(1, SeqCst);
            let me = block(w).ctaid[0] as usize;
            if flags[me + 1].load(SeqCst) {
                flags[me].store(true, SeqCst);
                return Stop::Done;
            }
            Stop::Yield
        });
        let host = TestHost::default();
        let mut launch = launch(&code, &host, grid, 32);
        launch.cooperative = cooperative;
        Workers::new(1).run(&launch).unwrap();
        count.load(SeqCst)
    };
    for cooperative in [false, true] {
        let (few, many) = (turns(64, cooperative), turns(1024, cooperative));
        assert!(many < 24 * few, "64 blocks: {few} turns, 1024 blocks: {many}");
    }
}

#[test]
fn cooperative_grids_meet_at_grid_barriers() {
    const GRID: u32 = 60;
    for workers in pools() {
        let arrived = AtomicU32::new(0);
        let here = Mutex::new(HashSet::new());
        // A block barrier and a grid barrier, three times; the warps of a block wait for warp 0.
        let code = Warps(|w: &mut wave::abi::WarpCtx| {
            let (round, part) = (w.resume / 4, w.resume % 4);
            if round == 3 {
                return Stop::Done;
            }
            match part {
                0 => {
                    w.resume += 1;
                    sync(w)
                }
                1 => {
                    w.resume += 1;
                    if w.index == 0 {
                        here.lock().unwrap().insert((round, block(w).ctaid[0]));
                        arrived.fetch_add(1, SeqCst);
                    }
                    Stop::Yield
                }
                2 => {
                    if w.index == 0 && arrived.load(SeqCst) < (round + 1) * GRID {
                        w.sleep = 100;
                        return Stop::Yield;
                    }
                    w.resume += 1;
                    sync(w)
                }
                _ => {
                    assert_eq!(here.lock().unwrap().iter().filter(|h| h.0 == round).count(), GRID as usize);
                    w.resume += 1;
                    sync(w)
                }
            }
        });
        let host = TestHost::default();
        let mut shape = launch(&code, &host, GRID, 64);
        shape.cooperative = true;
        workers.run(&shape).unwrap();
        assert_eq!(arrived.load(SeqCst), 3 * GRID);
    }
}

#[test]
fn frames_are_begun_and_ended_in_pairs() {
    struct Counted {
        begun: AtomicU32,
        ended: AtomicU32,
        fails: bool,
    }
    impl wave::abi::Code for Counted {
        fn needs(&self) -> &Needs {
            const { &Needs { frame: 128, local: 0, ..WARPS } }
        }
        unsafe fn begin_warp(&self, warp: &mut wave::abi::WarpCtx) {
            // SAFETY: the frame has 128 bytes.
            unsafe { warp.frame.cast::<u32>().write(warp.index + 1) };
            self.begun.fetch_add(1, SeqCst);
        }
        unsafe fn end_warp(&self, warp: &mut wave::abi::WarpCtx) {
            // SAFETY: see above; nothing else writes there.
            assert_eq!(unsafe { warp.frame.cast::<u32>().read() }, warp.index + 1);
            self.ended.fetch_add(1, SeqCst);
        }
        unsafe fn resume(&self, warp: &mut wave::abi::WarpCtx) -> Stop {
            warp.resume += 1;
            match warp.resume {
                1 => sync(warp),
                2 => Stop::Yield,
                _ if self.fails && warp.index == 2 => Stop::Fault,
                _ => Stop::Done,
            }
        }
        unsafe fn run_blocks(&self, _: &mut wave::abi::BlockCtx, _: u64) -> Stop {
            Stop::Fault
        }
    }
    for workers in pools() {
        for fails in [false, true] {
            let code = Counted { begun: AtomicU32::new(0), ended: AtomicU32::new(0), fails };
            let result = run(&workers, &code, 30, 160);
            assert_eq!(result.is_err(), fails);
            let begun = code.begun.load(SeqCst);
            assert_eq!(code.ended.load(SeqCst), begun);
            assert!(if fails { begun >= 5 } else { begun == 150 });
        }
    }
}

#[test]
fn deterministic_runs_go_in_order() {
    let order = Mutex::new(Vec::new());
    let code = Blocks(|b: &wave::abi::BlockCtx| {
        // SAFETY: it is the block's shared memory.
        let first = unsafe { b.shared.cast::<u32>().read() };
        assert_eq!(first, 0xa5a5_a5a5);
        // SAFETY: see above.
        unsafe { b.shared.cast::<u32>().write(1) };
        order.lock().unwrap().push(b.ctaid[0]);
        Stop::Done
    });
    let workers = Workers::with(Config { workers: 4, deterministic: true, ..Config::new() });
    run(&workers, &code, 100, 32).unwrap();
    assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>());
}

#[test]
fn several_threads_launch_at_the_same_time() {
    let workers = Workers::new(3);
    let total = AtomicU64::new(0);
    let code = Warps(|w: &mut wave::abi::WarpCtx| {
        total.fetch_add(1, SeqCst);
        w.resume += 1;
        if w.resume == 3 { Stop::Done } else { sync(w) }
    });
    std::thread::scope(|s| {
        for _ in 0..6 {
            s.spawn(|| {
                for grid in 1..60 {
                    run(&workers, &code, grid, 64).unwrap();
                }
            });
        }
    });
    assert_eq!(total.load(SeqCst), 6 * 6 * (1..60).sum::<u64>());
}

/// Launches that share workers run on no more of them at a time, all together. One that finds none waits.
#[test]
fn launches_share_workers() {
    let workers = Workers::new(6);
    for most in [1, 2, 4] {
        let (now, peak, runs) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
        let code = Blocks(|_: &wave::abi::BlockCtx| {
            peak.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
            std::thread::sleep(std::time::Duration::from_micros(200));
            now.fetch_sub(1, SeqCst);
            runs.fetch_add(1, SeqCst);
            Stop::Done
        });
        let busy = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let host = TestHost::default();
                    let mut shape = launch(&code, &host, 8, 32);
                    (shape.most_workers, shape.busy) = (Some(most), Some(&busy));
                    for _ in 0..4 {
                        workers.run(&shape).unwrap();
                    }
                });
            }
        });
        assert_eq!((runs.load(SeqCst), busy.load(SeqCst)), (3 * 4 * 8, 0));
        assert!(peak.load(SeqCst) <= most, "{} of {most}", peak.load(SeqCst));
    }
}

/// A launch that others of its share wait for runs, though they have all its workers.
#[test]
fn a_launch_that_others_of_its_share_wait_for_runs() {
    let workers = Workers::new(3);
    let (busy, come) = (AtomicU32::new(0), AtomicU32::new(0));
    let code = Blocks(|_: &wave::abi::BlockCtx| {
        come.fetch_add(1, SeqCst);
        while come.load(SeqCst) < 2 {
            std::thread::yield_now();
        }
        Stop::Done
    });
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let host = TestHost::default();
                let mut shape = launch(&code, &host, 1, 32);
                (shape.most_workers, shape.busy) = (Some(1), Some(&busy));
                workers.run(&shape).unwrap();
            });
        }
    });
    assert_eq!((come.load(SeqCst), busy.load(SeqCst)), (2, 0));
}

/// A launch with fewer workers than the pool has runs on no more of them at a time.
#[test]
fn a_launch_runs_on_no_more_workers_than_it_may() {
    let workers = Workers::new(6);
    for most in [1, 2, 3, 6, 100] {
        for grid in [1, 64] {
            let (now, peak, runs) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
            let code = Blocks(|_: &wave::abi::BlockCtx| {
                peak.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                std::thread::sleep(std::time::Duration::from_micros(200));
                now.fetch_sub(1, SeqCst);
                runs.fetch_add(1, SeqCst);
                Stop::Done
            });
            let host = TestHost::default();
            let mut shape = launch(&code, &host, grid, 32);
            shape.most_workers = Some(most);
            workers.run(&shape).unwrap();
            assert_eq!(runs.load(SeqCst), grid);
            assert!(peak.load(SeqCst) <= most.min(6), "{} of {most}", peak.load(SeqCst));
        }
    }
}

#[test]
fn impossible_shapes_are_refused() {
    let code = Blocks(|_: &wave::abi::BlockCtx| Stop::Done);
    let workers = Workers::new(1);
    for (grid, block) in [(0, 32), (1, 0), (1, 1025)] {
        assert_eq!(run(&workers, &code, grid, block).unwrap_err().kind, FaultKind::InvalidLaunch);
    }
}
