// The tables and views that are served, their relations, and fields that are not columns.

import { TYPES } from "postgraphile/@dataplan/pg";
import { lambda } from "postgraphile/grafast";
import { addPgTableCondition, addPgTableOrderBy, extendSchema, pgSmartTags } from "postgraphile/utils";
import { sql } from "postgraphile/pg-sql2";

// The keys of views, which the database does not have, and the names of relations.
const SERVED = {
  "public.order_header": { name: "order" },
  "public.order_item": {
    foreignKey:
      "(order_id, ship_group_seq_id) references orderql.ship_group (order_id, ship_group_seq_id)|@foreignFieldName orderItems",
  },
  "public.shipment_method_type": {},
  "orderql.ship_group": {
    name: "ship_group",
    primaryKey: "order_id,ship_group_seq_id",
    foreignKey: [
      "(order_id) references public.order_header (order_id)|@foreignFieldName shipGroups",
      "(facility_id) references orderql.facility_origin_address (facility_id)|@fieldName shipFromAddress",
      "(shipment_method_type_id) references public.shipment_method_type (shipment_method_type_id)|@fieldName shippingMethod",
    ],
  },
  "orderql.facility_origin_address": { name: "facility_origin_address", primaryKey: "facility_id" },
  "orderql.bill_to_customer": {
    name: "bill_to_customer",
    primaryKey: "order_id",
    foreignKey: "(order_id) references public.order_header (order_id)|@foreignSingleFieldName billToCustomer",
  },
};

// Columns whose names are used for other fields.
const RENAMED = {
  "public.order_header.currency_uom": "currency_uom_id",
  "orderql.ship_group.may_split": "may_split_letter",
  "orderql.ship_group.is_gift": "is_gift_letter",
};

const nameOf = (relation) => `${relation.getNamespace()?.nspname}.${relation.relname}`;

export const RelationsPlugin = pgSmartTags([
  { kind: "class", match: (relation) => !(nameOf(relation) in SERVED), tags: { behavior: "-*" } },
  { kind: "procedure", match: () => true, tags: { behavior: "-*" } },
  ...Object.entries(SERVED).map(([name, tags]) => ({ kind: "class", match: name, tags })),
  ...Object.entries(RENAMED).map(([column, name]) => ({ kind: "attribute", match: column, tags: { name } })),
  { kind: "constraint", match: "public.order_item.order_item_hdr", tags: { foreignFieldName: "orderItems" } },
]);

const flag = (letter) => (letter === "Y" ? true : letter === "N" ? false : null);

export const FieldsPlugin = extendSchema({
  typeDefs: /* GraphQL */ `
    extend type Order {
      orderItemCount: Int!
    }
    extend type ShipGroup {
      maySplit: Boolean
      isGift: Boolean
    }
  `,
  objects: {
    Order: {
      plans: {
        orderItemCount: ($order) =>
          $order.select(
            sql`(select count(distinct item.external_id)::int from public.order_item as item where item.order_id = ${$order}.order_id)`,
            TYPES.int,
          ),
      },
    },
    ShipGroup: {
      plans: {
        maySplit: ($group) => lambda($group.get("may_split"), flag, true),
        isGift: ($group) => lambda($group.get("is_gift"), flag, true),
      },
    },
  },
});

// Newest first. Declared as non-null, although dates are nullable, because only then PostGraphile compares a cursor as a row,
// which an index serves (with ORDER_DATE_DESC, rows without a date come again behind every cursor). Rows without a date come
// first, and a cursor cannot be at one of them.
export const NewestPlugin = addPgTableOrderBy({ schemaName: "public", tableName: "order_header" }, () => ({
  NEWEST: {
    extensions: {
      grafast: {
        apply(query) {
          const newest = { direction: "DESC", nullable: false };
          query.orderBy({ fragment: sql`${query.alias}.order_date`, codec: TYPES.timestamptz, ...newest });
          query.orderBy({ fragment: sql`${query.alias}.order_id`, codec: TYPES.varchar, ...newest });
          query.setOrderIsUnique();
        },
      },
    },
  },
}));

export const OrdersBeforePlugin = addPgTableCondition(
  { schemaName: "public", tableName: "order_header" },
  "before",
  (build) => ({
    description: "Orders at or before a date.",
    type: build.getInputTypeForCodec?.(TYPES.timestamptz) ?? build.getTypeByName("Datetime"),
  }),
  (value, { sqlTableAlias, sqlValueWithCodec }) =>
    sql`${sqlTableAlias}.order_date <= ${sqlValueWithCodec(value, TYPES.timestamptz)}`,
);

// Timestamps in UTC with a trailing Z, and without trailing zeros in the fraction. Sessions are in UTC.
export const DatePlugin = {
  name: "DatePlugin",
  version: "0.0.0",
  schema: {
    hooks: {
      GraphQLScalarType(config, build, { scope: { pgCodec } }) {
        if (config.name !== "Datetime") return config;
        return { ...config, serialize: (text) => text.replace(/\.?0*\+00:00$/, "Z") };
      },
    },
  },
};
