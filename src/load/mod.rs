//! OFBiz entity-engine XML, streamed into tables.
