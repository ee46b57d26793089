//! The numbers of a sample's entities, derived from the number of orders.

/// The numbers of a sample's entities.
///
/// For 300,000 orders: 50,000 parties, 200 facilities and 5,000 products. For fewer orders they shrink in proportion (one
/// party per 6 orders, one facility per 1,500, one product per 60) down to a useful minimum. For more orders they stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleSize {
    /// The number of orders. The other numbers are derived from it.
    pub orders: u32,
    /// Customers: persons and companies.
    pub parties: u32,
    /// Facilities with stock.
    pub facilities: u32,
    /// The products of all categories.
    pub products: u32,
    /// Product stores.
    pub stores: u32,
    /// Products in each facility's assortment.
    pub(crate) assortment: u32,
    /// Products that are in the assortment of all facilities: the products with the lowest numbers.
    pub core: u32,
}

impl SampleSize {
    /// The size of a sample with this number of orders.
    pub fn of(orders: u32) -> Self {
        let products = (orders / 60).clamp(250, 5_000);
        let assortment = products / 10 + 25;
        Self {
            orders,
            parties: (orders / 6).clamp(200, 50_000),
            facilities: (orders / 1_500).clamp(20, 200),
            products,
            stores: 12,
            assortment,
            core: assortment / 3,
        }
    }

    /// The number of pairs of a facility and a product of its assortment.
    pub(crate) fn pairs(&self) -> u32 {
        self.facilities * self.assortment
    }

    /// The number of entities that the progress counts: all of the above, all categories as one, and each facility's
    /// inventory.
    pub(crate) fn entities(&self) -> u64 {
        let all = [self.parties, self.facilities, self.stores, 1, self.products, self.orders, self.facilities];
        all.into_iter().map(u64::from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_shrink_and_grow_with_the_orders_within_bounds() {
        let SampleSize { parties, facilities, products, .. } = SampleSize::of(300_000);
        assert_eq!((parties, facilities, products), (50_000, 200, 5_000));
        assert_eq!(SampleSize::of(5_000_000), SampleSize { orders: 5_000_000, ..SampleSize::of(300_000) });
        let smallest = SampleSize::of(1);
        assert!(smallest.core < smallest.assortment && smallest.assortment < smallest.products, "{smallest:?}");
    }
}
