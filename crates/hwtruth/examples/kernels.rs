//! Prints the kernels of a group: `cargo run -p hwtruth --example kernels -- GROUP`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let group = std::env::args().nth(1).ok_or("usage: kernels GROUP")?;
    let forms = hwtruth::instructions::forms()?;
    let (version, target) = hwtruth::instructions::home(&group);
    print!("{}", hwtruth::instructions::module(forms.iter().filter(|f| f.group == group), version, target));
    Ok(())
}
