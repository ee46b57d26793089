//! Rendezvous hashing: every caller ranks the replicas in an order of its own, which is the same on every server of this program, and
//! in which the others keep their places when a replica comes or goes.

/// The replicas' indexes in the caller's order.
pub(super) fn order<'a>(caller: &str, names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut ranked: Vec<_> = names.enumerate().map(|(index, name)| (weight(caller, name), index)).collect();
    ranked.sort_unstable_by(|one, other| other.cmp(one));
    ranked.into_iter().map(|(_, index)| index).collect()
}

/// FNV-1a of both texts, then the last step of `splitmix64`, because FNV hardly changes the upper bits at the end. Neither may
/// change: servers of several versions run side by side.
fn weight(caller: &str, name: &str) -> u64 {
    let bytes = caller.bytes().chain([0]).chain(name.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash: u64 = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["one:5432", "two:5432", "three:5432"];

    #[test]
    fn spreads_callers_evenly_and_stays_the_same() {
        let mut first = [0; 3];
        for caller in 0..3000 {
            first[order(&format!("user{caller}"), NAMES.into_iter())[0]] += 1;
        }
        assert!(first.iter().all(|count| (900..1100).contains(count)), "{first:?}");
        // Another order would send callers elsewhere while servers of two versions run.
        let shown = ["demo", "ann", "bulk"].map(|caller| order(caller, NAMES.into_iter()));
        assert_eq!(shown, [[2, 0, 1], [0, 2, 1], [2, 1, 0]]);
    }

    #[test]
    fn a_replica_that_is_gone_moves_only_its_own_callers() {
        for caller in 0..1000 {
            let caller = format!("user{caller}");
            let all = order(&caller, NAMES.into_iter());
            let left = order(&caller, NAMES.into_iter().take(2));
            assert_eq!(left, all.into_iter().filter(|index| *index < 2).collect::<Vec<_>>());
        }
    }
}
