import LMDB
import LarderSystem

extension SpaceBudget {
  /// Refuses guarantees that add up to more than the store may hold. O(namespaces).
  ///
  /// - Parameters:
  ///   - changed: a namespace whose guarantee is about to change; nil if none is.
  ///   - guaranteed: its new guarantee.
  func checkGuarantees(
    of changed: String?, _ guaranteed: Int, _ writer: inout EntryWriter
  ) throws(LarderError) {
    guard let most = mostGuaranteed(pageSize: writer.engine.pageSize) else { return }
    var sum = guaranteed
    for name in try writer.names() where name != changed {
      let own = try writer.namespace(name)?.rules.limits.guaranteed ?? 0
      sum = sum.addingReportingOverflow(own).overflow ? .max : sum + own
    }
    guard sum > most else { return }
    throw LarderError(
      .invalidArgument,
      "\(sum) bytes would be guaranteed to namespaces, but \(writer.engine.environment.path) may hold \(most) bytes",
      hint: "guarantee less, or raise the store's limits")
  }

  /// The bytes that entries may use by the limits of bytes and disk; nil without either.
  private func mostGuaranteed(pageSize: Int) -> Int? {
    let onDisk = limits.disk.map { disk in
      let pages = disk / pageSize
      return (pages - DiskRoom.reserve(of: pages, pageSize: pageSize)) * pageSize
    }
    return [limits.bytes, onDisk].compactMap { $0 }.min()
  }
}
