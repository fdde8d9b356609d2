//! Cubes: which face a direction falls on, and what lies beyond its edges.

/// The face of a direction, and where on it, from 0 to 1. What has no direction falls on the middle of a face.
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

/// How far a direction moves on the cube, of half a side of 2, when something is added to it: along a face and, across an edge, on along the
/// next, unfolded. The third number is of moves to the face on the other side.
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

/// The direction of a place on a face, which may lie beyond its edges.
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

/// The texel at `x`, `y` of a face of `size` texels a side, where one of them lies one texel beyond an edge: that of the neighbouring face.
pub fn beyond(face: u32, x: i64, y: i64, size: u32) -> (u32, [u32; 2]) {
    let place = |i: i64| (i as f32 + 0.5) / size.max(1) as f32;
    let (face, at) = self::face(direction(face, place(x), place(y)));
    (face, at.map(|v| ((v * size as f32) as u32).min(size.saturating_sub(1))))
}
