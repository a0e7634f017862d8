import Testing

@Suite struct LarderTests {}
