import Testing

@testable import TraceBench

/// Sequences whose outcomes were computed by hand.
struct SequenceTests {
  @Test func `LRU evicts what was not used for longest`() {
    // A is used, so C evicts B; then B evicts A.
    #expect(outcome(LRU.self, capacity: 2, "ABACABB") == "..H.H.H")
    #expect(outcome(LRU.self, capacity: 2, "ABACBA") == "..H...")
  }

  @Test func `FIFO evicts what was written first, used or not`() {
    // C evicts A although A was used.
    #expect(outcome(FIFO.self, capacity: 2, "ABACBA") == "..H.H.")
  }

  @Test func `CLOCK gives a used entry a second chance at the back of the queue`() {
    // C: A was used and goes behind B, B leaves. Queue A C. B: A leaves, its chance is gone. Queue C B.
    #expect(outcome(CLOCK.self, capacity: 2, "ABACBCA") == "..H..H.")
    // D: A was used, so B leaves; queue C A D. E: C leaves; queue A D E. F: A leaves, since no use followed.
    #expect(outcome(CLOCK.self, capacity: 3, "ABCADEFA") == "...H....")
  }

  @Test func `SIEVE leaves a used entry where it is and its hand beyond`() {
    // D: the hand passes A (used), evicts B, rests at C. E: evicts C, rests at D. F: evicts D. A is still there.
    #expect(outcome(SIEVE.self, capacity: 3, "ABCADEFA") == "...H...H")
    // As above up to F. Then A E F: E and F (new) and A (used again) are cached.
    #expect(outcome(SIEVE.self, capacity: 3, "ABCADEFAEFD") == "...H...HHH.")
  }

  @Test func `S3-FIFO evicts one-hit wonders first and takes ghosts into main`() {
    // Small holds 1 of 10. A fills small, B to J go to main while it fills. K: small evicts A to the ghosts.
    // A: a ghost, evicts K from small into the ghosts and enters main, which now has 10 entries.
    // L: main is over its 9, so B leaves without a ghost. B: main has 9, so small evicts L; small holds B.
    let letters = "ABCDEFGHIJ" + "K" + "A" + "L" + "C" + "B" + "A" + "L" + "C"
    #expect(outcome(S3FIFO.self, capacity: 10, letters) == ".........." + "..." + "H" + ".H" + ".H")
  }

  @Test func `S3-FIFO promotes an entry used twice in the small queue`() {
    // A, used twice, is promoted when K comes; small is then empty, so main evicts B. A stays.
    #expect(
      outcome(S3FIFO.self, capacity: 10, "ABCDEFGHIJ" + "AA" + "K" + "AB") == ".........." + "HH"
        + "."
        + "H.")
    // An entry used once leaves.
    #expect(
      outcome(S3FIFO.self, capacity: 10, "ABCDEFGHIJ" + "A" + "K" + "BA") == ".........." + "H"
        + "."
        + "H.")
  }

  @Test func `ARC keeps what was seen twice and learns from its ghosts`() {
    // A is in T2, so C evicts B from T1 to B1. D evicts C to B1. A is a hit.
    #expect(outcome(ARC.self, capacity: 2, "AABCDA") == ".H...H")
    // B, a ghost of B1, raises T1's target to 1; T1 = D is not above it, so A leaves T2. B enters T2 and D stays.
    #expect(outcome(ARC.self, capacity: 2, "AABCBCA") == ".H..." + "H.")
  }

  @Test func `OPT evicts what comes back last and declines what never does`() {
    // With room for two: C is needed after A and B and is declined, so A and B hit.
    #expect(outcome(OPT.self, capacity: 2, "ABCABC") == "...HH.")
    #expect(outcome(OPT.self, capacity: 1, "ABBA") == "..H.")
    #expect(outcome(OPT.self, capacity: 1, "ABCA") == "...H")
  }

  @Test func `adaptive lets an entry in over an unused one only if it was used`() {
    // The window aims at less than 1 of 5. A to E fill the cache; F pushes E out of the window. E is unused and leaves at once.
    #expect(
      outcome(Adaptive<ExactTable>.self, capacity: 5, "ABCDEF" + "ABCDF") == "......"
        + "HHHHH")
    // E was used: it stays, and A, unused and under the hand, leaves.
    #expect(
      outcome(Adaptive<ExactTable>.self, capacity: 5, "ABCDEEF" + "BCDEFA") == ".....H."
        + "HHHHH.")
  }
}
