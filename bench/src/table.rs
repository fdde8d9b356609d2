//! Measures times, and prints them side by side with ratios.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::cases::Case;
use crate::engine::Engine;

/// The minimum time of several runs in milliseconds: at least `runs` of them, and for at least half a second.
pub fn measure(engine: &mut dyn Engine, runs: u32) -> Result<f64> {
    engine.run()?;
    let mut best = f64::INFINITY;
    let start = Instant::now();
    let mut done = 0;
    while done < runs || (start.elapsed().as_secs_f64() < 0.5 && done < 100) {
        let t = Instant::now();
        engine.run()?;
        best = best.min(t.elapsed().as_secs_f64() * 1e3);
        done += 1;
    }
    Ok(best)
}

/// The minimum times in milliseconds of alternating runs of several engines, so that temporary slowdowns of
/// the machine affect all: at least `runs` of each, and for at least a second.
pub fn measure_in_turn<const N: usize>(engines: &mut [impl Engine; N], runs: u32) -> Result<[f64; N]> {
    for engine in engines.iter_mut() {
        engine.run()?;
    }
    let mut best = [f64::INFINITY; N];
    let start = Instant::now();
    let mut done = 0;
    while done < runs || (start.elapsed().as_secs_f64() < 1.0 && done < 100) {
        for (engine, best) in engines.iter_mut().zip(&mut best) {
            let t = Instant::now();
            engine.run()?;
            *best = best.min(t.elapsed().as_secs_f64() * 1e3);
        }
        done += 1;
    }
    Ok(best)
}

/// Checks that `got` equals the reference `want`: equal words, or sums and elements of floats within the
/// case's relative difference.
pub fn compare(case: &Case, want: &[u32], got: &[u32]) -> Result<()> {
    let tolerance = case.answer.1;
    if want.len() != got.len() {
        bail!("{} words, expected {}", got.len(), want.len());
    }
    if case.ptx == "mandelbrot" {
        let mean = |v: &[u32]| v.iter().map(|&x| f64::from(x)).sum::<f64>() / v.len() as f64;
        let (w, g) = (mean(want), mean(got));
        if ((w - g) / w).abs() > 1e-3 {
            bail!("mean count {g}, expected {w}");
        }
        return Ok(());
    }
    let scale =
        want.iter().map(|&x| f32::from_bits(x).abs()).filter(|x| x.is_finite()).fold(0.0f32, f32::max);
    for (i, (&w, &g)) in want.iter().zip(got).enumerate() {
        let (fw, fg) = (f32::from_bits(w), f32::from_bits(g));
        let right = if tolerance == 0.0 { w == g } else { (fw - fg).abs() <= tolerance * scale };
        if !right {
            bail!("element {i} is {g:#x} ({fg}), expected {w:#x} ({fw})");
        }
    }
    Ok(())
}

/// Milliseconds with three significant digits.
fn figure(ms: f64) -> String {
    match ms {
        m if m >= 100.0 => format!("{m:.0}"),
        m if m >= 10.0 => format!("{m:.1}"),
        m => format!("{m:.2}"),
    }
}

/// A Markdown row: the case, each engine's milliseconds, and the ratios to the first engine.
pub fn row(case: &Case, times: &[Option<f64>]) -> String {
    let mut line = format!("| {} |", case.title);
    for t in times {
        line += &t.map_or(" – |".to_string(), |t| format!(" {} |", figure(t)));
    }
    let ours = times.first().copied().flatten();
    let rest: Vec<f64> = times.iter().skip(1).copied().flatten().collect();
    let best = rest.iter().copied().fold(f64::INFINITY, f64::min);
    match ours {
        Some(ours) if best.is_finite() => line += &format!(" {:.2} |", best / ours),
        _ => line += " – |",
    }
    if let Some(ours) = ours {
        let rate = |x: f64| x / (ours * 1e-3) * 1e-9;
        line += &match (case.bytes > 0.0, case.flops > 0.0) {
            (true, _) => format!(" {:.1} GB/s |", rate(case.bytes)),
            (_, true) => format!(" {:.1} GFLOP/s |", rate(case.flops)),
            _ => " |".to_string(),
        };
    }
    line
}

/// A Markdown row: the case, two times in milliseconds, and the ratio of the second to the first.
pub fn ratio_row(case: &Case, [first, second]: [f64; 2]) -> String {
    format!("| {} | {} | {} | {:.2} |", case.title, figure(first), figure(second), second / first)
}

/// A Markdown row: the case, times in milliseconds, and the speed of each but the first as a part of the
/// first's.
pub fn speed_row(case: &Case, times: &[f64]) -> String {
    let first = times.first().copied().unwrap_or(f64::NAN);
    let figures = times.iter().map(|&ms| format!(" {} |", figure(ms)));
    let speeds = times.iter().skip(1).map(|ms| format!(" {:.2} |", first / ms));
    format!("| {} |{}", case.title, figures.chain(speeds).collect::<String>())
}
