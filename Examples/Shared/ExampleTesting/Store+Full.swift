public import Larder

extension Store {
  /// Lets no namespace give way to others, and lowers the store's limit to what it has: nothing more can be stored.
  public func fill() throws {
    try declare(Rules(eviction: .refuse), for: "others")
    for namespace in try namespaces() {
      try override(Rules.Overrides(eviction: .refuse), for: namespace.name)
    }
    try namespace("others").set([1], for: "one")
    try declare(StoreLimits(entries: Int(try statistics().entries)))
  }
}
