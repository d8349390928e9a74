use tailroom_engine::{scenario::{self,*},simulation::Simulation,topology::*};
struct F; impl FileLoader for F { fn load(&self,_:&str)->Result<String,String>{Err("no".into())} }
#[test] fn x(){ for f in std::env::var("FILES").unwrap().split(' ') { let t=std::fs::read_to_string(f).unwrap();
 let s=scenario::parse(&t,&[],None,&F).unwrap(); let n=s.resolve().unwrap();
 if std::env::var("SHOW").is_ok() { println!("{}", s.to_toml()); continue; }
 let t0=std::time::Instant::now();
 let mut sim=Simulation::new(&n); sim.run_until(n.duration); let r=sim.finish().map(|r|r.summary);
 match r { Ok(sum)=>{ let j=serde_json::to_value(&sum).unwrap(); for (k,l) in j["links"].as_object().unwrap(){ println!("{f} {:.1?} {k} util {} loss {} q {} limit {}",t0.elapsed(),l["utilization"],l["loss_fraction"],l["queue_packets_mean"],l["limit_packets"]);} println!("   warnings {} jain {}",j["warnings"],j["groups"].as_object().unwrap().values().next().unwrap()["jain_index"]);}, Err(e)=>println!("{f} ERR {e}") } } }
