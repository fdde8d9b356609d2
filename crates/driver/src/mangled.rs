//! Kernels' names for messages: what C++ compilers and numba have made of them is unreadable.

use std::borrow::Cow;

/// A mangled name's identifiers without types, such as `space::kernel`, with `<…>` for the arguments of a
/// template; other names as they are.
pub fn readable(name: &str) -> Cow<'_, str> {
    parsed(name).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// An identifier after its length in decimal digits, and what follows.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let length = text[..digits].parse().ok()?;
    text[digits..].split_at_checked(length).filter(|(word, _)| !word.is_empty())
}

/// By the C++ ABI of Itanium: `_Z`, for nested names `N`, then identifiers, each with tags (`B`) and the mark
/// of internal linkage (`L`), and the end of nested names or the arguments of a template.
fn parsed(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("_Z")?;
    let nested = rest.strip_prefix('N');
    rest = nested.unwrap_or(rest);
    let mut words: Vec<&str> = Vec::new();
    loop {
        let unmarked = rest.strip_prefix('L').unwrap_or(rest);
        let Some((word, after)) = identifier(unmarked) else { break };
        words.push(if word.starts_with("_GLOBAL__N_") { "(anonymous namespace)" } else { word });
        rest = after;
        while let Some((_, after)) = rest.strip_prefix('B').and_then(identifier) {
            rest = after;
        }
        if nested.is_none() {
            break;
        }
    }
    let ends = nested.is_none() || rest.starts_with(['E', 'I']);
    let template = if rest.starts_with('I') { "<…>" } else { "" };
    (!words.is_empty() && ends).then(|| words.join("::") + template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_without_types() {
        for (mangled, shown) in [
            ("_Z3farPi", "far"),
            ("_Z7nothing", "nothing"),
            ("_Z3addIfEvPT_S1_i", "add<…>"),
            ("_ZL6hiddenPf", "hidden"),
            ("_ZN5space6kernelEPf", "space::kernel"),
            ("_ZN5space6kernelIiLi4EEEvPT_", "space::kernel<…>"),
            ("_ZN12_GLOBAL__N_16kernelEv", "(anonymous namespace)::kernel"),
            ("_ZN8__main__1kB2v1B4cw51E5ArrayIdLi1E1C7mutable7alignedE", "__main__::k"),
            // Substitutions and lambdas are left alone, and so is what is no such name.
            ("_ZNK1AclEv", "_ZNK1AclEv"),
            ("_ZN1A", "_ZN1A"),
            ("_Z99short", "_Z99short"),
            ("_Z0Pi", "_Z0Pi"),
            ("_Z", "_Z"),
            ("saxpy", "saxpy"),
            ("_Z2ä", "ä"),
            ("_Z1ä", "_Z1ä"),
        ] {
            assert_eq!(readable(mangled), shown);
        }
    }
}
