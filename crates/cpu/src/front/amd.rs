//! AMD code objects.

use gcn::isa::Decoder;
use gcn::object::Kernel;
use gcn::{CodeObject, Error};

use super::{Checked, ErrorKind, Finding, Frontend, LoadError, Place};
use crate::program::Rules;

/// An AMD code object: a bare ELF file.
#[derive(Clone, Copy, Debug)]
pub struct AmdObject<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// The file.
    pub bytes: &'a [u8],
}

impl AmdObject<'_> {
    fn finding(&self, place: Place, message: String) -> Finding {
        let rendered = match place {
            Place::Address(address) => {
                format!("error: {message}\n --> {}, address {address:#x}\n", self.name)
            }
            _ => format!("error: {message}\n --> {}\n", self.name),
        };
        Finding { message, place, colored: rendered.clone(), rendered }
    }

    fn error(&self, kind: ErrorKind, findings: Vec<Finding>) -> LoadError {
        let line = |f: &Finding| match f.place {
            Place::Address(address) => {
                format!("{}, address {address:#x}; error   : {}\n", self.name, f.message)
            }
            _ => format!("{}; error   : {}\n", self.name, f.message),
        };
        let log = findings.iter().map(line).collect();
        let rendered = findings.iter().map(|f| f.rendered.as_str()).collect();
        LoadError { kind, log, findings, rendered }
    }

    /// The first word of a kernel's code that is no instruction.
    fn undecodable(object: &CodeObject, kernel: &Kernel) -> Option<(u64, String)> {
        let target = object.target.target;
        let Some(decoder) = Decoder::new(target, kernel.descriptor.wave_size()) else {
            return Some((kernel.entry, format!("the instructions of {} are not known", target.name)));
        };
        let code = object.code(kernel)?;
        let mut at = 0;
        while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
            let address = kernel.entry.wrapping_add(at as u64);
            match decoder.decode(rest, address) {
                Ok(inst) => at += usize::from(inst.size).max(4),
                Err(refusal) => return Some((address, refusal.to_string())),
            }
        }
        None
    }
}

impl Frontend for AmdObject<'_> {
    fn size(&self) -> usize {
        self.bytes.len()
    }

    fn may_have_kernels(&self) -> bool {
        true
    }

    fn digest(&self, _rules: &Rules) -> [u8; 32] {
        *blake3::hash(self.bytes).as_bytes()
    }

    fn check(&self, _rules: &Rules, _threads: usize) -> Result<Checked, LoadError> {
        let object = CodeObject::read(self.bytes).map_err(|error| {
            let kind = match error {
                Error::Foreign(_) | Error::Malformed { .. } => ErrorKind::Syntax,
                Error::Unsupported(_) => ErrorKind::Unsupported,
            };
            self.error(kind, vec![self.finding(Place::Module, error.to_string())])
        })?;
        let wrong = |kernel: &Kernel| {
            let (address, reason) = AmdObject::undecodable(&object, kernel)?;
            Some(self.finding(Place::Address(address), format!("kernel `{}`: {reason}", kernel.name)))
        };
        let wrong: Vec<Finding> = object.kernels.iter().filter_map(wrong).collect();
        if !wrong.is_empty() {
            return Err(self.error(ErrorKind::Unsupported, wrong));
        }
        let refused = |kernel: &Kernel| {
            let message = format!(
                "kernel `{}` for {}: lowering of AMD code is not there yet",
                kernel.name, object.target.target.name
            );
            self.finding(Place::Address(kernel.entry), message)
        };
        let mut refused: Vec<Finding> = object.kernels.iter().map(refused).collect();
        if refused.is_empty() {
            refused.push(self.finding(Place::Module, "lowering of AMD code is not there yet".to_owned()));
        }
        Err(self.error(ErrorKind::Unsupported, refused))
    }
}
