import Larder

extension Store {
  /// Writes items in as few transactions as the store has room for: a transaction copies each page that it changes, and a file with
  /// a small limit cannot hold many copies.
  ///
  /// - Parameters:
  ///   - largest: how many to try at once; less afterwards if that was too many.
  ///   - alone: writes one without a transaction of the caller, for which the store evicts as often as necessary.
  ///   - body: writes one; done again for those of a transaction that came to nothing.
  /// - Returns: the results of `body` and `alone`.
  func write<Item, Outcome>(
    _ items: [Item], largest: inout Int, alone: (Item) throws -> Outcome,
    _ body: (inout WriteBatch, Item) throws -> Outcome
  ) throws -> [Outcome] {
    var outcomes: [Outcome] = []
    while outcomes.count < items.count {
      let piece = items[outcomes.count...].prefix(largest)
      do {
        outcomes += try write { batch in try piece.map { try body(&batch, $0) } }
      } catch let error as LarderError where error.code == .full {
        if piece.count > 1 {
          largest = piece.count / 2
        } else {
          outcomes += try piece.map(alone)
          largest = Self.afterRoom
        }
      }
    }
    return outcomes
  }

  /// The number of items to try at once after the store has made room.
  private static var afterRoom: Int { 32 }
}
