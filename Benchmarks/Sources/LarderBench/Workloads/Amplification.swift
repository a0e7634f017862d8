import Foundation

extension Bench {
  /// The bytes that are written to the disk when entries are overwritten, for one batch size.
  ///
  /// There are two figures, because each has an error. The bytes that the process passes to `write` are too few: for a few
  /// bytes of a log, the disk writes a whole page. The bytes that the kernel counts for the process are too many: a large page
  /// of its cache counts as a whole even if only a part was changed.
  func amplification(batch: Int) throws {
    let order = Orders.random(data, distinct: data.count)
    let commits = batch == 1 ? 50 : 10
    try measure(
      [
        ("bytes written for a byte overwritten, batches of \(grouped(batch))", .factor),
        ("bytes written a commit, batches of \(grouped(batch))", .bytes),
        ("bytes accounted a commit, batches of \(grouped(batch))", .bytes),
      ], rounds: 1
    ) { contender, _ in
      if batch > 1, !contender.kind.hasBatches {
        throw Unsupported("has no transactions: a batch is as many single writes")
      }
      contender.settle()
      guard let before = contender.written else { throw Unsupported("Linux alone tells") }
      for commit in 0..<commits {
        let piece = Orders.piece(of: order, round: commit, count: batch)
        _ = try contender.time { try $0.write(piece, lifetime: .day) }
      }
      contender.settle()
      guard let after = contender.written else { throw Unsupported("Linux alone tells") }
      let handed = Double(after.handed - before.handed) / Double(commits)
      return [
        handed / Double(batch * data.entrySize), handed,
        Double(after.accounted - before.accounted) / Double(commits),
      ]
    }
  }
}

extension Contender {
  /// The bytes that the process of the peer has written.
  var written: (handed: Int, accounted: Int)? {
    ProcessFigures.written(by: peer.server ?? getpid())
  }

  /// Waits, at most about 10 s, until the peer has stopped writing. Otherwise its writes would disturb the next measurement.
  func settle() {
    guard kind.worksInBackground, var last = written else { return }
    for _ in 0..<200 {
      usleep(50_000)
      guard let now = written, now != last else { return }
      last = now
    }
  }
}
