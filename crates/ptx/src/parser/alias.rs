//! `.alias a, b;`: another name of a function (PTX ISA 10.3.5). The rules and their messages are those of
//! ptxas, as it was asked.

use super::{Parsed, Parser};
use crate::ast::{Directive, FuncId, Function, FunctionDirective, Linkage, Parameter};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::types::{ScalarType, Version};

/// The first version of PTX that has it.
const SINCE: Version = Version::new(6, 3);

impl Parser<'_> {
    pub(super) fn alias(&mut self, start: u32) -> Parsed<()> {
        self.bump();
        let alias = self.function_name()?;
        self.expect(b',')?;
        let aliasee = self.function_name()?;
        self.expect(b';')?;
        let span = self.since(start);
        let problems = self.problems_of_alias(alias, aliasee);
        let right = problems.is_empty();
        for message in problems {
            let diagnostic = Diagnostic::error(ErrorKind::Semantic, span, message);
            self.report(diagnostic.label("not a legal alias"));
        }
        if right {
            self.module.to_mut().directives.push(Directive::Alias { alias, aliasee, span });
        }
        Ok(())
    }

    fn problems_of_alias(&self, alias: FuncId, aliasee: FuncId) -> Vec<String> {
        let functions = &self.module.functions;
        let (Some(from), Some(to)) = (functions.get(alias.index()), functions.get(aliasee.index())) else {
            return Vec::new();
        };
        let known = self.module.directives.iter().find_map(|directive| match directive {
            Directive::Alias { alias: a, aliasee, .. } if *a == alias => functions.get(aliasee.index()),
            _ => None,
        });
        let mut all = Vec::new();
        if self.module.version < SINCE {
            all.push(format!("Feature '.alias' requires PTX ISA .version {SINCE} or later"));
        }
        if alias == aliasee {
            all.push("Cannot alias a function to itself".to_owned());
        } else if let Some(old) = known {
            all.push(format!("'{}' is already aliased to '{}' and cannot be redefined", from.name, old.name));
        } else if let Some(entry) = [from, to].into_iter().find(|f| f.is_entry) {
            all.push(format!("Cannot define alias to entry function '{}'", entry.name));
        } else if from.body.is_some() {
            all.push(format!("Illegal redefinition of function '{}' as alias", from.name));
        } else {
            let pair = format!("alias '{}' and aliasee '{}'", from.name, to.name);
            let mismatch = |what| format!("Mismatch in prototype of {pair}. {what} differ(s)");
            all.extend(differences(from, to).map(mismatch));
            let scope = match to.linkage {
                Linkage::Extern => Some(".extern"),
                Linkage::Weak => Some(".weak"),
                _ => None,
            };
            all.extend(scope.map(|s| format!("Function '{}' with {s} scope cannot be aliased", to.name)));
        }
        all
    }
}

/// In what the heads of two functions differ, each once.
fn differences(a: &Function, b: &Function) -> impl Iterator<Item = &'static str> {
    let formals = |f: &Function| f.params.iter().chain(&f.returns).map(|p| formal(f, *p)).collect::<Vec<_>>();
    let same_counts = a.params.len() == b.params.len() && a.returns.len() == b.returns.len();
    let pairs: Vec<(Formal, Formal)> = match same_counts {
        true => formals(a).into_iter().zip(formals(b)).collect(),
        false => Vec::new(),
    };
    let no_return = |f: &Function| f.directives.contains(&FunctionDirective::NoReturn);
    [
        ("parameter state space", pairs.iter().any(|(a, b)| a.register != b.register)),
        ("parameter types", pairs.iter().any(|(a, b)| a.ty != b.ty)),
        ("parameter alignment", pairs.iter().any(|(a, b)| a.align != b.align)),
        ("number of parameters", !same_counts),
        (".noreturn directive", no_return(a) != no_return(b)),
    ]
    .into_iter()
    .filter_map(|(what, differs)| differs.then_some(what))
}

/// What counts of a parameter.
struct Formal {
    register: bool,
    /// Type, elements of a vector, and bytes.
    ty: Option<(ScalarType, u8, u64)>,
    align: u32,
}

fn formal(f: &Function, parameter: Parameter) -> Formal {
    match parameter {
        Parameter::Reg(id) => {
            let register = f.regs().get(id.index()).or_else(|| f.head.regs.get(id.index()));
            let ty = register.map(|r| (r.ty, r.vector, u64::from(r.ty.size_bytes()) * u64::from(r.vector)));
            Formal { register: true, ty, align: register.map_or(0, |r| r.ty.size_bytes()) }
        }
        Parameter::Var(id) => {
            let variable = f.vars().get(id.index()).or_else(|| f.head.vars.get(id.index()));
            let ty = variable.map(|v| (v.ty, v.vector, v.size_bytes()));
            Formal { register: false, ty, align: variable.map_or(0, |v| v.alignment()) }
        }
    }
}
