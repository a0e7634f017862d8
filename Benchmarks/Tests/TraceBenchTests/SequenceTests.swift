import Testing

@testable import TraceBench

/// Sequences of requests whose hits were found by hand.
struct SequenceTests {
  @Test func `LRU evicts what was not used for longest`() {
    // A was used, so C evicts B. Then B evicts A.
    #expect(outcome(LRU.self, capacity: 2, "ABACABB") == "..H.H.H")
    #expect(outcome(LRU.self, capacity: 2, "ABACBA") == "..H...")
  }

  @Test func `FIFO evicts what was written first, used or not`() {
    // C evicts A, although A was used.
    #expect(outcome(FIFO.self, capacity: 2, "ABACBA") == "..H.H.")
  }

  @Test func `CLOCK gives a used entry a second chance at the back of the queue`() {
    // C: A was used, so A moves to the back, and C evicts B; queue A C. B: A was not used again, so B evicts A; queue C B.
    #expect(outcome(CLOCK.self, capacity: 2, "ABACBCA") == "..H..H.")
    // D: A was used, so D evicts B; queue C A D. E evicts C; queue A D E. F evicts A, because A was not used again.
    #expect(outcome(CLOCK.self, capacity: 3, "ABCADEFA") == "...H....")
  }

  @Test func `SIEVE leaves a used entry where it is and its hand beyond`() {
    // D: the hand passes A, which was used, evicts B and stops at C. E evicts C, and F evicts D. So A is still cached.
    #expect(outcome(SIEVE.self, capacity: 3, "ABCADEFA") == "...H...H")
    // The requests up to F are as above. Then A, E and F are hits: E and F are new, and A is still cached.
    #expect(outcome(SIEVE.self, capacity: 3, "ABCADEFAEFD") == "...H...HHH.")
  }

  @Test func `S3-FIFO evicts one-hit wonders first and takes ghosts into main`() {
    // The small queue may hold 1 of 10 entries. A fills this queue, so B to J enter main. K: small evicts A, and A becomes a
    // ghost. A: because of its ghost, A enters main, which now has 10 entries; small evicts K. L: main may hold only 9 entries,
    // so main evicts B without a ghost. B: main has 9 entries, so small evicts L and then holds B.
    let letters = "ABCDEFGHIJ" + "K" + "A" + "L" + "C" + "B" + "A" + "L" + "C"
    #expect(outcome(S3FIFO.self, capacity: 10, letters) == ".........." + "..." + "H" + ".H" + ".H")
  }

  @Test func `S3-FIFO promotes an entry used twice in the small queue`() {
    // K comes: A was used twice, so A moves to main. The small queue is then empty, so main evicts B, and A stays.
    #expect(
      outcome(S3FIFO.self, capacity: 10, "ABCDEFGHIJ" + "AA" + "K" + "AB") == ".........." + "HH"
        + "."
        + "H.")
    // A was used only once, so K evicts A.
    #expect(
      outcome(S3FIFO.self, capacity: 10, "ABCDEFGHIJ" + "A" + "K" + "BA") == ".........." + "H"
        + "."
        + "H.")
  }

  @Test func `ARC keeps what was seen twice and learns from its ghosts`() {
    // A is in T2, so C evicts B from T1, and B becomes a ghost in B1. D evicts C in the same way. So A is a hit.
    #expect(outcome(ARC.self, capacity: 2, "AABCDA") == ".H...H")
    // B is a ghost of B1, so the target of T1 becomes 1. T1 holds only D and is not above its target, so B evicts A from T2.
    #expect(outcome(ARC.self, capacity: 2, "AABCBCA") == ".H..." + "H.")
  }

  @Test func `OPT evicts what comes back last and declines what never does`() {
    // With room for two entries, C is not stored, because the next requests are for A and B. So A and B are hits.
    #expect(outcome(OPT.self, capacity: 2, "ABCABC") == "...HH.")
    #expect(outcome(OPT.self, capacity: 1, "ABBA") == "..H.")
    #expect(outcome(OPT.self, capacity: 1, "ABCA") == "...H")
  }

  @Test func `adaptive lets an entry in over an unused one only if it was used`() {
    // The window holds only the newest entry, so F pushes E out of the window. E was not used, so E is evicted.
    #expect(
      outcome(Adaptive<ExactTable>.self, capacity: 5, "ABCDEF" + "ABCDF") == "......"
        + "HHHHH")
    // E was used, so E stays. A was not used and is at the hand, so A is evicted.
    #expect(
      outcome(Adaptive<ExactTable>.self, capacity: 5, "ABCDEEF" + "BCDEFA") == ".....H."
        + "HHHHH.")
  }
}
