//! The metadata of a code object: MessagePack in a note of type `NT_AMDGPU_METADATA` (LLVM's "User Guide for
//! AMDGPU Backend", "Code Object V3 to V6 Metadata").

use rmpv::Value;

use super::Error;

/// Deepest nesting of values; real metadata has five levels.
const MAX_DEPTH: usize = 32;

/// What an argument of a kernel is, and where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argument {
    /// Its name in the source; empty if not recorded.
    pub name: String,
    /// Its type in the source; empty if not recorded.
    pub type_name: String,
    /// Offset in the kernel's arguments.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Its kind: `by_value`, `global_buffer`, `hidden_block_count_x` and others.
    pub kind: String,
    /// Address space of a pointer; empty for other arguments.
    pub address_space: String,
    /// Alignment of the LDS that a `dynamic_shared_pointer` points to.
    pub pointee_align: u32,
}

/// Metadata of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelMetadata {
    /// Its name in the source.
    pub name: String,
    /// Symbol of its descriptor: the name with `.kd`; in version 2 the name.
    pub symbol: String,
    /// Source language; empty if not recorded.
    pub language: String,
    /// Its arguments, hidden ones included.
    pub arguments: Vec<Argument>,
    /// Bytes of its arguments.
    pub kernarg_size: u32,
    /// Alignment of its arguments.
    pub kernarg_align: u32,
    /// Bytes of LDS.
    pub group_size: u32,
    /// Bytes of scratch of a lane.
    pub private_size: u32,
    /// Whether the stack's size is known only when the kernel runs.
    pub dynamic_stack: bool,
    /// Lanes of a wave.
    pub wave_size: u32,
    /// SGPRs used.
    pub sgprs: u32,
    /// VGPRs used.
    pub vgprs: u32,
    /// AGPRs used.
    pub agprs: u32,
    /// Largest number of work-items in a workgroup.
    pub max_workgroup: u32,
    /// Dimensions of the workgroup that the kernel requires.
    pub required_workgroup: Option<[u32; 3]>,
    /// Whether all workgroups of a launch must have the same size.
    pub uniform_workgroup: bool,
    /// What the kernel is: `normal`, `init` or `fini`.
    pub kind: String,
}

/// Metadata of a code object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Version of the metadata: 1.0 for code objects of versions 2 and 3, 1.1 for 4, 1.2 for 5 and 6.
    pub version: (u32, u32),
    /// The target as text. The ELF header decides which it is: compilers write this text in several ways.
    pub target: String,
    /// Descriptions of the calls of `printf` whose output the kernels leave in a buffer: bytes, since formats
    /// may be in any encoding.
    pub printf: Vec<Vec<u8>>,
    /// The kernels.
    pub kernels: Vec<KernelMetadata>,
}

/// A value with its path, for errors.
pub(super) struct Node<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Node<'a> {
    /// The value of a whole file.
    pub(super) fn top(value: &'a Value) -> Node<'a> {
        Node { value, path: TOP.into() }
    }

    pub(super) fn wrong(&self, wanted: &str) -> Error {
        let found = match self.value {
            Value::Nil => "nil",
            Value::Boolean(_) => "a boolean",
            Value::Integer(_) => "an integer out of range",
            Value::F32(_) | Value::F64(_) => "a float",
            Value::String(_) => "a text that is not UTF-8",
            Value::Binary(_) => "binary data",
            Value::Array(_) => "an array",
            Value::Map(_) => "a map",
            Value::Ext(..) => "an extension",
        };
        Error::Malformed {
            place: format!("the metadata, {}", self.path),
            reason: format!("it is {found} instead of {wanted}"),
        }
    }

    /// The value of a map's member with this key.
    fn value(&self, key: &str) -> Result<Option<&'a Value>, Error> {
        let Value::Map(members) = self.value else { return Err(self.wrong("a map")) };
        Ok(members.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, value)| value))
    }

    /// A member's value with its path, which costs more than most values: without an error it is not needed.
    fn member(&self, key: &str, value: &'a Value) -> Node<'a> {
        let path = if self.path == TOP { key.to_owned() } else { format!("{}{key}", self.path) };
        Node { value, path }
    }

    /// The member of a map with this key.
    pub(super) fn get(&self, key: &str) -> Result<Option<Node<'a>>, Error> {
        Ok(self.value(key)?.map(|value| self.member(key, value)))
    }

    pub(super) fn items(&self) -> Result<impl Iterator<Item = Node<'a>> + use<'a>, Error> {
        let Value::Array(items) = self.value else { return Err(self.wrong("an array")) };
        let path = self.path.clone();
        Ok(items.iter().enumerate().map(move |(i, value)| Node { value, path: format!("{path}[{i}]") }))
    }

    pub(super) fn text(&self) -> Result<String, Error> {
        self.value.as_str().map(str::to_owned).ok_or_else(|| self.wrong("a text"))
    }

    pub(super) fn number(&self) -> Result<u32, Error> {
        let number = self.value.as_u64().and_then(|n| u32::try_from(n).ok());
        number.ok_or_else(|| self.wrong("an integer of 32 bits"))
    }

    /// A text in any encoding.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, Error> {
        let text = self.value.as_slice().map(<[u8]>::to_vec);
        text.ok_or_else(|| self.wrong("a text"))
    }

    pub(super) fn text_at(&self, key: &str) -> Result<String, Error> {
        match self.value(key)? {
            None => Ok(String::new()),
            Some(value) => match value.as_str() {
                Some(text) => Ok(text.to_owned()),
                None => self.member(key, value).text(),
            },
        }
    }

    pub(super) fn number_at(&self, key: &str) -> Result<u32, Error> {
        match self.value(key)? {
            None => Ok(0),
            Some(value) => match value.as_u64().and_then(|n| u32::try_from(n).ok()) {
                Some(number) => Ok(number),
                None => self.member(key, value).number(),
            },
        }
    }

    /// A number and a text that must exist.
    fn needed_number(&self, key: &str) -> Result<u32, Error> {
        if self.value(key)?.is_some() { self.number_at(key) } else { self.needed(key)?.number() }
    }

    fn needed_text(&self, key: &str) -> Result<String, Error> {
        if self.value(key)?.is_some() { self.text_at(key) } else { self.needed(key)?.text() }
    }

    /// Booleans are integers in older metadata.
    pub(super) fn flag_at(&self, key: &str) -> Result<bool, Error> {
        self.get(key)?.map_or(Ok(false), |n| match n.value {
            Value::Boolean(flag) => Ok(*flag),
            _ => Ok(n.number()? != 0),
        })
    }

    /// A member that must exist.
    pub(super) fn needed(&self, key: &str) -> Result<Node<'a>, Error> {
        self.get(key)?.ok_or_else(|| Error::Malformed {
            place: format!("the metadata, {}", self.path),
            reason: format!("it has no {key}"),
        })
    }
}

