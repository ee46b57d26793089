use orderql::*;
fn main() {
    let c = catalog::Catalog::built_in().unwrap();
    let q = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let r = query::Request { query: q, ..Default::default() };
    match compile::explain(&c, &r, &Default::default()) {
        Ok(e) => {
            println!("{:#?}\n{:?} depth {}", e.cost.len(), e.estimate, e.depth);
            if let Some(r) = e.refusals {
                println!("{r}")
            }
            for s in &e.plan.steps {
                println!("--\n{}\n{:?} {:?}", s.sql, s.parameters, s.parents)
            }
            println!("{:?}", e.plan.shape.ops.len());
        }
        Err(e) => println!("{e}"),
    }
}
