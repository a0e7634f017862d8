extension Batch {
  mutating func removeExpired(in id: NamespaceID?, keeping kept: Set<[UInt8]>) throws(LarderError) {
  }
}
