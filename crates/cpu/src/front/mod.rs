//! Front ends: from a module's code to wave IR.
//!
//! The backend knows the kinds of code through [`Frontend`] alone. `ptx` is the only module of this crate
//! that knows PTX, and `amd` the only one that knows AMD's code objects.

mod amd;
mod amd_device;
mod keep;
mod ptx;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use driver::backend::{Code, Input};
use wave::verify::Each;
use wave::{FuncId, Module};

use crate::printed::Formats;
use crate::rules::Checks;

pub use self::amd::{AmdObject, Kept};
pub use self::amd_device::{AmdDevice, amd_target};
pub use self::ptx::{Source, Texts};

/// The kind of error that a module has, on which a driver's result code depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The code is not of its format.
    Syntax,
    /// The code breaks a rule of its language or of the device.
    Semantic,
    /// A version that is newer than the supported ones.
    UnsupportedVersion,
    /// A symbol that nothing defines.
    Unresolved,
    /// A symbol that is defined more than once.
    Duplicate,
    /// Valid code that is not supported.
    Unsupported,
    /// Valid code that is not for this device.
    BeyondDevice,
}

/// A position in a module's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The module as a whole.
    Module,
    /// A line of a text, from 1.
    Line(u32),
    /// An address in a code object.
    Address(u64),
}

/// What is wrong with a module's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The error in one line, without a final full stop.
    pub message: String,
    /// Where it is.
    pub place: Place,
    /// For a terminal, with the source line if there is one.
    pub rendered: String,
    /// The same with colours.
    pub colored: String,
}

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The kind of the first finding.
    pub kind: ErrorKind,
    /// The JIT's log, one line per finding.
    pub log: String,
    /// The findings, all from one input; none if a rule of the device was broken, which only the log reports.
    pub findings: Vec<Finding>,
    /// The findings for a terminal.
    pub rendered: String,
}

impl LoadError {
    /// For a rule of the device that a module breaks, in the words of NVIDIA's log and in ours.
    pub(crate) fn of_device(message: String, rendered: String) -> LoadError {
        LoadError {
            kind: ErrorKind::BeyondDevice,
            log: format!("ptxas {message}\n"),
            findings: Vec::new(),
            rendered,
        }
    }
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.log)
    }
}

impl std::error::Error for LoadError {}

/// The wave IR of a module.
pub enum Lowered {
    /// Everything is lowered.
    Whole(Module),
    /// Checked completely; functions are lowered on demand.
    Later(Box<dyn Later>),
}

impl Lowered {
    /// The module's declarations.
    pub fn heads(&self) -> &Module {
        match self {
            Lowered::Whole(module) => module,
            Lowered::Later(later) => later.heads(),
        }
    }
}

/// A checked module whose functions are lowered on demand. The results are modules with the same function
/// numbers, in which only some functions have code. An error is a bug in the front end: the messages.
pub trait Later: Send + Sync {
    /// The module without code: its functions are declarations.
    fn heads(&self) -> &Module;

    /// The module with every function that a kernel may reach.
    fn reached_from(&self, kernel: FuncId, each: Each) -> Result<Module, Vec<String>>;

    /// The module with all functions.
    fn whole(&self, each: Each) -> Result<Module, Vec<String>>;

    /// The module with the functions at this line or address, as in [`wave::Loc::line`].
    fn at(&self, line: u32) -> Result<Module, Vec<String>>;

    /// Bytes of code of a function; 0 if it is only declared.
    fn size_of(&self, function: FuncId) -> usize;
}

/// What a front end makes of a module's code.
pub struct Checked {
    /// The IR.
    pub lowered: Lowered,
    /// The number of the architecture that each kernel was compiled for, such as 52 for sm_52.
    pub targets: HashMap<FuncId, u32>,
    /// Kernels that cannot run although their module loads, with the reason.
    pub refused: HashMap<FuncId, String>,
    /// Variables that the host can look up by name, beside those of the IR.
    pub variables: Vec<Variable>,
    /// The calls of `printf` whose output the kernels leave in a buffer.
    pub formats: Formats,
    /// The code object, if the lines of the IR are addresses in one.
    pub object: Option<Arc<Kept>>,
}

impl Checked {
    /// Code whose kernels all run, and whose variables are those of the IR.
    fn of(lowered: Lowered, targets: HashMap<FuncId, u32>) -> Checked {
        let (refused, variables, formats) = Default::default();
        Checked { lowered, targets, refused, variables, formats, object: None }
    }
}

/// A variable in the module's image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its offset in the image.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is in constant memory.
    pub constant: bool,
}

/// The code of one module, as its front end sees it.
pub trait Frontend: Sync {
    /// Bytes of code, by which the work is shared out over threads.
    fn size(&self) -> usize;

    /// Whether the module seems to have kernels, judged without reading all of it.
    fn may_have_kernels(&self) -> bool;

    /// The digest of the code. With [`Meaning`](crate::rules::Meaning) it decides the IR, and both are in the
    /// names of cached objects.
    fn digest(&self) -> [u8; 32];

    /// Parses, checks and links the code, and lowers it or prepares to lower it on demand. `threads` may work
    /// on it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    fn check(&self, checks: &Checks<'_>, threads: usize) -> Result<Checked, LoadError>;

    /// Saves the code in a folder for the user, if the folder is meant for its kind (`ANYWARP_KEEP_PTX`).
    fn keep(&self, folder: &Path) {
        let _ = folder;
    }
}

/// The front end for the inputs of one module.
///
/// # Errors
/// Inputs that cannot be linked together, or that their front end refuses at sight.
pub(crate) fn of<'a>(inputs: &[Input<'a>]) -> Result<Box<dyn Frontend + 'a>, LoadError> {
    let object = inputs.iter().find_map(|input| match input.code {
        Code::AmdObject(bytes) => Some(AmdObject { name: input.name, bytes }),
        Code::Ptx(_) => None,
    });
    match object {
        Some(object) if inputs.len() == 1 => Ok(Box::new(object)),
        Some(object) => Err(unsupported(format!(
            "{}: an AMD code object is linked already and cannot be linked with other code",
            object.name
        ))),
        None => Ok(Box::new(Texts::of(inputs)?)),
    }
}

/// An error without a position, for valid code that is not supported.
fn unsupported(message: String) -> LoadError {
    LoadError {
        kind: ErrorKind::Unsupported,
        log: format!("error   : {message}\n"),
        findings: Vec::new(),
        rendered: message,
    }
}
