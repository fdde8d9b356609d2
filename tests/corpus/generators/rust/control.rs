//! Enumerations, matches, recursion, and functions whose address is taken.
mod language;
use language::*;

enum Shape {
    Circle(f32),
    Rectangle { width: f32, height: f32 },
    Triangle(f32, f32, f32),
    Nothing,
}
impl Copy for Shape {}

#[inline(never)]
fn area(shape: Shape) -> f32 {
    match shape {
        Shape::Circle(radius) => radius * radius * 3.1415927,
        Shape::Rectangle { width, height } => width * height,
        Shape::Triangle(a, b, c) => {
            let half = (a + b + c) / 2.0;
            sqrtf32(half * (half - a) * (half - b) * (half - c))
        }
        Shape::Nothing => 0.0,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn areas(from: *const f32, to: *mut f32) {
    let i = unsafe { number() };
    let x = unsafe { *at(from as *mut f32, i) };
    let shape = match i % 4 {
        0 => Shape::Circle(x),
        1 => Shape::Rectangle { width: x, height: x + 1.0 },
        2 => Shape::Triangle(x, x, x),
        _ => Shape::Nothing,
    };
    unsafe { *at(to, i) = area(shape) };
}

/// A stack machine: a jump table if the target supports it.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn machine(program: *const u8, length: usize, inputs: *const i32, to: *mut i32) {
    let i = unsafe { number() };
    let mut stack = [0i32; 16];
    let (mut top, mut at_code) = (0usize, 0usize);
    while at_code < length {
        let code = unsafe { *at(program as *mut u8, at_code) };
        at_code += 1;
        match code {
            0 => {
                stack[top] = unsafe { *at(inputs as *mut i32, i) };
                top += 1;
            }
            1 => {
                top -= 1;
                stack[top - 1] = wrapping_add(stack[top - 1], stack[top]);
            }
            2 => {
                top -= 1;
                stack[top - 1] = wrapping_mul(stack[top - 1], stack[top]);
            }
            3 => {
                top -= 1;
                stack[top - 1] = wrapping_sub(stack[top - 1], stack[top]);
            }
            4 => {
                stack[top] = stack[top - 1];
                top += 1;
            }
            5 => stack[top - 1] = -stack[top - 1],
            6 => stack[top - 1] = stack[top - 1] >> 1,
            7 => {
                top -= 1;
                stack[top - 1] = stack[top - 1] / stack[top];
            }
            8 => {
                if stack[top - 1] > 0 {
                    at_code += 1;
                }
            }
            _ => break,
        }
    }
    unsafe { *at(to, i) = stack[0] };
}

fn twice(x: f32) -> f32 {
    x * 2.0
}
fn squared(x: f32) -> f32 {
    x * x
}
fn inverse(x: f32) -> f32 {
    1.0 / x
}
static FUNCTIONS: [fn(f32) -> f32; 3] = [twice, squared, inverse];

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn chosen(which: *const u8, values: *mut f32) {
    let i = unsafe { number() };
    let function = FUNCTIONS[unsafe { *at(which as *mut u8, i) } as usize];
    unsafe { *at(values, i) = function(*at(values, i)) };
}

#[inline(never)]
fn ackermann(m: u32, n: u32) -> u32 {
    if m == 0 {
        n + 1
    } else if n == 0 {
        ackermann(m - 1, 1)
    } else {
        ackermann(m - 1, ackermann(m, n - 1))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn recursive(to: *mut u32) {
    let i = unsafe { number() };
    unsafe { *at(to, i) = ackermann((i % 3) as u32, (i % 5) as u32) };
}
