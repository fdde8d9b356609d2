//! Kernel nodes that kernels update (`CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE`).
//!
//! A graph with such nodes has one executable graph at most, which shares them with it. What kernels change
//! is kept here and laid over the node whenever it runs, until the host changes the node.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use crate::device::attribute;
use crate::error::{Error, Result};
use crate::handle::{Handle, lock};
use crate::launch::Prepared;

/// The number of the attribute.
pub const ATTRIBUTE: u32 = 13;

/// All such nodes, by handle.
static NODES: Mutex<BTreeMap<Handle, Weak<Updatable>>> = Mutex::new(BTreeMap::new());

/// A node that kernels update.
#[derive(Debug)]
pub struct Updatable {
    /// The handle that kernels use.
    pub handle: Handle,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The ordinal of the device.
    device: u32,
    /// The most blocks in each direction, and of which number they are multiples.
    most: [u64; 3],
    cluster: [u32; 3],
    enabled: Option<bool>,
    grid: Option<[u32; 3]>,
    /// Of each byte of the parameters, its value if a kernel has set it.
    params: Vec<Option<u8>>,
    is_set: bool,
}

/// The node of a handle, for a kernel of a device.
///
/// # Errors
/// [`Error::InvalidValue`]: there is none on this device.
pub fn get(handle: Handle, device: u32) -> Result<Arc<Updatable>> {
    let node = lock(&NODES).get(&handle).and_then(Weak::upgrade);
    node.filter(|node| lock(&node.state).device == device).ok_or(Error::InvalidValue)
}

impl Drop for Updatable {
    fn drop(&mut self) {
        lock(&NODES).remove(&self.handle);
    }
}

impl Updatable {
    /// A node that begins with this launch.
    pub fn new(launch: &Prepared) -> Arc<Updatable> {
        let node = Arc::new_cyclic(|me: &Weak<Updatable>| Updatable {
            handle: me.as_ptr().addr() as Handle,
            state: Mutex::default(),
        });
        node.reset(launch);
        lock(&NODES).insert(node.handle, Arc::downgrade(&node));
        node
    }

    /// The value of the node's attribute.
    pub fn attribute(&self) -> [u64; 8] {
        [1, self.handle, 0, 0, 0, 0, 0, 0]
    }

    /// Forgets what kernels have set, but for [`Updatable::enable`]: the host sets a launch.
    pub(super) fn reset(&self, launch: &Prepared) {
        let device = launch.function().device();
        let mut state = lock(&self.state);
        state.device = device.ordinal;
        state.most = attribute::MAX_GRID_DIM.map(|number| device.known(number));
        state.cluster = launch.config().cluster.unwrap_or([1; 3]);
        state.grid = None;
        state.is_set = false;
        state.params = vec![None; launch.params().bytes().len()];
    }

    /// Forgets that a kernel has enabled or disabled the node: the host does.
    pub(super) fn reset_enabled(&self) {
        lock(&self.state).enabled = None;
    }

    /// Enables or disables the node.
    pub fn enable(&self, enabled: bool) {
        lock(&self.state).enabled = Some(enabled);
    }

    /// Sets the grid's size.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: a size that a launch cannot have.
    pub fn set_grid(&self, grid: [u32; 3]) -> Result<()> {
        let mut state = lock(&self.state);
        let is_legal = (0..3usize).all(|axis| {
            let blocks = grid[axis];
            blocks != 0 && u64::from(blocks) <= state.most[axis] && blocks.is_multiple_of(state.cluster[axis])
        });
        if !is_legal {
            return Err(Error::InvalidValue);
        }
        state.grid = Some(grid);
        Ok(())
    }

    /// Whether the parameters have this many bytes at an offset.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: they end before.
    pub fn check_range(&self, offset: u64, size: u64) -> Result<()> {
        let end = offset.checked_add(size);
        let room = lock(&self.state).params.len() as u64;
        if end.is_some_and(|end| end <= room) { Ok(()) } else { Err(Error::InvalidValue) }
    }

    /// Sets bytes of the parameters.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: the parameters end before the last of them.
    pub fn set_params(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check_range(offset, bytes.len() as u64)?;
        let mut state = lock(&self.state);
        let range = offset as usize..offset as usize + bytes.len();
        let to = state.params.get_mut(range).ok_or(Error::InvalidValue)?;
        to.iter_mut().zip(bytes).for_each(|(to, from)| *to = Some(*from));
        state.is_set = true;
        Ok(())
    }

    /// Whether the node runs, and the launch if it is not the given one.
    pub(super) fn apply(&self, launch: &Prepared, enabled: bool) -> (bool, Option<Prepared>) {
        let state = lock(&self.state);
        let enabled = state.enabled.unwrap_or(enabled);
        if !enabled || !state.is_set && state.grid.is_none() {
            return (enabled, None);
        }
        let mut launch = launch.clone();
        let set = |bytes: &mut [u8]| {
            for (to, from) in bytes.iter_mut().zip(&state.params) {
                *to = from.unwrap_or(*to);
            }
        };
        launch.change(state.grid, set);
        (true, Some(launch))
    }
}
