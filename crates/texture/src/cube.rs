//! Cubes: the face that a direction points at, and the texels beyond its edges.

/// The face that a direction points at, and the position on it, from 0 to 1. Without a direction, it is the
/// middle of a face.
pub fn face(direction: [f32; 3]) -> (u32, [f32; 2]) {
    let [x, y, z] = if direction.iter().any(|v| v.is_infinite()) { [0.0; 3] } else { direction };
    let size = |v: f32| if v.is_nan() { 0.0 } else { v.abs() };
    let (ax, ay, az) = (size(x), size(y), size(z));
    let (face, major, s, t) = if az >= ax && az >= ay {
        if z >= 0.0 { (4, az, x, -y) } else { (5, az, -x, -y) }
    } else if ay >= ax {
        if y >= 0.0 { (2, ay, x, z) } else { (3, ay, x, -z) }
    } else if x >= 0.0 {
        (0, ax, -z, -y)
    } else {
        (1, ax, z, -y)
    };
    let place = |v: f32| if (v / major).is_nan() { 0.5 } else { v / major * 0.5 + 0.5 };
    (face, [place(s), place(t)])
}

/// The distance, on the unfolded cube and in units of half a side, that a direction moves when something is
/// added to it: along a face and, across an edge, along the next one. The third component is used by moves to
/// the opposite face.
pub fn moved(from: [f32; 3], by: [f32; 3]) -> [f32; 3] {
    let onto = |v: [f64; 3]| {
        let [x, y, z] = v.map(f64::abs);
        let axis = if z >= x && z >= y { 2 } else { usize::from(y >= x) };
        (axis, v.map(|c| c / v[axis].abs()))
    };
    let from = from.map(f64::from);
    let (major, start) = onto(from);
    let (next, end) = onto(std::array::from_fn(|k| from[k] + f64::from(by[k])));
    let mut moved: [f64; 3] = std::array::from_fn(|k| end[k] - start[k]);
    if next != major {
        moved[next] += moved[major].abs().copysign(end[next]);
        moved[major] = 0.0;
    }
    moved.map(|v| v as f32)
}

/// The direction of a position on a face, which may be beyond its edges.
fn direction(face: u32, s: f32, t: f32) -> [f32; 3] {
    let (s, t) = (2.0 * s - 1.0, 2.0 * t - 1.0);
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// The texel at `x`, `y` of a face with `size` texels per side, if one coordinate is one texel beyond an
/// edge: it belongs to the neighbouring face.
pub fn beyond(face: u32, x: i64, y: i64, size: u32) -> (u32, [u32; 2]) {
    let place = |i: i64| (i as f32 + 0.5) / size.max(1) as f32;
    let (face, at) = self::face(direction(face, place(x), place(y)));
    (face, at.map(|v| ((v * size as f32) as u32).min(size.saturating_sub(1))))
}
