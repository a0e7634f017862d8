import LMDB
import LarderSystem
import Synchronization

/// How the read of a piece is counted.
package enum PieceRole: Sendable {
  /// Counts as a read and as an access. The entry must be fresh.
  case first
  /// Counts neither as a hit nor as an access. The entry may have expired after the first piece.
  case next
  /// Counts as an access, because the entry is a part of a larger value. The entry may have expired.
  case part
}

extension Store.Namespace {
  /// A copy of the bytes of the value under `key` that are in `range`; nil for an absent entry or a damaged value. Also nil if
  /// `isSame` says that the entry no longer has the value from which the reader got the first piece.
  ///
  /// Suits slow readers of a large value, because no snapshot is open between two pieces. O(log n) and O(bytes of the piece).
  /// The first piece of a version in a process also reads the whole value, to verify its checksum; see ``VerifiedValues``.
  package func piece(
    of key: some StoreKey, _ range: Range<Int>, as role: PieceRole, if isSame: (Store.Entry) -> Bool
  ) throws(LarderError) -> [UInt8]? {
    try engine.typed {
      try key.withKeyBytes { key -> [UInt8]? in
        let recordsAccess = !store.isReadOnly
        let transaction = try engine.reader.beginLookup(key, of: handle)
        let found = try engine.reader.lookUp(key, of: handle, in: transaction)
        guard found.outcome == .fresh || role != .first && found.outcome != .negative else {
          engine.reader.recordMiss(
            found, key: key, of: handle, in: transaction, recordsAccess: recordsAccess)
          return nil
        }
        guard let entry = try engine.reader.entry(found, key: key, of: handle, in: transaction),
          isSame(entry)
        else { return nil }
        let range = range.clamped(to: 0..<entry.size)
        let read: [UInt8]?
        if found.header.flags.contains(.transformed) {
          read = try engine.reader.transformedPiece(
            of: found, range, ofSize: entry.size, key: key, in: transaction)
        } else if found.header.flags.contains(.chunked) {
          read = try engine.reader.chunkedPiece(of: found, range, in: transaction)
        } else {
          read = found.payload.extracting(range).copied
        }
        guard let piece = read else {
          handle.count(.damaged, stripe: transaction.stripe)
          return nil
        }
        if role == .first { handle.count(.hits, stripe: transaction.stripe) }
        if role != .next, recordsAccess {
          engine.reader.recordAccess(found, key: key, at: engine.clock.coarseNow)
        }
        return piece
      }
    }
  }

  /// Passes the value under `key` to a caller that already knows the rest of the entry, and counts a read. O(log n). Returns
  /// nil, and counts nothing, if the value is not fresh, has another version, is in chunks, or has transforms.
  package func withValue<Result>(
    of key: some StoreKey, version: UInt64, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    try key.withKeyBytes { key -> Result? in
      let transaction = try engine.reader.beginLookup(key, of: handle)
      let found = try engine.reader.lookUp(key, of: handle, in: transaction)
      guard found.outcome == .fresh, found.header.version == version,
        found.header.flags.isDisjoint(with: [.chunked, .transformed])
      else { return nil }
      handle.count(.hits, stripe: transaction.stripe)
      if !store.isReadOnly {
        engine.reader.recordAccess(found, key: key, at: engine.clock.coarseNow)
      }
      return try body(found.payload)
    }
  }
}

extension EntryReader {
  /// The size in bytes of the largest value that is kept between two pieces.
  private static let largestPiecewise = 64 << 20

  /// A piece of a value with transforms; nil if the value is damaged. A value of up to 64 MiB is kept for its next piece.
  fileprivate func transformedPiece(
    of found: borrowing Lookup, _ range: Range<Int>, ofSize size: Int, key: Span<UInt8>,
    in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> [UInt8]? {
    let mark = VerifiedValues.mark(of: found.record, found.header, keyHash: found.keyHash)
    let known = piecewise.withLock { $0?.mark == mark ? $0?.value : nil }
    let whole =
      if let known { known } else {
        try wholeValue(
          found.payload, found.header, found.fields, key: key.copied, in: found.id, transaction)
      }
    guard let value = whole, range.upperBound <= value.count else { return nil }
    let isKept = range.upperBound < size && value.count <= Self.largestPiecewise
    if isKept != (known != nil) { piecewise.withLock { $0 = isKept ? (mark, value) : nil } }
    return Array(value[range])
  }

  /// A piece of a value in chunks; nil if a chunk is missing or damaged. The first piece of a version verifies the whole value.
  fileprivate func chunkedPiece(
    of found: borrowing Lookup, _ range: Range<Int>, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> [UInt8]? {
    guard let expected = ChunkedPayload(found.payload), range.upperBound <= expected.count else {
      return nil
    }
    let mark = VerifiedValues.mark(of: found.record, found.header, keyHash: found.keyHash)
    if !verified.contains(mark) {
      var checksum = Checksum.Stream(seed: ChunkedPayload.seed)
      let isWhole = try visitChunks(
        of: found, 0..<expected.count, ofSize: expected.count, in: transaction
      ) { checksum.append($0) }
      guard isWhole, checksum.result == expected.checksum else { return nil }
      verified.insert(mark)
    }
    var piece: [UInt8] = []
    piece.reserveCapacity(range.count)
    let isWhole = try visitChunks(of: found, range, ofSize: expected.count, in: transaction) {
      piece.append(contentsOf: $0)
    }
    return isWhole ? piece : nil
  }

  /// Passes the bytes `range` of a value to `visit`, chunk by chunk. Returns false if a chunk is missing or has a wrong length.
  private func visitChunks(
    of found: borrowing Lookup, _ range: Range<Int>, ofSize size: Int,
    in transaction: borrowing ReadTransaction, _ visit: (Span<UInt8>) -> Void
  ) throws(LarderError) -> Bool {
    if range.isEmpty { return true }
    do throws(LMDBError) {
      let chunks = IndexKey.chunks(of: found.header.version, in: found.id)
      var cursor = try transaction.cursor(in: indexes.chunks)
      // A compaction may have copied the chunks from a file with other pages. So the first chunk tells the size of a chunk.
      guard let head = try cursor.seek(chunks.span) else { return false }
      let chunkSize = max(head.value.count, 1)
      let (first, last) = (range.lowerBound / chunkSize, (range.upperBound - 1) / chunkSize)
      let firstKey = IndexKey.chunk(UInt32(first), of: found.header.version, in: found.id)
      var record = try cursor.seek(firstKey.span)
      for number in first...last {
        let start = number * chunkSize
        let bytes = start..<min(start + chunkSize, size)
        guard let chunk = record, chunk.key.count == firstKey.count,
          chunk.key.starts(with: chunks.span),
          chunk.key.bigEndian(at: chunks.count) == UInt32(number), chunk.value.count == bytes.count
        else { return false }
        let part = range.clamped(to: bytes)
        visit(chunk.value.extracting(part.lowerBound - start..<part.upperBound - start))
        if number < last { record = try cursor.next() }
      }
      return true
    } catch { throw environment.larderError(error) }
  }
}
