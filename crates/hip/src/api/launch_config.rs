//! Launches with a configuration and attributes, and how many clusters fit.

use std::sync::Arc;

use capi::types::{LaunchAttribute, LaunchConfig};
use driver::cluster;
use driver::launch::Config;
use driver::module::Function;

use crate::abi::{In, Out};
use crate::current::{self, Handle};
use crate::types::StubConfig;
use crate::{Error, Result, api};

use super::function::of_host;
use super::launch::{Launch, driver_stream, launched, stream_of, stub};

/// `hipLaunchAttributeID`: those that HIP implements.
mod attribute {
    pub const IGNORE: u32 = 0;
    pub const COOPERATIVE: u32 = 2;
    pub const CLUSTER_DIMENSION: u32 = 4;
}

/// What a launch's attributes ask for.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    cooperative: bool,
    cluster: Option<[u32; 3]>,
}

/// Reads attributes. As in HIP, those that only tune hardware are invalid values.
fn attributes(list: In<LaunchAttribute>, count: u32) -> Result<Asked> {
    let mut asked = Asked::default();
    for i in 0..count as usize {
        let LaunchAttribute { id, value, .. } = list.at(i)?;
        let [first, second, ..] = value;
        match id {
            attribute::IGNORE => {}
            attribute::COOPERATIVE => asked.cooperative = first as u32 != 0,
            attribute::CLUSTER_DIMENSION => {
                let size = [first as u32, (first >> 32) as u32, second as u32];
                if size.contains(&0) {
                    return Err(Error::InvalidConfiguration);
                }
                asked.cluster = Some(size);
            }
            _ => {
                capi::named_once("a launch attribute other than cooperative and clusterDimension");
                return Err(Error::InvalidValue);
            }
        }
    }
    Ok(asked)
}

/// A host stub's kernel and a launch of it, for a query.
fn asked_of(host: u64, config: In<StubConfig>) -> Result<(Arc<Function>, Config)> {
    let config = config.get()?;
    let function = of_host(host)?;
    let asked = attributes(config.attributes, config.attribute_count)?;
    let shape = Config {
        grid: config.grid,
        block: config.block,
        dynamic_shared: u32::try_from(config.shared).map_err(|_| Error::InvalidValue)?,
        cooperative: asked.cooperative,
        cluster: asked.cluster,
        preferred_cluster: None,
    };
    Ok((function, shape))
}

api! {
    Context Appends fn hipLaunchKernelExC(config: In<StubConfig>, host: u64, params: In<u64>) {
        if host == 0 {
            return Err(Error::InvalidDeviceFunction);
        }
        let config = config.get().map_err(|_| Error::InvalidConfiguration)?;
        let stream = stream_of(config.stream, false)?;
        let Asked { cooperative, cluster } = attributes(config.attributes, config.attribute_count)?;
        let function = stub(host, &stream)?;
        let launch = Launch::of_grid(config.grid, config.block, config.shared as u64, params);
        if launch.too_large() {
            return Err(Error::InvalidConfiguration);
        }
        launch.with(cooperative, cluster).go(&function, &stream)
    }

    Object Appends fn hipDrvLaunchKernelEx(
        config: In<LaunchConfig>, handle: Handle, params: In<u64>, extra: In<u64>,
    ) {
        if handle == 0 {
            return Err(Error::InvalidHandle);
        }
        let config = config.get()?;
        current::stream(config.stream, false)?;
        let stream = driver_stream(config.stream)?;
        let launch = Launch::of_grid(config.grid, config.block, u64::from(config.shared), params);
        if launch.too_large() {
            return Err(Error::InvalidConfiguration);
        }
        let Asked { cooperative, cluster } = attributes(config.attributes, config.attribute_count)?;
        let function = launched(handle)?;
        launch.with(cooperative, cluster).with_buffer(extra).go(&function, &stream)
    }

    Context Legal fn hipOccupancyMaxPotentialClusterSize(
        out: Out<i32>, host: u64, config: In<StubConfig>,
    ) {
        out.required()?;
        let (function, config) = asked_of(host, config)?;
        out.set(cluster::max_potential_size(&function, &config)? as i32);
        Ok(())
    }

    Context Legal fn hipOccupancyMaxActiveClusters(out: Out<i32>, host: u64, config: In<StubConfig>) {
        out.required()?;
        let (function, config) = asked_of(host, config)?;
        out.set(cluster::max_active(&function, &config)? as i32);
        Ok(())
    }
}
