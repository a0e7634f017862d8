/// Changes of the expiry index that a batch has not written to the database yet. One record of the index is a block with many
/// entries. Entries that are written or removed together usually share a block, so the batch collects their changes and writes
/// the record once. A sweep moves entries between two blocks, so the batch keeps two blocks. The records of the write buffer
/// are not in the order of blocks, so their commit keeps all blocks.
struct PendingDeadlines {
  struct Change {
    let block: ExpiryBlock
    fileprivate(set) var added: UInt32 = 0
    fileprivate(set) var removed: UInt32 = 0

    fileprivate mutating func set(_ bit: UInt32, to isIndexed: Bool) {
      if isIndexed {
        added |= bit
        removed &= ~bit
      } else {
        removed |= bit
        added &= ~bit
      }
    }

    func applied(to positions: UInt32) -> UInt32 { (positions | added) & ~removed }
  }

  private var newest: Change?
  private var older: Change?
  private var others: [ExpiryBlock: Change] = [:]
  var keepsAll = false
  private(set) var count = 0

  /// Sets one bit of a block. If the bit displaces another block, returns the change of that block, which must be written now.
  @inline(__always)
  mutating func set(_ position: UInt64, of block: ExpiryBlock, to isIndexed: Bool) -> Change? {
    count &+= 1
    let bit = ExpiryBlock.bit(of: position)
    if newest?.block == block {
      newest?.set(bit, to: isIndexed)
      return nil
    }
    if older?.block == block {
      older?.set(bit, to: isIndexed)
      return nil
    }
    let replaced = older
    older = newest
    var change = others.removeValue(forKey: block) ?? Change(block: block)
    change.set(bit, to: isIndexed)
    newest = change
    guard keepsAll, let replaced else { return replaced }
    others[replaced.block] = replaced
    return nil
  }

  /// Removes and returns all changes: first those of the two blocks that were used last, then the others in the index's order.
  mutating func takeAll() -> [Change] {
    if newest == nil { return [] }
    defer { (newest, older, others) = (nil, nil, [:]) }
    return [older, newest].compactMap(\.self) + others.values.sorted { $0.block < $1.block }
  }
}
