//! The trampoline and the signal handler.

use std::arch::global_asm;
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Once;

use wave::abi::Stop;

use super::Signal;
use super::ranges::is_kernel_code;

/// What the trampoline saves; the assembly below knows the offsets.
#[repr(C)]
struct Context {
    /// Stack pointer with the callee-saved registers above it.
    stack: usize,
    /// The signal that came: 0 for none.
    number: i32,
    /// MXCSR at entry, restored at both exits.
    mxcsr: u32,
    address: u64,
}

// `anywarp_enter(function, argument, context)`: saves what a callee must keep, sets the default floating-point environment, calls.
// `anywarp_leave`: where the handler sends a thread; rdi holds the context. Both answer in eax.
global_asm!(
    ".text",
    ".p2align 4",
    ".local anywarp_enter",
    "anywarp_enter:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "push rdx",
    "mov [rdx], rsp",
    "stmxcsr [rdx + 12]",
    "push 0x1f80",
    "ldmxcsr [rsp]",
    "add rsp, 8",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "pop rdx",
    "jmp 2f",
    ".local anywarp_leave",
    "anywarp_leave:",
    "mov rsp, [rdi]",
    "pop rdx",
    "mov eax, 3",
    "2:",
    "ldmxcsr [rdx + 12]",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "cld",
    "ret",
);

unsafe extern "C" {
    fn anywarp_enter(
        function: unsafe extern "C" fn(*mut c_void) -> u32,
        argument: *mut c_void,
        context: *mut Context,
    ) -> u32;
    fn anywarp_leave();
}

thread_local! {
    /// The context of the kernel code that this thread runs; null outside of it.
    static CURRENT: Cell<*mut Context> = const { Cell::new(ptr::null_mut()) };
}

unsafe extern "C" fn call(argument: *mut c_void) -> u32 {
    // SAFETY: `catch` passes a pointer to its closure reference.
    let body = unsafe { &mut *argument.cast::<&mut dyn FnMut() -> Stop>() };
    body() as u32
}

/// Runs `body`, which enters kernel code. A fault in kernel code is an `Err`; the rest of `body` is then not run, so it must own
/// nothing that needs dropping when it calls kernel code.
pub fn catch(body: &mut dyn FnMut() -> Stop) -> Result<Stop, Signal> {
    install();
    let mut context = Context { stack: 0, number: 0, mxcsr: 0, address: 0 };
    let mut body = body;
    let outer = CURRENT.replace(&mut context);
    // SAFETY: `call` gets the closure reference it expects, alive through the call; the context outlives it too.
    let code = unsafe { anywarp_enter(call, ptr::from_mut(&mut body).cast(), &mut context) };
    CURRENT.set(outer);
    // SAFETY: the handler writes the context behind the compiler's back.
    let number = unsafe { ptr::read_volatile(&context.number) };
    if number != 0 { Err(Signal { number, address: context.address }) } else { Ok(Stop::from_code(code)) }
}

/// The signals that kernel code can raise.
const SIGNALS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

static mut PREVIOUS: [MaybeUninit<libc::sigaction>; 4] = [const { MaybeUninit::uninit() }; 4];

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (i, &number) in SIGNALS.iter().enumerate() {
            // SAFETY: a zeroed sigaction is a valid one to fill in; the handler has the signature that SA_SIGINFO asks for; each entry
            // of PREVIOUS is written once, before its handler can run.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
                libc::sigemptyset(&mut action.sa_mask);
                let slot = (&raw mut PREVIOUS).cast::<libc::sigaction>().add(i);
                libc::sigaction(number, ptr::null(), slot);
                libc::sigaction(number, &action, ptr::null_mut());
            }
        }
    });
}

unsafe extern "C" fn handler(number: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let current = CURRENT.get();
    // SAFETY: the kernel gives SA_SIGINFO handlers a valid ucontext, whose registers may be changed.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let at = registers[libc::REG_RIP as usize] as usize;
    if !current.is_null() && is_kernel_code(at) {
        // SAFETY: CURRENT points to the context in the frame of `catch` on this thread, which is still there; siginfo is valid.
        unsafe {
            ptr::write_volatile(&mut (*current).number, number);
            (*current).address = (*info).si_addr() as u64;
        }
        registers[libc::REG_RDI as usize] = current as i64;
        registers[libc::REG_RIP as usize] = anywarp_leave as *const () as i64;
        return;
    }
    // SAFETY: passes the signal on with what the kernel gave us.
    unsafe { pass_on(number, info, context) }
}

/// Does what would have been done without us.
///
/// # Safety
/// To be called from the handler with its own arguments.
unsafe fn pass_on(number: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(i) = SIGNALS.iter().position(|&s| s == number) else { return };
    // SAFETY: `install` has written the entry; handlers of each kind have the signature that their flags say.
    unsafe {
        let previous = (&raw const PREVIOUS).cast::<libc::sigaction>().add(i);
        match (*previous).sa_sigaction {
            libc::SIG_DFL => {
                // The instruction runs again and gets the default treatment.
                libc::sigaction(number, previous, ptr::null_mut());
            }
            libc::SIG_IGN => {}
            address if (*previous).sa_flags & libc::SA_SIGINFO != 0 => {
                let f: unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(address);
                f(number, info, context);
            }
            address => {
                let f: unsafe extern "C" fn(i32) = std::mem::transmute(address);
                f(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of machine code that reads address 8: `mov eax, [8]; ret`.
    fn faulting_code() -> *mut c_void {
        let code = [0x8bu8, 0x04, 0x25, 8, 0, 0, 0, 0xc3];
        // SAFETY: a fresh anonymous page, written before it becomes executable.
        unsafe {
            let page = libc::mmap(
                ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(page, libc::MAP_FAILED);
            ptr::copy_nonoverlapping(code.as_ptr(), page.cast(), code.len());
            assert_eq!(libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_EXEC), 0);
            page
        }
    }

    #[test]
    fn a_fault_in_kernel_code_comes_back_with_its_address() {
        let page = faulting_code();
        assert!(super::super::register_code(page as usize, page as usize + 4096));
        // SAFETY: the page holds a function without arguments.
        let f: unsafe extern "C" fn() -> u32 = unsafe { std::mem::transmute(page) };
        for _ in 0..3 {
            // SAFETY: it faults, and is left.
            let caught = catch(&mut || Stop::from_code(unsafe { f() }));
            assert_eq!(caught, Err(Signal { number: libc::SIGSEGV, address: 8 }));
        }
        assert_eq!(catch(&mut || Stop::Yield), Ok(Stop::Yield));
        super::super::unregister_code(page as usize);
    }
}
