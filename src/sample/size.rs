//! How much there is of everything, for a number of orders.

/// The numbers of what a sample is made of.
///
/// With 300,000 orders there are 50,000 parties, 200 facilities and 5,000 products. With fewer there are fewer, in the
/// same shares (one party to 6 orders, one facility to 1,500, one product to 60), but never less than makes a sample worth
/// looking at; with more orders there are no more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Orders.
    pub orders: u32,
    /// Customers, people and companies.
    pub parties: u32,
    /// Facilities that hold stock.
    pub facilities: u32,
    /// Products.
    pub products: u32,
    /// Product stores.
    pub stores: u32,
    /// Products that each facility is set up to hold.
    pub assortment: u32,
    /// How many of these are the same in all facilities: the products of the lowest numbers.
    pub core: u32,
}

impl Size {
    /// Of a sample of so many orders.
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

    /// Pairs of a facility and a product that it is set up to hold.
    pub fn pairs(&self) -> u32 {
        self.facilities * self.assortment
    }

    /// What is counted while a sample is written: everything of which there is a number above, the categories together,
    /// and each facility's inventory.
    pub fn things(&self) -> u64 {
        let all = [self.parties, self.facilities, self.stores, 1, self.products, self.orders, self.facilities];
        all.into_iter().map(u64::from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_hundred_thousand_orders_are_the_measure() {
        let Size { parties, facilities, products, .. } = Size::of(300_000);
        assert_eq!((parties, facilities, products), (50_000, 200, 5_000));
        assert_eq!(Size::of(5_000_000), Size { orders: 5_000_000, ..Size::of(300_000) });
        let least = Size::of(1);
        assert!(least.core < least.assortment && least.assortment < least.products, "{least:?}");
    }
}