/// Path of the whole metadata.
const TOP: &str = "its top level";

fn argument(node: Node) -> Result<Argument, Error> {
    Ok(Argument {
        name: node.text_at(".name")?,
        type_name: node.text_at(".type_name")?,
        offset: node.needed_number(".offset")?,
        size: node.needed_number(".size")?,
        kind: node.needed_text(".value_kind")?,
        address_space: node.text_at(".address_space")?,
        pointee_align: node.number_at(".pointee_align")?,
    })
}

fn kernel(node: Node) -> Result<KernelMetadata, Error> {
    let arguments = match node.get(".args")? {
        Some(list) => list.items()?.map(argument).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let required = node.get(".reqd_workgroup_size")?.map(|list| {
        let sizes: Vec<u32> = list.items()?.map(|n| n.number()).collect::<Result<_, _>>()?;
        <[u32; 3]>::try_from(sizes).map_err(|_| list.wrong("an array of three integers"))
    });
    Ok(KernelMetadata {
        name: node.needed(".name")?.text()?,
        symbol: node.needed(".symbol")?.text()?,
        language: node.text_at(".language")?,
        arguments,
        kernarg_size: node.number_at(".kernarg_segment_size")?,
        kernarg_align: node.number_at(".kernarg_segment_align")?,
        group_size: node.number_at(".group_segment_fixed_size")?,
        private_size: node.number_at(".private_segment_fixed_size")?,
        dynamic_stack: node.flag_at(".uses_dynamic_stack")?,
        wave_size: node.number_at(".wavefront_size")?,
        sgprs: node.number_at(".sgpr_count")?,
        vgprs: node.number_at(".vgpr_count")?,
        agprs: node.number_at(".agpr_count")?,
        max_workgroup: node.number_at(".max_flat_workgroup_size")?,
        required_workgroup: required.transpose()?,
        uniform_workgroup: node.flag_at(".uniform_work_group_size")?,
        kind: node.text_at(".kind")?,
    })
}

impl Metadata {
    /// Reads the note's contents.
    pub(super) fn read(bytes: &[u8]) -> Result<Metadata, Error> {
        let mut rest = bytes;
        let value = rmpv::decode::read_value_with_max_depth(&mut rest, MAX_DEPTH).map_err(|error| {
            Error::Malformed {
                place: format!("the metadata, byte {:#x}", bytes.len() - rest.len()),
                reason: format!("it is not MessagePack: {error}"),
            }
        })?;
        let top = Node::top(&value);
        let version: Vec<u32> =
            top.needed("amdhsa.version")?.items()?.map(|n| n.number()).collect::<Result<_, _>>()?;
        let &[major, minor] = version.as_slice() else {
            return Err(top.needed("amdhsa.version")?.wrong("an array of two integers"));
        };
        let list = |key: &str| match top.get(key)? {
            Some(node) => node.items()?.map(|n| n.bytes()).collect(),
            None => Ok(Vec::new()),
        };
        let kernels = match top.get("amdhsa.kernels")? {
            Some(node) => node.items()?.map(kernel).collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        Ok(Metadata {
            version: (major, minor),
            target: top.text_at("amdhsa.target")?,
            printf: list("amdhsa.printf")?,
            kernels,
        })
    }
}
